"""What a plain YAML scalar means to Kubernetes.

kubectl turns YAML into JSON before anything looks at it, so the types of YAML 1.1 that JSON lacks (dates, base 60) stay
strings there, and `1e3`, `0o17` or `y` are what its Go parser makes of them. PyYAML differs in each of these, and a
label of `22:22` that becomes 1342 would be explained wrongly. This module is the one place that decides.
"""

from __future__ import annotations

import re
from typing import Final

Scalar = str | int | float | bool | None

WORDS: Final[dict[str, Scalar]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
"""Plain scalars that are not strings although they are words."""

_NUMERIC_START: Final = frozenset("+-.0123456789")
_INTEGER = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))")
_BASES: Final = {"x": 16, "b": 2, "o": 8}


class NotJsonError(ValueError):
    """The scalar is a number that JSON cannot carry."""


def resolve(text: str) -> Scalar:
    """The value of an unquoted scalar, as it would appear in the JSON that kubectl sends."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in _NUMERIC_START:
        return text
    if _INFINITE.fullmatch(text):
        raise NotJsonError(f"{text} is not a value that JSON can carry")
    digits = text.replace("_", "")
    if integer := _INTEGER.fullmatch(digits):
        return _integer(*integer.groups())
    if _FLOAT.fullmatch(digits):
        return _narrow(float(digits), text)
    return text


def type_of(text: str) -> str:
    """The tag of an unquoted scalar: str, int, float, bool or null."""
    value = resolve(text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        # JSON does not tell 1.0 from 1.
        return "int" if _INTEGER.fullmatch(text.replace("_", "")) and abs(value) < 1 << 64 else "float"
    return {bool: "bool", str: "str"}.get(type(value), "null")


def spell_key(value: str | int | float | bool) -> str:
    """A mapping key as JSON spells it: `8080: x` has the key "8080", `on: x` the key "true"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _integer(sign: str, digits: str) -> int | float | str:
    prefix = digits[1:2].lower()
    if prefix in _BASES:
        value = int(digits[2:], _BASES[prefix])
    elif digits[0] == "0":
        value = int(digits, 8)
    elif len(digits) < 20:
        value = int(digits)
    else:
        # Beyond 64 bits in any case, and int() refuses thousands of digits.
        return _narrow(float(sign + digits), sign + digits)
    if value >= 1 << 63:
        return _narrow(float(sign + str(value)), sign + digits) if value < 1 << 1000 else sign + digits
    return -value if sign == "-" else value


def _narrow(value: float, text: str) -> int | float | str:
    """JSON has one kind of number: 1.0 is written as 1, and what overflows was never a number."""
    if value in (float("inf"), float("-inf")):
        return text
    if value.is_integer() and abs(value) < 1e21:
        return int(value)
    return value
