"""The type that a schema gives to values in expressions; parts of it that have no type are not seen there."""

from __future__ import annotations

from typing import Final

from mooring.kube.cel.rules.escaping import escape
from mooring.kube.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    CelType,
    list_of,
    map_of,
    object_type,
)
from mooring.kube.schemas.model import Schema

__all__ = ["METADATA_FIELDS", "schema_type"]

# Of metadata, expressions see the name and nothing else.
METADATA_FIELDS: Final = ("name", "generateName")
_METADATA: Final = dict.fromkeys(METADATA_FIELDS, STRING)
_FORMATS: Final = {"byte": BYTES, "duration": DURATION, "date": TIMESTAMP, "date-time": TIMESTAMP}
_SCALARS: Final = {"boolean": BOOL, "number": DOUBLE, "integer": INT}


def schema_type(schema: Schema, name: str, *, resource: bool) -> CelType | None:
    """The type, or None where an expression must not see the value. `resource` is true for whole objects of the API."""
    if schema.int_or_string:
        return DYN
    if schema.type == "array":
        element = None if schema.items is None else _inner(schema.items, f"{name}.@idx")
        return None if element is None else list_of(element)
    if schema.type == "object":
        if schema.additional_properties is not None and not resource:
            value = _inner(schema.additional_properties, f"{name}.@elem")
            return None if value is None else map_of(STRING, value)
        return object_type(name, _fields(schema, name, resource=resource))
    if schema.type == "string" or schema.format == "quantity":
        return _FORMATS.get(schema.format, STRING)
    return _SCALARS.get(schema.type)


def _inner(schema: Schema, name: str) -> CelType | None:
    return schema_type(schema, name, resource=schema.embedded_resource)


def _fields(schema: Schema, name: str, *, resource: bool) -> dict[str, CelType]:
    fields: dict[str, CelType] = {}
    for key, child in schema.properties.items():
        if resource and key in ("apiVersion", "kind", "metadata"):
            continue
        written = escape(key)
        kind = None if written is None else _inner(child, f"{name}.{written}")
        if written is not None and kind is not None:
            fields[written] = kind
    if resource:
        fields |= {"apiVersion": STRING, "kind": STRING, "metadata": object_type(f"{name}.metadata", _METADATA)}
    return fields
