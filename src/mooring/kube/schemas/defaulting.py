"""Fills in the defaults that a schema declares.

Nulls come first: a null that its field does not allow is as good as absent, so it is replaced by the default or
dropped. Defaults are shared between objects, as every unchanged part is: what comes out must not be changed in place.
"""

from typing import Any

from mooring.kube.schemas.model import ABSENT, Schema

__all__ = ["apply_defaults"]


def apply_defaults(schema: Schema, value: Any) -> Any:
    """The value with defaults filled in at every depth; the very same object when nothing was missing."""
    if not schema.fills:
        return value
    if value.__class__ is dict:
        return _fill_object(schema, value)
    if value.__class__ is list and schema.items is not None:
        return _fill_list(schema.items, value)
    return value


def _fill_object(schema: Schema, value: dict[str, Any]) -> dict[str, Any]:
    properties = schema.properties
    others = schema.additional_properties
    changed: dict[str, Any] | None = None
    for key, item in value.items():
        child = properties.get(key, others)
        if child is None or not child.fills or item.__class__ is child.plain:
            continue
        filled = _fill(child, item)
        if filled is not item:
            if changed is None:
                changed = value.copy()
            if filled is ABSENT:
                del changed[key]
            else:
                changed[key] = filled
    for key in schema.defaulted:
        if key not in value:
            if changed is None:
                changed = value.copy()
            changed[key] = apply_defaults(properties[key], properties[key].default)
    return value if changed is None else changed


def _fill_list(items: Schema, value: list[Any]) -> list[Any]:
    changed: list[Any] | None = None
    for index, item in enumerate(value):
        filled = _fill(items, item)
        # A null item with no default stays, for validation to find: taking it out would move the others.
        if filled is not item and filled is not ABSENT:
            if changed is None:
                changed = value.copy()
            changed[index] = filled
    return value if changed is None else changed


def _fill(schema: Schema, value: Any) -> Any:
    if value is None and not schema.nullable:
        return schema.default if schema.default is ABSENT else apply_defaults(schema, schema.default)
    return apply_defaults(schema, value)
