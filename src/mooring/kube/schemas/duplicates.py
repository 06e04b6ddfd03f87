"""The messages of field validation about duplicate fields: `duplicate field "spec.foo"`.

A custom object is decoded as it is, so all of its duplicates are reported. A built-in object is decoded into its type;
duplicates in fields that the type does not know, or keeps raw (`data` of a ControllerRevision, `fieldsV1`), are not.
YAML becomes JSON first, and that is when its duplicates are noticed: in any field, by their line.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from mooring.kube.errors import go_quote
from mooring.kube.schemas.model import Schema

__all__ = ["DuplicateField", "FieldPath", "duplicate_field_errors", "in_body_order", "yaml_duplicates", "yaml_error"]

FieldPath = tuple[str | int, ...]
# Where a field of JSON stands, or what the parser of YAML says of one.
DuplicateField = FieldPath | str


def duplicate_field_errors(schema: Schema, found: Iterable[DuplicateField]) -> list[str]:
    """The messages for the fields at these paths, in order."""
    paths = (each for each in found if not isinstance(each, str))
    told = (path for path in paths if not schema.builtin or _is_read(schema, path))
    return [f"duplicate field {go_quote(_dotted(path))}" for path in told]


def in_body_order(body: Any, errors: Iterable[str]) -> list[str]:
    """Errors about fields, unknown and duplicate ones, in the order in which a decoder comes across the fields."""
    rank = {go_quote(_dotted(path)): place for place, path in enumerate(_paths(body))}
    last = len(rank)
    return sorted(errors, key=lambda error: rank.get(error.partition(" field ")[2], last))


def _paths(body: Any) -> Iterator[FieldPath]:
    """Every field and item, each before what is in it. A body may nest deeper than calls can."""
    ahead: list[tuple[FieldPath, Any]] = [((), body)]
    while ahead:
        path, value = ahead.pop()
        yield path
        if isinstance(value, dict):
            ahead += [((*path, key), inner) for key, inner in reversed(value.items())]
        elif isinstance(value, list):
            ahead += [((*path, index), inner) for index, inner in reversed(list(enumerate(value)))]


def yaml_duplicates(found: Iterable[DuplicateField]) -> list[str]:
    """What the parser of YAML said."""
    return [each for each in found if isinstance(each, str)]


def yaml_error(found: Iterable[str]) -> str:
    """One error of all of that, as strict decoding has it."""
    return "yaml: unmarshal errors:\n  " + "\n  ".join(found)


def _is_read(schema: Schema | None, path: FieldPath) -> bool:
    for step in path:
        if schema is None:
            return False
        if isinstance(step, int):
            schema = schema.items
        else:
            schema = schema.properties.get(step, schema.additional_properties)
    return schema is not None


def _dotted(path: FieldPath) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
