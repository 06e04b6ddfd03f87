"""The messages of field validation about duplicate fields: `duplicate field "spec.foo"`.

A custom object is decoded as it is, so all of its duplicates are reported. A built-in object is decoded into its type;
duplicates in fields that the type does not know, or keeps raw (`data` of a ControllerRevision, `fieldsV1`), are not.
"""

from collections.abc import Iterable

from mooring.kube.errors import go_quote
from mooring.kube.schemas.model import Schema

__all__ = ["FieldPath", "duplicate_field_errors"]

FieldPath = tuple[str | int, ...]


def duplicate_field_errors(schema: Schema, paths: Iterable[FieldPath]) -> list[str]:
    """The messages for the fields at these paths, in order."""
    told = (path for path in paths if not schema.builtin or _is_read(schema, path))
    return [f"duplicate field {go_quote(_dotted(path))}" for path in told]


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
