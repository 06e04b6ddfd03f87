"""How a value looks to server-side apply: which parts have owners of their own, and which fields it sets.

Objects and lists are either atomic, owned as a whole, or split into fields and items. What no schema describes is
split field by field, except lists, which are then atomic.
"""

from typing import Any, Final

from mooring.kube.apply.elements import ElementError, element_text, item_element
from mooring.kube.apply.fieldsets import LEAF, FieldSet
from mooring.kube.errors import go_quote
from mooring.kube.schemas.model import ANYTHING, Schema

__all__ = ["check_types", "equal", "field_schema", "field_set", "splits"]

_SCALARS: Final = (str, int, float, bool)


def field_schema(schema: Schema, name: str) -> Schema:
    """The schema of a field; whatever is not declared is anything."""
    return schema.properties.get(name) or schema.additional_properties or ANYTHING


def equal(left: Any, right: Any) -> bool:
    """Whether two values are equal to the API: numbers by amount, true never 1."""
    if left is right:
        return True
    if left.__class__ is not right.__class__:
        return {left.__class__, right.__class__} == {int, float} and bool(left == right)
    if left.__class__ is dict:
        return left.keys() == right.keys() and all(equal(value, right[key]) for key, value in left.items())
    if left.__class__ is list:
        return len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right)


def splits(schema: Schema, value: Any) -> bool:
    """Whether parts of this object or list have owners of their own."""
    if value.__class__ is dict:
        return not schema.atomic
    return value.__class__ is list and schema.list_type != "atomic" and schema.items is not None


def field_set(schema: Schema, value: dict[str, Any]) -> FieldSet:
    """Every field that the object sets."""
    made: FieldSet = {}
    properties = schema.properties
    for key, item in value.items():
        child = properties.get(key)
        declared = child is not None
        node = _value_set(child or schema.additional_properties or ANYTHING, item)
        if node is None:
            if declared:
                # An empty list that is a set or a map sets nothing.
                continue
            node = LEAF
        elif node and not declared:
            node = {".": LEAF, **node}
        made[f"f:{key}"] = node
    return made


def _value_set(schema: Schema, value: Any) -> FieldSet | None:
    if value.__class__ is dict:
        return LEAF if schema.atomic or not value else field_set(schema, value) or None
    if value.__class__ is list and splits(schema, value):
        return _list_set(schema, value) or None
    return LEAF


def _list_set(schema: Schema, value: list[Any]) -> FieldSet:
    made: FieldSet = {}
    repeated: set[str] = set()
    items = schema.items or ANYTHING
    for item in value:
        try:
            element = item_element(schema, item)
        except ElementError:
            # Removing fields may leave an item without its keys; such an item has no owner.
            continue
        if element in made:
            repeated.add(element)
            continue
        node = _value_set(items, item)
        made[element] = {".": LEAF, **node} if node else LEAF
    for element in repeated:
        made[element] = LEAF
    return made


# The way to a value: the way to its parent and the last step, written out only for an error.
Path = tuple[Any, str] | tuple[()]


def check_types(schema: Schema, value: Any) -> list[str]:
    """What keeps the value from being split as its schema says, in the API's words."""
    errors: list[str] = []
    _check(schema, value, (), errors)
    return errors


def _text(path: Path) -> str:
    return f"{_text(path[0])}{path[1]}" if path else ""


def _check(schema: Schema, value: Any, path: Path, errors: list[str]) -> None:
    kind = value.__class__
    if value is None or kind is schema.plain:
        return
    if kind is dict:
        if schema.type not in ("object", ""):
            errors.append(f"{_text(path)}: {_mismatch(schema, value)}")
        elif schema.type or schema.properties:
            _check_object(schema, value, path, errors)
    elif kind is list:
        if schema.type not in ("array", ""):
            errors.append(f"{_text(path)}: {_mismatch(schema, value)}")
        elif schema.items is not None:
            _check_list(schema, schema.items, value, path, errors)
    elif not _scalar_fits(schema, kind):
        errors.append(f"{_text(path)}: {_mismatch(schema, value)}")


def _check_object(schema: Schema, value: dict[str, Any], path: Path, errors: list[str]) -> None:
    properties = schema.properties
    others = schema.additional_properties
    for key, item in value.items():
        child = properties.get(key, others)
        if child is None:
            if properties and not schema.preserve_unknown_fields:
                errors.append(f"{_text(path)}.{key}: field not declared in schema")
                return
        elif item.__class__ is not child.plain:
            _check(child, item, (path, f".{key}"), errors)


def _check_list(schema: Schema, items: Schema, value: list[Any], path: Path, errors: list[str]) -> None:
    if schema.list_type == "atomic":
        if items.plain is None or any(item.__class__ is not items.plain for item in value):
            for index, item in enumerate(value):
                _check(items, item, (path, f"[{index}]"), errors)
        return
    seen: set[str] = set()
    for index, item in enumerate(value):
        try:
            element = item_element(schema, item)
        except ElementError as error:
            errors.append(f"{_text(path)}: element {index}: {error}")
            return
        if element in seen:
            errors.append(f"{_text(path)}: duplicate entries for key {element_text(element)}")
        seen.add(element)
        if item.__class__ is not items.plain:
            _check(items, item, (path, element_text(element)), errors)


def _scalar_fits(schema: Schema, kind: type) -> bool:
    match schema.type:
        case "string":
            return kind is str or bool(schema.format and schema.format != "byte")
        case "integer" | "number":
            return kind is int or kind is float
        case "boolean":
            return kind is bool
        case "":
            return kind in _SCALARS
    return False


def _mismatch(schema: Schema, value: Any) -> str:
    match schema.type:
        case "string":
            return f"expected string, got &value.valueUnstructured{{Value:{_literal(value)}}}"
        case "integer" | "number":
            return f"expected numeric (int or float), got {_go_type(value)}"
        case "array":
            return f"expected list, got &{{{_plain(value)}}}"
        case "object":
            return f"expected map, got &{{{_plain(value)}}}"
    return f"expected {schema.type}, got &{{{_plain(value)}}}"


def _go_type(value: Any) -> str:
    names = {bool: "bool", dict: "map[string]interface {}", list: "[]interface {}", str: "string"}
    return names.get(value.__class__, "int64")


def _plain(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case dict():
            return f"map[{' '.join(f'{key}:{_plain(value[key])}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join(map(_plain, value))}]"
        case None:
            return "<nil>"
    return str(value)


def _literal(value: Any) -> str:
    match value:
        case bool() | int() | float():
            return _plain(value)
        case str():
            return go_quote(value)
        case dict():
            pairs = ", ".join(f"{go_quote(key)}:{_literal(value[key])}" for key in sorted(value))
            return f"map[string]interface {{}}{{{pairs}}}"
        case list():
            return f"[]interface {{}}{{{', '.join(map(_literal, value))}}}"
    return "interface {}(nil)"
