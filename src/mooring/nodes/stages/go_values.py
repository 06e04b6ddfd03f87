"""Values as Go has them: the types that templates can tell apart, and how each is written, quoted and counted as true.

A number of the object is a text to a template, as kwok hands it in: it is never empty, not even 0, and equals a text.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any, Final

__all__ = [
    "Int64",
    "ObjectNumber",
    "decoded",
    "go_integer",
    "go_json",
    "go_quoted",
    "go_text",
    "go_type",
    "plain",
    "truth",
]

_ESCAPES: Final = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
_OCTAL: Final = re.compile(r"([-+]?)0([0-7]+)")
# What Go's encoder keeps out of JSON, as it might end up in a page.
_IN_JSON: Final = re.compile("[<>&\u2028\u2029]")
# Beyond these powers of ten a float is written with an exponent.
_SMALLEST, _LARGEST = 1e-4, 1e21


class ObjectNumber(str):
    """A number of the object, in its own digits."""


class Int64(int):
    """What sprig's arithmetic results in; a constant and a length are an int."""


def decoded(value: Any) -> Any:
    """What a template sees of an object."""
    match value:
        case bool():
            return value
        case int() | float():
            return ObjectNumber(json.dumps(value))
        case dict():
            return {name: decoded(item) for name, item in value.items()}
        case list() | tuple():
            return [decoded(item) for item in value]
    return value


def plain(value: Any) -> Any:
    """The other way round."""
    match value:
        case ObjectNumber():
            return json.loads(value)
        case dict():
            return {name: plain(item) for name, item in value.items()}
        case list():
            return [plain(item) for item in value]
    return value


def go_integer(text: str) -> int | None:
    """A text as Go's parser reads it with any base: hexadecimal after 0x, octal after 0; None for any other."""
    octal = _OCTAL.fullmatch(text)
    try:
        return int(octal[1] + octal[2], 8) if octal else int(text, 0)
    except ValueError:
        return None


def truth(value: Any) -> bool:
    """Whether a value counts as true: nothing, zero and whatever is empty do not."""
    return bool(value)


def go_type(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case Int64():
            return "int64"
        case int():
            return "int"
        case float():
            return "float64"
        case ObjectNumber():
            return "json.Number"
        case str():
            return "string"
        case dict():
            return "map[string]interface {}"
    return "[]interface {}"


def go_text(value: Any) -> str:
    """A value as `%v` writes it."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return _float_text(value)
        case dict():
            return "map[" + " ".join(f"{key}:{go_text(item)}" for key, item in sorted(value.items())) + "]"
        case list() | tuple():
            return "[" + " ".join(go_text(item) for item in value) + "]"
    return str(value)


def _float_text(value: float) -> str:
    number = Decimal(repr(value))
    if number == 0 or _SMALLEST <= abs(value) < _LARGEST:
        text = format(number, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    digits, exponent = f"{number:e}".split("e")
    return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits}e{int(exponent):+03d}"


def go_quoted(text: str) -> str:
    """A text in double quotes, with the escapes of Go's own source."""
    return '"' + "".join(map(_quoted_rune, text)) + '"'


def _quoted_rune(rune: str) -> str:
    code = ord(rune)
    if code in _ESCAPES:
        return _ESCAPES[code]
    if rune.isprintable():
        return rune
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def go_json(value: Any) -> str:
    text = json.dumps(plain(value), separators=(",", ":"), ensure_ascii=False, sort_keys=True)
    return _IN_JSON.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
