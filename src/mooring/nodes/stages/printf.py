"""Go's `printf`: verbs with flags, and what it notes in the text where a verb and its value do not belong together."""

from __future__ import annotations

import re
from typing import Any, Final

from mooring.nodes.stages.go_values import go_quoted, go_text, go_type

__all__ = ["printf"]

_VERB: Final = re.compile(r"%(?P<flags>[-+ 0]*)(?P<width>\d*)(?:\.(?P<precision>\d*))?(?P<verb>.)?", re.DOTALL)
_INTEGERS: Final = "dxXob"


def printf(form: str, *values: Any) -> str:
    given = list(values)

    def one(found: re.Match[str]) -> str:
        verb = found["verb"]
        if verb is None:
            return "%!(NOVERB)"
        if verb == "%":
            return "%"
        return _formatted(found, given.pop(0)) if given else f"%!{verb}(MISSING)"

    text = _VERB.sub(one, form)
    if not given:
        return text
    extra = ", ".join("<nil>" if value is None else f"{go_type(value)}={go_text(value)}" for value in given)
    return f"{text}%!(EXTRA {extra})"


def _formatted(found: re.Match[str], value: Any) -> str:
    verb = found["verb"]
    if isinstance(value, list):
        return "[" + " ".join(_formatted(found, item) for item in value) + "]"
    if isinstance(value, dict):
        items = sorted(value.items())
        return "map[" + " ".join(f"{_formatted(found, key)}:{_formatted(found, item)}" for key, item in items) + "]"
    if verb == "v":
        return _padded(found, go_text(value))
    if value is None:
        return f"%!{verb}(<nil>)"
    made = _made(found, value)
    return f"%!{verb}({go_type(value)}={_as_it_is(found, value)})" if made is None else made


def _made(found: re.Match[str], value: Any) -> str | None:
    """None where the verb is not one for such a value."""
    verb = found["verb"]
    match value:
        case bool():
            return _padded(found, go_text(value)) if verb == "t" else None
        case str() if verb == "s":
            return _padded(found, value if found["precision"] is None else value[: int(found["precision"] or 0)])
        case str() if verb == "q":
            return _padded(found, go_quoted(value))
        case str() if verb in "xX":
            digits = value.encode().hex()
            return _padded(found, digits if verb == "x" else digits.upper())
        case int() if verb in _INTEGERS:
            return _number(found, format(value, verb))
        case float() if verb in "eEfFgG":
            return _number(found, _float(found, value))
    return None


def _as_it_is(found: re.Match[str], value: Any) -> str:
    """As `%v` writes it, but with the flags, the width and the precision of the verb that does not belong to it."""
    precision = None if found["precision"] is None else int(found["precision"] or 0)
    match value:
        case bool():
            return _padded(found, go_text(value))
        case int():
            return _number(found, str(value) if precision is None else f"{value:0{precision + (value < 0)}d}")
        case float():
            return _number(found, go_text(value) if precision is None else f"{value:.{precision or 1}g}")
    return _padded(found, str(value)[:precision])


def _float(found: re.Match[str], value: float) -> str:
    verb, precision = found["verb"], found["precision"]
    if precision is None and verb in "gG":
        return go_text(value)
    return format(value, f".{6 if precision is None else int(precision or 0)}{verb}")


def _number(found: re.Match[str], digits: str) -> str:
    sign = "" if digits.startswith("-") else "+" if "+" in found["flags"] else " " if " " in found["flags"] else ""
    width = int(found["width"] or 0)
    if "0" in found["flags"] and "-" not in found["flags"]:
        return (sign + digits).zfill(width)
    return _padded(found, sign + digits)


def _padded(found: re.Match[str], text: str) -> str:
    width = int(found["width"] or 0)
    if "-" in found["flags"]:
        return text.ljust(width)
    # Texts too are filled up with zeros.
    return text.rjust(width, "0" if "0" in found["flags"] else " ")
