"""`"%s has %d".format([...])`: the verbs of Go's fmt that the language has, without their flags."""

from __future__ import annotations

import re
from math import isinf, isnan
from typing import Any, Final

from mooring.kube.cel.functions.conversions import double_text
from mooring.kube.cel.functions.times import duration_seconds, timestamp_text
from mooring.kube.cel.values import Duration, Timestamp, TypeValue, Uint, type_name
from mooring.kube.errors import go_quote

__all__ = ["format_text", "quote"]

_CLAUSE: Final = re.compile(r"%(?:(%)|(?:\.([0-9]*))?(.)?)", re.DOTALL)
_PRECISION: Final = 6
_RAISED: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_ESCAPES: Final = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": "\\\\",
    '"': r"\"",
}


def quote(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(letter, letter) for letter in text) + '"'


def format_text(pattern: str, arguments: list[Any]) -> str:
    """Raises ValueError."""
    at = 0

    def clause(found: re.Match[str]) -> str:
        nonlocal at
        if found[1]:
            return "%"
        verb = found[3] or ""
        if not verb:
            raise ValueError("unexpected end of string")
        if verb not in _VERBS:
            raise ValueError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
        if at >= len(arguments):
            raise ValueError(f"index {at} out of range")
        value = arguments[at]
        at += 1
        precision = int(found[2]) if found[2] else _PRECISION
        try:
            return _VERBS[verb](value, precision)
        except TypeError as error:
            raise ValueError(f"error during formatting: {error}") from None

    return _CLAUSE.sub(clause, pattern)


def _text(value: Any, _: int = 0) -> str:
    kind = value.__class__
    if kind is str:
        return str(value)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is bytes:
        return bytes(value).decode(errors="replace")
    if kind is float:
        return "Infinity" if value == float("inf") else "-Infinity" if value == float("-inf") else double_text(value)
    if kind in (int, Uint):
        return str(int(value))
    if kind is Duration:
        return duration_seconds(value)
    if kind is Timestamp:
        return timestamp_text(value)
    if kind is TypeValue:
        return str(value.name)
    if isinstance(value, list):
        return f"[{', '.join(map(_inner, value))}]"
    if kind is dict:
        entries = sorted((_inner(key), _inner(item)) for key, item in value.items())
        return f"{{{', '.join(f'{key}:{item}' for key, item in entries)}}}"
    raise TypeError(
        f"string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
        f"durations, and timestamps, was given {type_name(value)}"
    )


def _inner(value: Any) -> str:
    """A value inside of a list or a map, where texts are quoted and times are written as they are made."""
    kind = value.__class__
    if kind is str:
        return go_quote(value)
    if kind is bytes:
        return f"b{go_quote(value.decode(errors='replace'))}"
    if kind is Duration or kind is Timestamp:
        return f'{"duration" if kind is Duration else "timestamp"}("{_text(value)}")'
    if kind is float:
        return f"{value:.6f}"
    return f"type({value.name})" if kind is TypeValue else _text(value)


def _decimal(value: Any, _: int) -> str:
    if value.__class__ in (int, Uint):
        return str(int(value))
    if value.__class__ is float and (isnan(value) or isinf(value)):
        return _text(value)
    raise TypeError(f"decimal clause can only be used on integers, was given {type_name(value)}")


def _fixed(value: Any, precision: int) -> str:
    return _number(value, f".{precision}f", "fixed-point")


def _scientific(value: Any, precision: int) -> str:
    mantissa, mark, exponent = _number(value, f".{precision}e", "scientific").partition("e")
    return f"{mantissa}\u00d710{exponent.removeprefix('+').translate(_RAISED)}" if mark else mantissa


def _number(value: Any, form: str, name: str) -> str:
    if value.__class__ in (int, Uint, float):
        number = float(value)
        return _text(number) if isnan(number) or isinf(number) else f"{number:{form}}"
    if value in ("NaN", "Infinity", "-Infinity"):
        return str(value)
    raise TypeError(f"{name} clause can only be used on doubles, was given {type_name(value)}")


def _binary(value: Any, _: int) -> str:
    if value.__class__ in (int, Uint, bool):
        return f"{int(value):b}"
    raise TypeError(f"only integers and bools can be formatted as binary, was given {type_name(value)}")


def _octal(value: Any, _: int) -> str:
    if value.__class__ in (int, Uint):
        return f"{int(value):o}"
    raise TypeError(f"octal clause can only be used on integers, was given {type_name(value)}")


def _hexadecimal(value: Any, _: int) -> str:
    if value.__class__ in (int, Uint):
        return f"{int(value):x}"
    if isinstance(value, str | bytes):
        return (value.encode() if isinstance(value, str) else value).hex()
    raise TypeError(f"only integers, byte buffers, and strings can be formatted as hex, was given {type_name(value)}")


def _upper_hexadecimal(value: Any, precision: int) -> str:
    return _hexadecimal(value, precision).upper()


_VERBS: Final = {
    "s": _text,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "o": _octal,
    "x": _hexadecimal,
    "X": _upper_hexadecimal,
}
