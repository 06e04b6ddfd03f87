"""From JSON-shaped objects to protobuf, for the few clients that accept nothing else.

It is the other direction of `wire`, by the same table. What an object does not say is not written: in Go both are the
same. The kinds of values that have a JSON form of their own are those of `values`.
"""

import struct
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

import msgspec

from mooring.apiserver.protobuf.tables import fields_of, type_of
from mooring.apiserver.protobuf.wire import BYTES, FIXED64, VARINT
from mooring.kube.objects import Object

__all__ = ["encode_object", "watch_frame"]

_PREFIX: Final = b"k8s\0"
_SCHEMA: Final = "apiextensions.v1.JSONSchemaProps"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FRAME_BYTES: Final = 4

# Takes a value; gives what stands behind the tag, without its length.
Write = Callable[[Any], bytes]
# Takes a whole object; gives its part of the message.
WriteField = Callable[[Object], bytes]


def encode_object(obj: Object) -> bytes | None:
    """An object in its envelope; None for a kind that has no protobuf form."""
    api_version, kind = obj.get("apiVersion", ""), obj.get("kind", "")
    name = type_of(api_version, kind)
    if name is None:
        return None
    described = _field(1, api_version.encode()) + _field(2, kind.encode())
    return _PREFIX + _field(1, described) + _field(2, _message(name, obj)) + _field(3, b"") + _field(4, b"")


def watch_frame(event: str, obj: Object) -> bytes:
    """An event of a watch: its length in four bytes, its type, and the object in its envelope."""
    made = _field(1, event.encode()) + _field(2, _field(1, encode_object(obj) or b""))
    return len(made).to_bytes(_FRAME_BYTES, "big") + made


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | BYTES) + _varint(len(data)) + data


def _number_field(number: int, value: int) -> bytes:
    return _varint(number << 3 | VARINT) + _varint(value)


# Messages


def _message(name: str, obj: Object) -> bytes:
    return b"".join([write(obj) for write in _writers(name)])


@cache
def _writers(name: str) -> tuple[WriteField, ...]:
    made = []
    for number, key, text in fields_of(name):
        kind = text.rstrip("*!")
        if key == "+":
            made.append(_inline(number, kind))
        elif kind.startswith("["):
            made.append(_list(number, key, kind[1:-1]))
        elif kind.startswith("{"):
            made.append(_map(number, key, _writer(kind[1:-1])))
        else:
            made.append(_one(key, _value(number, kind)))
    return tuple(made)


def _inline(number: int, kind: str) -> WriteField:
    return lambda obj: _field(number, _message(kind, obj))


def _one(key: str, write: Write) -> WriteField:
    def field(obj: Object) -> bytes:
        value = obj.get(key)
        return b"" if value is None else write(value)

    return field


def _list(number: int, key: str, kind: str) -> WriteField:
    write = _value(number, kind)
    return lambda obj: b"".join([write(each) for each in obj.get(key) or ()])


def _map(number: int, key: str, write: Write) -> WriteField:
    def field(obj: Object) -> bytes:
        entries = ((name, b"" if value is None else write(value)) for name, value in (obj.get(key) or {}).items())
        return b"".join([_field(number, _field(1, name.encode()) + _field(2, data)) for name, data in entries])

    return field


def _value(number: int, kind: str) -> Write:
    """How a value is written with its tag."""
    if kind == "double":
        return lambda value: _varint(number << 3 | FIXED64) + struct.pack("<d", value)
    if kind in ("bool", "int32", "int64"):
        return lambda value: _number_field(number, int(value))
    write = _writer(kind)
    return lambda value: _field(number, write(value))


@cache
def _writer(kind: str) -> Write:
    if kind in _TEXTS:
        return _TEXTS[kind]
    return lambda value: _message(kind, value)


# Values


def _quantity(value: Any) -> bytes:
    return _field(1, str(value).encode())


def _int_or_string(value: Any) -> bytes:
    if isinstance(value, str):
        return _number_field(1, 1) + _number_field(2, 0) + _field(3, value.encode())
    return _number_field(1, 0) + _number_field(2, value) + _field(3, b"")


def _time(value: str) -> bytes:
    passed = datetime.fromisoformat(value) - _EPOCH
    seconds = passed.days * 86_400 + passed.seconds
    return _number_field(1, seconds) + _number_field(2, passed.microseconds * 1000)


def _words(value: list[str]) -> bytes:
    return b"".join([_field(1, each.encode()) for each in value])


def _raw(value: Any) -> bytes:
    return _field(1, msgspec.json.encode(value))


def _schema_or_list(value: Any) -> bytes:
    if isinstance(value, list):
        return b"".join([_field(2, _message(_SCHEMA, each)) for each in value])
    return _field(1, _message(_SCHEMA, value))


def _schema_or_bool(value: Any) -> bytes:
    if isinstance(value, bool):
        return _number_field(1, value)
    return _number_field(1, 1) + _field(2, _message(_SCHEMA, value))


def _schema_or_strings(value: Any) -> bytes:
    if isinstance(value, list):
        return b"".join([_field(2, each.encode()) for each in value])
    return _field(1, _message(_SCHEMA, value))


_TEXTS: Final[dict[str, Write]] = {
    "string": str.encode,
    "bytes": b64decode,
    "quantity": _quantity,
    "int-or-string": _int_or_string,
    "time": _time,
    "micro": _time,
    "words": _words,
    "raw": _raw,
    "schema-or-list": _schema_or_list,
    "schema-or-bool": _schema_or_bool,
    "schema-or-strings": _schema_or_strings,
}
