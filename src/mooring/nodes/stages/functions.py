"""The functions that templates of Stages may use: Go's own, the most used ones of sprig, and some of kwok.

They are as strict as there: who compares a number with a text, or asks a text of nothing, gets an error. What depends
on the object or the moment (`Now`, `PodIPWith`) is handed in where a template is rendered.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from mooring.manifests.emit import to_yaml
from mooring.nodes.stages.go_values import (
    Int64,
    ObjectNumber,
    go_integer,
    go_json,
    go_quoted,
    go_text,
    go_type,
    plain,
    truth,
)
from mooring.nodes.stages.lexer import TemplateError
from mooring.nodes.stages.printf import printf

Thunk = Callable[[], Any]

_DECIMAL: Final = re.compile(r"[-+]?[0-9]+")

NODE_CONDITIONS: Final = tuple(
    {"type": kind, "status": status, "reason": reason, "message": message}
    for kind, status, reason, message in (
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"),
    )
)


def _or(first: Thunk, *values: Thunk) -> Any:
    found = first()
    for value in values:
        if truth(found):
            break
        found = value()
    return found


def _and(first: Thunk, *values: Thunk) -> Any:
    found = first()
    for value in values:
        if not truth(found):
            break
        found = value()
    return found


# What is not needed is not looked at: an index that is out of range is no error after `and` has settled.
LAZY: Final[Mapping[str, Callable[..., Any]]] = {"or": _or, "and": _and}


# What functions take


def _string(value: Any) -> str:
    if not isinstance(value, str) or isinstance(value, ObjectNumber):
        raise TemplateError(f"{_told(value)} is not a string")
    return value


def _map(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TemplateError(f"{_told(value)} is not a map")
    return value


def _told(value: Any) -> str:
    return "nil" if value is None else f"{go_text(value)} of type {go_type(value)}"


def _int(value: Any) -> Int64:
    """As sprig makes an integer of anything; what is none is 0."""
    match value:
        case bool() | int():
            return Int64(value)
        case float():
            return Int64(math.trunc(value))
        case str():
            return Int64(go_integer(re.sub(r"\.0*$", "", value)) or 0)
    return Int64(0)


# Comparison


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case str():
            return "string"
    return ""


def _equal(one: Any, first: Any, *others: Any) -> bool:
    return any(_same(one, other) for other in (first, *others))


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    if _kind(one) != _kind(other):
        raise TemplateError(f"{_told(one)} and {_told(other)} cannot be compared")
    if not _kind(one):
        raise TemplateError(f"a {go_type(one)} cannot be compared")
    return bool(one == other)


def _less(one: Any, other: Any) -> bool:
    if _kind(one) != _kind(other) or _kind(one) in ("", "bool"):
        raise TemplateError(f"{_told(one)} and {_told(other)} are in no order")
    return bool(one < other)


# Items


def _index(value: Any, *keys: Any) -> Any:
    for key in keys:
        if isinstance(value, dict):
            value = value.get(_string(key))
        elif isinstance(value, list | str) and not isinstance(value, ObjectNumber):
            items = value.encode() if isinstance(value, str) else value
            if not isinstance(key, int) or not 0 <= key < len(items):
                raise TemplateError(f"index {go_text(key)} is out of range of {len(items)} items")
            value = items[key]
        else:
            raise TemplateError(f"{go_text(value)} has no items to take number {go_text(key)} of")
    return value


def _length(value: Any) -> int:
    return len(value.encode() if isinstance(value, str) else value)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TemplateError(f"{_told(value)} is not a list")
    return value


def _join(separator: Any, values: Any) -> str:
    found = values if isinstance(values, list) else [] if values is None else [values]
    return _string(separator).join(go_text(value) for value in found if value is not None)


def _dict(*pairs: Any) -> dict[str, Any]:
    return {go_text(pairs[n]): pairs[n + 1] if n + 1 < len(pairs) else "" for n in range(0, len(pairs), 2)}


# Texts


def _print(*values: Any) -> str:
    """With a space between two that are no texts."""
    made = ""
    for number, value in enumerate(values):
        if number and not isinstance(value, str) and not isinstance(values[number - 1], str):
            made += " "
        made += go_text(value)
    return made


def _quote(value: Any) -> str:
    text = go_json(value)
    return text if text.startswith('"') else go_quoted(text)


def _yaml(value: Any, indent: int = 0) -> str:
    text = to_yaml(plain(value))
    pad = " " * (indent * 2)
    return ("\n" + text).replace("\n", "\n" + pad) if indent > 0 else text


def _ternary(yes: Any, no: Any, test: Any) -> Any:
    if not isinstance(test, bool):
        raise TemplateError(f"{_told(test)} is neither true nor false")
    return yes if test else no


# Arithmetic


def _quotient(one: Any, other: Any) -> Int64:
    """Rounded towards zero, as Go does."""
    quotient = abs(_int(one)) // abs(_int(other))
    return Int64(quotient if (_int(one) < 0) == (_int(other) < 0) else -quotient)


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    # Go's own.
    "not": lambda value: not truth(value),
    "eq": _equal,
    "ne": lambda one, other: not _same(one, other),
    "lt": _less,
    "le": lambda one, other: _less(one, other) or _same(one, other),
    "gt": lambda one, other: not (_less(one, other) or _same(one, other)),
    "ge": lambda one, other: not _less(one, other),
    "index": _index,
    "len": _length,
    "print": _print,
    "println": lambda *values: " ".join(map(go_text, values)) + "\n",
    "printf": lambda form, *values: printf(_string(form), *values),
    # kwok's, as far as they are the same for every object.
    "Quote": _quote,
    "YAML": _yaml,
    "NodeConditions": lambda: list(NODE_CONDITIONS),
    # sprig's.
    "add": lambda *values: Int64(sum(map(_int, values))),
    "sub": lambda one, other: Int64(_int(one) - _int(other)),
    "mul": lambda one, *values: Int64(math.prod(map(_int, (one, *values)))),
    "div": _quotient,
    "mod": lambda one, other: Int64(math.fmod(_int(one), _int(other))),
    "max": lambda *values: max(map(_int, values)),
    "min": lambda *values: min(map(_int, values)),
    "int": lambda value: int(_int(value)),
    "int64": _int,
    "atoi": lambda text: int(text) if _DECIMAL.fullmatch(_string(text)) else 0,
    "toString": go_text,
    "quote": lambda *values: " ".join(go_quoted(go_text(value)) for value in values if value is not None),
    "squote": lambda *values: " ".join(f"'{go_text(value)}'" for value in values if value is not None),
    "upper": lambda text: _string(text).upper(),
    "lower": lambda text: _string(text).lower(),
    "trim": lambda text: _string(text).strip(),
    "trimPrefix": lambda prefix, text: _string(text).removeprefix(_string(prefix)),
    "trimSuffix": lambda suffix, text: _string(text).removesuffix(_string(suffix)),
    "contains": lambda part, text: _string(part) in _string(text),
    "hasPrefix": lambda prefix, text: _string(text).startswith(_string(prefix)),
    "hasSuffix": lambda suffix, text: _string(text).endswith(_string(suffix)),
    "replace": lambda old, new, text: _string(text).replace(_string(old), _string(new)),
    "default": lambda fallback, value=None: value if truth(value) else fallback,
    "empty": lambda value: not truth(value),
    "coalesce": lambda *values: next((value for value in values if truth(value)), None),
    "ternary": _ternary,
    "list": lambda *values: list(values),
    "dict": _dict,
    "get": lambda mapping, key: _map(mapping).get(_string(key), ""),
    "hasKey": lambda mapping, key: _string(key) in _map(mapping),
    "first": lambda values: next(iter(_list(values)), None),
    "last": lambda values: next(reversed(_list(values)), None),
    "join": _join,
    "toJson": go_json,
}
