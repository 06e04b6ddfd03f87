"""Conversions between types: `int("3")`, `string(1.5)`, `type(x)`, `dyn(x)`."""

from __future__ import annotations

import re
from math import isinf, isnan
from typing import Any, Final

from mooring.kube.cel.functions.model import Function, read_argument
from mooring.kube.cel.functions.operators import INT64
from mooring.kube.cel.functions.times import MOMENTS, duration_seconds, read_duration, read_timestamp, timestamp_text
from mooring.kube.cel.values import NANOSECONDS, Duration, Timestamp, TypeValue, Uint, type_name

_UINT64: Final = range(2**64)
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_UNSIGNED: Final = re.compile(r"[0-9]+")
_FLOAT: Final = re.compile(
    r"[+-]?(?:[0-9]+(?:_[0-9]+)*\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?|inf|infinity)|[+]?nan",
    re.I | re.A,
)
_HEXADECIMAL: Final = re.compile(r"[+-]?0x[0-9a-f]+(?:\.[0-9a-f]*)?p[+-]?[0-9]+", re.I | re.A)
# From so many digits on, Go writes an exponent.
_PLAIN_DIGITS: Final = 6
NO_TEXT: Final = "invalid UTF-8 in bytes, cannot convert to string"
_TRUE: Final = ("1", "t", "T", "true", "TRUE", "True")
_FALSE: Final = ("0", "f", "F", "false", "FALSE", "False")


def _unconvertible(wanted: str) -> ValueError:
    return ValueError(f"type conversion error from 'string' to '{wanted}'")


def _int_of_text(text: str) -> int:
    if not _INTEGER.fullmatch(text) or len(text) > 20 or int(text) not in INT64:
        raise _unconvertible("int")
    return int(text)


def _uint_of_text(text: str) -> Uint:
    if not _UNSIGNED.fullmatch(text) or len(text) > 20 or int(text) not in _UINT64:
        raise _unconvertible("uint")
    return Uint(text)


def _int_of_double(number: float) -> int:
    if isnan(number) or isinf(number) or int(number) not in INT64 or abs(number) >= 2**63:
        raise ValueError("integer overflow")
    return int(number)


def _uint_of_double(number: float) -> Uint:
    if isnan(number) or isinf(number) or int(number) not in _UINT64:
        raise ValueError("unsigned integer overflow")
    return Uint(number)


def _int_of_uint(number: int) -> int:
    if int(number) not in INT64:
        raise ValueError("integer overflow")
    return int(number)


def _uint_of_int(number: int) -> Uint:
    if number < 0:
        raise ValueError("unsigned integer overflow")
    return Uint(number)


def _double_of_text(text: str) -> float:
    if _HEXADECIMAL.fullmatch(text):
        return float.fromhex(text)
    # More than there is is an error, infinity by its name is not.
    if not _FLOAT.fullmatch(text) or (isinf(float(text)) and "n" not in text.lower()):
        raise _unconvertible("double")
    return float(text)


def _bool_of_text(text: str) -> bool:
    if text not in _TRUE and text not in _FALSE:
        raise _unconvertible("bool")
    return text in _TRUE


def _text_of_bytes(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ValueError(NO_TEXT) from None


def double_text(number: float) -> str:
    """As Go's %g writes it."""
    if isnan(number):
        return "NaN"
    if isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    sign = "-" if str(number)[0] == "-" else ""
    digits, _, exponent = f"{abs(number):.17e}".partition("e")
    for precision in range(17):
        digits, _, exponent = f"{abs(number):.{precision}e}".partition("e")
        if float(f"{digits}e{exponent}") == abs(number):
            break
    power, plain = int(exponent), digits.replace(".", "")
    if not -4 <= power < _PLAIN_DIGITS:
        mantissa = f"{plain[0]}.{plain[1:]}" if len(plain) > 1 else plain
        return f"{sign}{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{plain}"
    whole = plain[: power + 1].ljust(power + 1, "0")
    rest = plain[power + 1 :]
    return f"{sign}{whole}.{rest}" if rest else f"{sign}{whole}"


def duration_of(value: Any) -> Duration:
    """The declaration takes whole numbers, and the function does not."""
    if isinstance(value, str):
        return read_duration(value)
    raise ValueError("type conversion error from 'int' to 'google.protobuf.Duration'")


def timestamp_of(value: Any) -> Timestamp:
    if isinstance(value, str):
        return read_timestamp(value)
    if value * NANOSECONDS not in MOMENTS:
        raise ValueError("timestamp overflow")
    return Timestamp(value * NANOSECONDS)


def _seconds(moment: int) -> int:
    return int(moment) // NANOSECONDS


def _same(value: Any) -> Any:
    return value


CONVERSIONS: Final = (
    Function("type", ("A",), "type<A>", lambda value: TypeValue(type_name(value))),
    Function("dyn", ("A",), "dyn", _same),
    Function("bool", ("bool",), "bool", _same),
    Function("bool", ("string",), "bool", _bool_of_text),
    Function("bytes", ("bytes",), "bytes", _same),
    Function("bytes", ("string",), "bytes", str.encode, cost=read_argument()),
    Function("double", ("double",), "double", _same),
    Function("double", ("int",), "double", float),
    Function("double", ("uint",), "double", float),
    Function("double", ("string",), "double", _double_of_text),
    Function("duration", ("duration",), "duration", _same),
    Function("duration", ("int",), "duration", duration_of),
    Function("duration", ("string",), "duration", read_duration),
    Function("int", ("int",), "int", _same),
    Function("int", ("double",), "int", _int_of_double),
    Function("int", ("duration",), "int", int),
    Function("int", ("string",), "int", _int_of_text),
    Function("int", ("timestamp",), "int", _seconds),
    Function("int", ("uint",), "int", _int_of_uint),
    Function("string", ("string",), "string", _same),
    Function("string", ("bool",), "string", lambda value: "true" if value else "false"),
    Function("string", ("bytes",), "string", _text_of_bytes, cost=read_argument()),
    Function("string", ("double",), "string", double_text),
    Function("string", ("duration",), "string", duration_seconds),
    Function("string", ("int",), "string", str),
    Function("string", ("timestamp",), "string", timestamp_text),
    Function("string", ("uint",), "string", lambda number: str(int(number))),
    Function("timestamp", ("timestamp",), "timestamp", _same),
    Function("timestamp", ("int",), "timestamp", timestamp_of),
    Function("timestamp", ("string",), "timestamp", read_timestamp),
    Function("uint", ("uint",), "uint", _same),
    Function("uint", ("double",), "uint", _uint_of_double),
    Function("uint", ("int",), "uint", _uint_of_int),
    Function("uint", ("string",), "uint", _uint_of_text),
)
