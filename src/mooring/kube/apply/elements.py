"""The steps of a path to a field, in the spelling of managedFields.

A step is a string: `f:replicas` a field or key of a map, `k:{"name":"web"}` an item of a list by its keys, `v:"a"` an
item of a set, `i:0` an item by position. Equal steps are spelt alike, so that sets of paths are plain dicts.
"""

import json
from functools import lru_cache
from typing import Any

from mooring.kube.errors import go_json, go_quote
from mooring.kube.schemas.model import ABSENT, Schema

__all__ = ["ElementError", "canonical_element", "element_order", "element_text", "item_element"]


class ElementError(ValueError):
    """A list item that cannot be told from the others, in the API's words."""


def item_element(schema: Schema, item: Any) -> str:
    """The step to an item of a list that is a set or a map."""
    if schema.list_type == "map":
        return _keyed(schema, item)
    if item is None:
        raise ElementError("associative list without keys has an element that's an explicit null")
    if item.__class__ is dict:
        raise ElementError("associative list without keys has an element that's a map type")
    if item.__class__ is list:
        raise ElementError("not supported: associative list with lists as elements")
    return _value_element(item)


def _keyed(schema: Schema, item: Any) -> str:
    if item is None:
        raise ElementError("associative list with keys may not have a null element")
    if item.__class__ is not dict:
        raise ElementError("associative list with keys may not have non-map elements")
    names = schema.list_map_keys
    if len(names) == 1:
        value = item.get(names[0], schema.key_defaults[0])
        if value is not ABSENT:
            return _key_element(names[0], value)
    pairs: list[Any] = []
    for name, default in sorted(zip(names, schema.key_defaults, strict=True), key=_first):
        value = item.get(name, default)
        if value is not ABSENT:
            pairs += (name, value)
    if not pairs:
        shown = f"[{' '.join(map(go_quote, names))}]"
        raise ElementError(
            f"associative list with keys has an element that omits all key fields {shown} "
            "(and doesn't have default values for any key fields)"
        )
    return _key_element(*pairs)


def _first(pair: tuple[str, Any]) -> str:
    return pair[0]


def _key_element(*pairs: Any) -> str:
    try:
        return _spelt_key(*pairs)
    except TypeError:
        # A key that is itself a list or an object cannot be remembered; it is odd enough to be spelt each time.
        return _spelt_key.__wrapped__(*pairs)


@lru_cache(maxsize=65_536, typed=True)
def _spelt_key(*pairs: Any) -> str:
    names = iter(pairs)
    return f"k:{go_json({name: _number(value) for name, value in zip(names, names, strict=True)})}"


@lru_cache(maxsize=16_384, typed=True)
def _value_element(value: Any) -> str:
    return f"v:{go_json(_number(value))}"


def _number(value: Any) -> Any:
    return int(value) if value.__class__ is float and value.is_integer() else value


@lru_cache(maxsize=65_536)
def canonical_element(text: str) -> str | None:
    """The step as this module spells it; None for an unknown kind of step; ValueError if malformed."""
    kind, colon, body = text[:1], text[1:2], text[2:]
    if len(text) < 2:
        raise ValueError("key must be 2 characters long:")
    if colon != ":":
        raise ValueError(f"missing colon: {text}")
    match kind:
        case "f":
            return text
        case "v":
            return _value_element.__wrapped__(json.loads(body))
        case "k":
            pairs: dict[str, Any] = json.loads(body)
            if not isinstance(pairs, dict):
                raise ValueError(f"the keys of a list item are an object: {text}")
            return f"k:{go_json({name: _number(pairs[name]) for name in sorted(pairs)})}"
        case "i":
            return f"i:{int(body)}"
    return None


@lru_cache(maxsize=65_536)
def element_text(element: str) -> str:
    """The step as it stands in messages: `.replicas`, `[name="web"]`, `[="a"]`, `[0]`."""
    kind, body = element[0], element[2:]
    match kind:
        case "f":
            return f".{body}"
        case "v":
            return f"[={_shown(json.loads(body))}]"
        case "k":
            return f"[{','.join(f'{name}={_shown(value)}' for name, value in json.loads(body).items())}]"
    return f"[{body}]"


def _shown(value: Any) -> str:
    return go_quote(value) if isinstance(value, str) else go_json(value)


@lru_cache(maxsize=65_536)
def element_order(element: str) -> tuple[Any, ...]:
    """The sort key of a step: fields before keyed items, those before values, positions last."""
    kind, body = element[0], element[2:]
    match kind:
        case "f":
            return (0, body)
        case "k":
            return (1, tuple((name, *_value_order(value)) for name, value in json.loads(body).items()))
        case "v":
            return (2, _value_order(json.loads(body)))
    return (3, int(body))


def _value_order(value: Any) -> tuple[int, Any]:
    """Values of different types are in the API's order of types, not comparable otherwise."""
    match value:
        case bool():
            return (3, value)
        case int() | float():
            return (1, value)
        case str():
            return (2, value)
        case None:
            return (6, 0)
    return (5, go_json(value))
