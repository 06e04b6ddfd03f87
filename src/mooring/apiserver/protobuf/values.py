"""Values that have a JSON form of their own: times, quantities, numbers that may be text, JSON inside protobuf."""

import math
import struct
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

import msgspec

from mooring.apiserver.protobuf.wire import MalformedProtobuf, Read, WireReader
from mooring.kube.nesting import DEPTH_LIMIT, is_deeper

__all__ = ["NUMBERS", "TEXTS", "schema_or_bool", "schema_or_list", "schema_or_strings"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# What Go calls the zero time: the first second of the year 1.
_ZERO_TIME: Final = -62135596800
# Go writes whole numbers up to here without an exponent.
_LARGEST_PLAIN: Final = 1e21


def _int32(number: int) -> int:
    number &= 0xFFFF_FFFF
    return number - (1 << 32) if number >> 31 else number


def _int64(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _double(data: bytes) -> int | float:
    value: float = struct.unpack("<d", data)[0]
    if not math.isfinite(value):
        raise MalformedProtobuf(f"{value} is no number in JSON")
    return int(value) if value.is_integer() and abs(value) < _LARGEST_PLAIN else value


def _text(reader: WireReader, start: int, stop: int, depth: int) -> str:
    return reader.data[start:stop].decode()


def _bytes(reader: WireReader, start: int, stop: int, depth: int) -> str:
    return b64encode(reader.data[start:stop]).decode()


def _quantity(reader: WireReader, start: int, stop: int, depth: int) -> str:
    text = "0"
    for number, _, begin, after in reader.fields(start, stop, 0b1110):
        if number == 1:
            text = reader.data[begin:after].decode()
    return text


def _int_or_string(reader: WireReader, start: int, stop: int, depth: int) -> int | str:
    is_text, integer, text = False, 0, ""
    for number, value, begin, after in reader.fields(start, stop, 0b1000):
        if number == 1:
            is_text = bool(value)
        elif number == 2:
            integer = _int32(value)
        else:
            text = reader.data[begin:after].decode()
    return text if is_text else integer


@lru_cache(maxsize=256)
def _moment(seconds: int, microseconds: int) -> datetime:
    try:
        return _EPOCH + timedelta(seconds=seconds, microseconds=microseconds)
    except OverflowError:
        raise MalformedProtobuf(f"{seconds} seconds is a time outside of the years 1 to 9999") from None


def _clock(reader: WireReader, start: int, stop: int) -> tuple[int, int]:
    seconds, nanoseconds = 0, 0
    for number, value, _, _ in reader.fields(start, stop, 0b1000):
        if number == 1:
            seconds = _int64(value)
        elif number == 2:
            nanoseconds = _int32(value)
    return seconds, nanoseconds


def _time(reader: WireReader, start: int, stop: int, depth: int) -> str | None:
    """Whole seconds, as JSON has them."""
    seconds, _ = _clock(reader, start, stop)
    if start == stop or seconds == _ZERO_TIME:
        return None
    return f"{_moment(seconds, 0).replace(tzinfo=None).isoformat()}Z"


def _micro_time(reader: WireReader, start: int, stop: int, depth: int) -> str | None:
    seconds, nanoseconds = _clock(reader, start, stop)
    microseconds = int(nanoseconds / 1000)
    if start == stop or (seconds, microseconds) == (_ZERO_TIME, 0):
        return None
    return f"{_moment(seconds, microseconds).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def _words(reader: WireReader, start: int, stop: int, depth: int) -> list[str]:
    """A list with a message around it."""
    fields = reader.fields(start, stop, 0b1110)
    return [reader.data[begin:after].decode() for number, _, begin, after in fields if number == 1]


def _raw(reader: WireReader, start: int, stop: int, depth: int) -> Any:
    """JSON in a message around it; nothing is null."""
    text = b""
    for number, _, begin, after in reader.fields(start, stop, 0b1110):
        if number == 1:
            text = reader.data[begin:after]
    if not text:
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise MalformedProtobuf(f"the JSON in it cannot be read: {error}") from None
    # Without that many brackets it cannot be too deep, and nothing needs to be walked.
    if text.count(b"{") + text.count(b"[") + depth > DEPTH_LIMIT and is_deeper(value, DEPTH_LIMIT - depth):
        raise MalformedProtobuf(f"it is nested more than {DEPTH_LIMIT} deep")
    return value


# Read from a number; a double from its eight bytes.
NUMBERS: Final[dict[str, Callable[..., Any]]] = {"bool": bool, "int32": _int32, "int64": _int64, "double": _double}
TEXTS: Final[dict[str, Read]] = {
    "string": _text,
    "bytes": _bytes,
    "quantity": _quantity,
    "int-or-string": _int_or_string,
    "time": _time,
    "micro": _micro_time,
    "words": _words,
    "raw": _raw,
}


# The three choices that a schema leaves open. Each takes how a schema is read.


def schema_or_list(schema: Read) -> Read:
    def read(reader: WireReader, start: int, stop: int, depth: int) -> Any:
        one, many = None, []
        for number, _, begin, after in reader.fields(start, stop, 0b1110):
            if number == 1:
                one = schema(reader, begin, after, depth)
            elif number == 2:
                many.append(schema(reader, begin, after, depth + 1))
        return many or one

    return read


def schema_or_bool(schema: Read) -> Read:
    def read(reader: WireReader, start: int, stop: int, depth: int) -> Any:
        allows, one = False, None
        for number, value, begin, after in reader.fields(start, stop, 0b1100):
            if number == 1:
                allows = bool(value)
            elif number == 2:
                one = schema(reader, begin, after, depth)
        return allows if one is None else one

    return read


def schema_or_strings(schema: Read) -> Read:
    def read(reader: WireReader, start: int, stop: int, depth: int) -> Any:
        one, words = None, []
        for number, _, begin, after in reader.fields(start, stop, 0b1110):
            if number == 1:
                one = schema(reader, begin, after, depth)
            elif number == 2:
                words.append(reader.data[begin:after].decode())
        return words or one

    return read
