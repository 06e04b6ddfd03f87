"""Takes fields out of an object."""

from typing import Any

from mooring.kube.apply.elements import ElementError, item_element
from mooring.kube.apply.fieldsets import FieldSet, is_member
from mooring.kube.apply.typed import field_schema
from mooring.kube.schemas.model import Schema

__all__ = ["remove_fields"]


def remove_fields(schema: Schema, value: Any, unwanted: FieldSet) -> Any:
    """The value without the fields. A container that loses everything becomes null, as it does in the API."""
    if not unwanted:
        return value
    if value.__class__ is dict:
        return _from_object(schema, value, unwanted)
    if value.__class__ is list:
        return _from_list(schema, value, unwanted)
    return value


def _from_object(schema: Schema, value: dict[str, Any], unwanted: FieldSet) -> Any:
    if schema.atomic:
        return None
    made = value
    for element, node in unwanted.items():
        key = element[2:]
        if element[0] != "f" or key not in value:
            continue
        if is_member(node):
            rest: Any = _from_object
        else:
            rest = remove_fields(field_schema(schema, key), value[key], node)
            if rest is value[key]:
                continue
        if made is value:
            made = value.copy()
        if rest is _from_object:
            del made[key]
        else:
            made[key] = rest
    return made or None


def _from_list(schema: Schema, value: list[Any], unwanted: FieldSet) -> Any:
    if schema.list_type == "atomic" or schema.items is None:
        return None
    items = schema.items
    made = []
    changed = False
    for item in value:
        try:
            node = unwanted.get(item_element(schema, item))
        except ElementError:
            node = None
        if node is None:
            made.append(item)
        elif is_member(node):
            changed = True
        else:
            rest = remove_fields(items, item, node)
            changed = changed or rest is not item
            made.append(rest)
    if not changed:
        return value
    return made or None
