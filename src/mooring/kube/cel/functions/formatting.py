"""`"%s has %d".format([...])`: the verbs of Go's fmt that the language has, without their flags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isinf, isnan
from typing import Any, Final

from mooring.kube.cel.functions.conversions import NO_TEXT, double_text
from mooring.kube.cel.functions.times import duration_seconds, timestamp_text
from mooring.kube.cel.values import Duration, Timestamp, TypeValue, Uint, type_name
from mooring.kube.errors import go_quote

__all__ = ["COMPLAINTS", "clauses", "format_text", "quote"]

_DIGITS: Final = re.compile(r"[0-9]*", re.ASCII)
_UNPARSED: Final = "could not parse formatting clause"
# What verbs say to a value that they do not take.
COMPLAINTS: Final = {
    "s": (
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
        "timestamps"
    ),
    "d": "decimal clause can only be used on integers",
    "f": "fixed-point clause can only be used on doubles",
    "e": "scientific clause can only be used on doubles",
    "b": "only integers and bools can be formatted as binary",
    "o": "octal clause can only be used on integers",
    **dict.fromkeys("xX", "only integers, byte buffers, and strings can be formatted as hex"),
}
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


def clauses(pattern: str, count: int) -> Iterator[str | tuple[str, int]]:
    """The texts of a pattern and its verbs with their precision, in order, for so many values. Raises ValueError."""
    at = used = 0
    while at < len(pattern):
        mark = pattern.find("%", at)
        if mark < 0:
            yield pattern[at:]
            return
        if mark > at:
            yield pattern[at:mark]
        at = mark + 1
        if pattern.startswith("%", at):
            yield "%"
            at += 1
            continue
        if at == len(pattern):
            raise ValueError("unexpected end of string")
        if used == count:
            raise ValueError(f"index {used} out of range")
        used += 1
        precision = _PRECISION
        if pattern[at] == ".":
            digits = _DIGITS.match(pattern, at + 1)
            assert digits is not None
            at = digits.end()
            if at == len(pattern):
                raise ValueError(
                    f"{_UNPARSED}: error while parsing precision: could not find end of precision specifier"
                )
            if not digits[0]:
                why = 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
                raise ValueError(f"{_UNPARSED}: error while parsing precision: {why}")
            precision = int(digits[0])
        verb = pattern[at]
        if verb not in _VERBS:
            # Go looks at bytes.
            shown = chr(verb.encode()[0])
            raise ValueError(f'{_UNPARSED}: unrecognized formatting clause "{shown}"')
        yield verb, precision
        at += 1


def format_text(pattern: str, arguments: list[Any]) -> str:
    """Raises ValueError."""
    made, used = [], 0
    for clause in clauses(pattern, len(arguments)):
        if isinstance(clause, str):
            made.append(clause)
        else:
            made.append(_written(arguments[used], *clause))
            used += 1
    return "".join(made)


def _written(value: Any, verb: str, precision: int) -> str:
    try:
        return _VERBS[verb](value, precision)
    except TypeError as error:
        complaint = str(error) or f"{COMPLAINTS[verb]}, was given {type_name(value)}"
        raise ValueError(f"error during formatting: {complaint}") from None


def _text(value: Any, _: int = 0) -> str:
    kind = value.__class__
    if kind is str:
        return str(value)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is bytes:
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            raise TypeError(f"could not convert argument {go_quote(NO_TEXT)} to string") from None
    if kind is float:
        return double_text(value)
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
        entries = sorted(((_key(key), _inner(item)) for key, item in value.items()), key=lambda entry: entry[0])
        return f"{{{', '.join(f'{key}:{item}' for key, item in entries)}}}"
    raise TypeError


def _inner(value: Any) -> str:
    """A value inside of a list or a map, where texts are quoted and times are written as they are made."""
    kind = value.__class__
    if kind is str:
        return go_quote(value)
    if kind is bytes:
        return f"b{go_quote(_text(value))}"
    if kind is Duration or kind is Timestamp:
        return f'{"duration" if kind is Duration else "timestamp"}("{_text(value)}")'
    if kind is float:
        return f'"{double_text(value)}"' if isnan(value) or isinf(value) else f"{value:.6f}"
    try:
        return _text(value)
    except TypeError:
        raise TypeError(f"no formatting function for {type_name(value)}") from None


def _key(key: Any) -> str:
    if key.__class__ in (str, bool, int, Uint):
        return _inner(key)
    raise TypeError(f"no formatting function for map key of type {type_name(key)}")


def _decimal(value: Any, _: int) -> str:
    if value.__class__ in (int, Uint):
        return str(int(value))
    raise TypeError


def _fixed(value: Any, precision: int) -> str:
    return _number(value, f",.{precision}f")


def _scientific(value: Any, precision: int) -> str:
    mantissa, mark, exponent = _number(value, f".{precision}e").partition("e")
    return f"{mantissa}\u00d710{exponent.removeprefix('+').translate(_RAISED)}" if mark else mantissa


def _number(value: Any, form: str) -> str:
    """As people write numbers in English."""
    if value.__class__ is str and value in _SPECIAL:
        value = _SPECIAL[value]
    if value.__class__ is not float:
        raise TypeError
    if isnan(value):
        return "NaN"
    return ("\u221e" if value > 0 else "-\u221e") if isinf(value) else f"{value:{form}}"


def _binary(value: Any, _: int) -> str:
    if value.__class__ in (int, Uint, bool):
        return f"{int(value):b}"
    raise TypeError


def _octal(value: Any, _: int) -> str:
    if value.__class__ in (int, Uint):
        return f"{int(value):o}"
    raise TypeError


def _hexadecimal(value: Any, _: int) -> str:
    if value.__class__ in (int, Uint):
        return f"{int(value):x}"
    if value.__class__ in (str, bytes):
        return (value.encode() if isinstance(value, str) else bytes(value)).hex()
    raise TypeError


def _upper_hexadecimal(value: Any, precision: int) -> str:
    return _hexadecimal(value, precision).upper()


_SPECIAL: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
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
