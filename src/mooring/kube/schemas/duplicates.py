"""The messages of field validation about duplicate fields: `duplicate field "spec.foo"`.

A custom object is decoded as it is, so all of its duplicates are reported. A built-in object is decoded into its type;
duplicates in fields that the type does not know, or keeps raw (`data` of a ControllerRevision, `fieldsV1`), are not.
YAML becomes JSON first, and that is when its duplicates are noticed: in any field, by their line.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from mooring.kube.errors import go_quote
from mooring.kube.schemas.model import Schema
from mooring.kube.schemas.pruning import FieldPath, dotted, unknown_fields, unknown_paths

__all__ = ["DuplicateField", "DuplicatePath", "field_errors", "yaml_duplicates", "yaml_error"]


class DuplicatePath(NamedTuple):
    """A field of JSON that came again, after so many different fields of its object."""

    path: FieldPath
    after: int


# Or what the parser of YAML says of one.
DuplicateField = DuplicatePath | str


def field_errors(schema: Schema, value: Any, found: Iterable[DuplicateField]) -> list[str]:
    """What strict field validation says of a value with these duplicate fields: of built-in kinds in the order of the
    document, of custom ones duplicates before what is unknown."""
    paths = (each for each in found if not isinstance(each, str))
    told = [each for each in paths if not schema.builtin or _is_read(schema, each.path)]
    texts = [f"duplicate field {go_quote(dotted(each.path))}" for each in told]
    if not (texts and schema.builtin):
        return texts + unknown_fields(schema, value)
    unknown = unknown_paths(schema, value)
    # An object's fields are in the order in which each first came.
    places = [(*_places(value, each.path[:-1]), each.after - 0.5) for each in told]
    places += [_places(value, path) for path in unknown]
    texts += [f"unknown field {go_quote(dotted(path))}" for path in unknown]
    return [text for _, text in sorted(zip(places, texts, strict=True), key=lambda each: each[0])]


def _places(value: Any, path: FieldPath) -> tuple[float, ...]:
    """How many fields or items come before each step of a path."""
    places = []
    for step in path:
        if isinstance(step, int):
            places.append(float(step))
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            fields = value if isinstance(value, dict) else {}
            places.append(float(list(fields).index(step)) if step in fields else 0.0)
            value = fields.get(step)
    return tuple(places)


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
