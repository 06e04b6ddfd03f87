"""Drops what a schema does not know, or says what that would be.

The API stores known fields only. An unknown field is dropped silently, or, under strict field validation, refused by
name. Built-in types lose nulls here too: to them null is another way of not setting a field.
"""

from typing import Any, Final

from mooring.kube.errors import go_quote
from mooring.kube.schemas.model import Schema

__all__ = ["FieldPath", "dotted", "prune", "unknown_fields", "unknown_paths"]

FieldPath = tuple[str | int, ...]

# Stands where a schema says nothing about what is inside: fields there are unknown.
_NOTHING: Final = Schema()


def prune(schema: Schema, value: Any) -> Any:
    """The value without unknown fields; the very same object when there are none."""
    if value.__class__ is dict:
        return _prune_object(schema, value)
    if value.__class__ is list:
        items = schema.items
        if items is None:
            return value if schema.preserve_unknown_fields else _prune_list(_NOTHING, value)
        return _prune_list(items, value)
    return value


def _prune_list(items: Schema, value: list[Any]) -> list[Any]:
    changed: list[Any] | None = None
    for index, item in enumerate(value):
        if item.__class__ is items.plain:
            continue
        kept = prune(items, item)
        if kept is not item:
            if changed is None:
                changed = value.copy()
            changed[index] = kept
    return value if changed is None else changed


def _prune_object(schema: Schema, value: dict[str, Any]) -> dict[str, Any]:
    properties = schema.properties
    others = schema.additional_properties
    if others is not None and not properties and all(item.__class__ is others.plain for item in value.values()):
        return value
    changed: dict[str, Any] | None = None
    for key, item in value.items():
        child = properties.get(key, others)
        if child is None:
            if schema.preserve_unknown_fields:
                continue
            kept = None
        elif item.__class__ is dict:
            kept = _prune_object(child, item)
        elif item.__class__ is list:
            kept = prune(child, item)
        elif item is None and schema.builtin:
            kept = None
        else:
            continue
        if kept is item and kept is not None:
            continue
        if changed is None:
            changed = value.copy()
        if kept is None:
            del changed[key]
        else:
            changed[key] = kept
    return value if changed is None else changed


def unknown_paths(schema: Schema, value: Any) -> list[FieldPath]:
    """Where the value has fields that the schema does not know, in the order of the document."""
    found: list[FieldPath] = []
    _find(schema, value, (), found)
    return found


def unknown_fields(schema: Schema, value: Any) -> list[str]:
    """What strict field validation says about the value: `unknown field "spec.foo"`.

    Of built-in kinds it is said in the order of the document, of custom ones sorted.
    """
    found = list(map(dotted, unknown_paths(schema, value)))
    return [f"unknown field {go_quote(path)}" for path in (found if schema.builtin else sorted(found))]


def dotted(path: FieldPath) -> str:
    """A path as messages have it: `spec.containers[0].name`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _find(schema: Schema, value: Any, path: FieldPath, found: list[FieldPath]) -> None:
    if value.__class__ is dict:
        for key, item in value.items():
            child = schema.properties.get(key, schema.additional_properties)
            if child is None:
                if not schema.preserve_unknown_fields:
                    found.append((*path, key))
            elif item.__class__ is dict or item.__class__ is list:
                _find(child, item, (*path, key), found)
    elif value.__class__ is list:
        items = schema.items
        if items is None:
            if schema.preserve_unknown_fields:
                return
            items = _NOTHING
        for index, item in enumerate(value):
            _find(items, item, (*path, index), found)
