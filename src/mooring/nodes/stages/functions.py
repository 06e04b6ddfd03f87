"""The functions that templates of Stages may use: Go's own, the most used ones of sprig, and some of kwok.

What depends on the object or the moment (`Now`, `PodIPWith`) is handed in where a template is rendered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from mooring.manifests.emit import to_yaml
from mooring.nodes.stages.lexer import TemplateError

Thunk = Callable[[], Any]

_VERB: Final = re.compile(r"%([-+ 0]*\d*(?:\.\d+)?)([a-zA-Z%])")

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


def truth(value: Any) -> bool:
    """Whether a value counts as true: nothing, zero and whatever is empty do not."""
    return bool(value)


def go_text(value: Any) -> str:
    """A value as an action writes it."""
    match value:
        case None:
            return "<no value>"
        case bool():
            return "true" if value else "false"
        case dict():
            return "map[" + " ".join(f"{key}:{go_text(item)}" for key, item in sorted(value.items())) + "]"
        case list() | tuple():
            return "[" + " ".join(go_text(item) for item in value) + "]"
    return str(value)


def _or(*values: Thunk) -> Any:
    found = None
    for value in values:
        found = value()
        if truth(found):
            break
    return found


def _and(*values: Thunk) -> Any:
    found = None
    for value in values:
        found = value()
        if not truth(found):
            break
    return found


# What is not needed is not looked at: an index that is out of range is no error after `and` has settled.
LAZY: Final[Mapping[str, Callable[..., Any]]] = {"or": _or, "and": _and}


def _index(value: Any, *keys: Any) -> Any:
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list | tuple | str):
            if not isinstance(key, int) or not 0 <= key < len(value):
                raise TemplateError(f"index {key} is out of range of {len(value)} items")
            value = value[key]
        elif value is not None:
            raise TemplateError(f"{go_text(value)} has no items to take number {key} of")
    return value


def _printf(form: str, *values: Any) -> str:
    given = iter(values)

    def one(found: re.Match[str]) -> str:
        flags, verb = found.groups()
        if verb == "%":
            return "%"
        value = next(given, None)
        match verb:
            case "d" | "x":
                return str(f"%{flags}{verb}" % _int(value))
            case "f" | "e" | "g":
                return str(f"%{flags}{verb}" % float(value or 0))
            case "q":
                return json.dumps(go_text(value), ensure_ascii=False)
        return str(f"%{flags}s" % go_text(value))

    return _VERB.sub(one, form)


def _quote(value: Any) -> str:
    return json.dumps(value if isinstance(value, str) else _compact(value), ensure_ascii=False)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def _yaml(value: Any, indent: int = 0) -> str:
    text = to_yaml(value)
    pad = " " * (indent * 2)
    return ("\n" + text).replace("\n", "\n" + pad) if indent > 0 else text


def _dict(*pairs: Any) -> dict[str, Any]:
    return {str(pairs[n]): pairs[n + 1] if n + 1 < len(pairs) else "" for n in range(0, len(pairs), 2)}


def _int(value: Any) -> int:
    try:
        return int(float(value)) if value not in (None, "") else 0
    except ValueError:
        return 0


def _divided(one: Any, other: Any) -> int:
    """Rounded towards zero, as Go does."""
    quotient = abs(_int(one)) // abs(_int(other))
    return quotient if (_int(one) < 0) == (_int(other) < 0) else -quotient


def _product(*values: Any) -> int:
    product = 1
    for value in values:
        product *= _int(value)
    return product


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    # Go's own.
    "not": lambda value: not truth(value),
    "eq": lambda one, *others: any(one == other for other in others),
    "ne": lambda one, other: one != other,
    "lt": lambda one, other: one < other,
    "le": lambda one, other: one <= other,
    "gt": lambda one, other: one > other,
    "ge": lambda one, other: one >= other,
    "index": _index,
    "len": len,
    "print": lambda *values: "".join(map(go_text, values)),
    "println": lambda *values: " ".join(map(go_text, values)) + "\n",
    "printf": _printf,
    # kwok's, as far as they are the same for every object.
    "Quote": _quote,
    "YAML": _yaml,
    "NodeConditions": lambda: list(NODE_CONDITIONS),
    # sprig's.
    "add": lambda *values: sum(map(_int, values)),
    "sub": lambda one, other: _int(one) - _int(other),
    "mul": _product,
    "div": _divided,
    "mod": lambda one, other: _int(one) % _int(other),
    "max": lambda *values: max(map(_int, values)),
    "min": lambda *values: min(map(_int, values)),
    "int": _int,
    "int64": _int,
    "atoi": _int,
    "toString": go_text,
    "quote": lambda *values: " ".join(json.dumps(go_text(v), ensure_ascii=False) for v in values if v is not None),
    "squote": lambda *values: " ".join(f"'{go_text(v)}'" for v in values if v is not None),
    "upper": lambda text: str(text).upper(),
    "lower": lambda text: str(text).lower(),
    "trim": lambda text: str(text).strip(),
    "trimPrefix": lambda prefix, text: str(text).removeprefix(prefix),
    "trimSuffix": lambda suffix, text: str(text).removesuffix(suffix),
    "contains": lambda part, text: part in text,
    "hasPrefix": lambda prefix, text: str(text).startswith(prefix),
    "hasSuffix": lambda suffix, text: str(text).endswith(suffix),
    "replace": lambda old, new, text: str(text).replace(old, new),
    "default": lambda fallback, value=None: value if truth(value) else fallback,
    "empty": lambda value: not truth(value),
    "coalesce": lambda *values: next((value for value in values if truth(value)), None),
    "ternary": lambda yes, no, test: yes if test else no,
    "list": lambda *values: list(values),
    "dict": _dict,
    "get": lambda mapping, key: mapping.get(key, ""),
    "hasKey": lambda mapping, key: key in mapping,
    "first": lambda values: values[0] if values else None,
    "last": lambda values: values[-1] if values else None,
    "join": lambda separator, values: separator.join(map(go_text, values)),
    "toJson": _compact,
}
