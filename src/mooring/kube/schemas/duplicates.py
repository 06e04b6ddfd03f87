"""What strict field validation says about fields that came twice: `duplicate field "spec.foo"`.

A custom object is read as it is written, so each of them is told. A built-in one is read into its type, and what the
type does not know, or keeps as it came (`data` of a ControllerRevision, `fieldsV1`), is not looked into.
"""

from collections.abc import Iterable

from mooring.kube.errors import go_quote
from mooring.kube.schemas.model import Schema

__all__ = ["FieldPath", "duplicate_fields"]

FieldPath = tuple[str | int, ...]


def duplicate_fields(schema: Schema, paths: Iterable[FieldPath]) -> list[str]:
    """The sentences for the fields at these paths, in their order."""
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
