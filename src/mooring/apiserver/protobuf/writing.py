"""From JSON-shaped objects to protobuf, for the few clients that accept nothing else.

It is the other direction of `wire`, by the same table. What an object does not say is not written: in Go both are the
same. The kinds of values that have a JSON form of their own are those of `values`.
"""

from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

import msgspec

from mooring.apiserver.protobuf.tables import fields_of, type_of
from mooring.apiserver.protobuf.wire_fields import bytes_field, double_field, number_field
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
    described = bytes_field(1, api_version.encode()) + bytes_field(2, kind.encode())
    return (
        _PREFIX
        + bytes_field(1, described)
        + bytes_field(2, _message(name, obj))
        + bytes_field(3, b"")
        + bytes_field(4, b"")
    )


def watch_frame(event: str, obj: Object) -> bytes:
    """An event of a watch: its length in four bytes, its type, and the object in its envelope."""
    made = bytes_field(1, event.encode()) + bytes_field(2, bytes_field(1, encode_object(obj) or b""))
    return len(made).to_bytes(_FRAME_BYTES, "big") + made


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
    return lambda obj: bytes_field(number, _message(kind, obj))


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
        return b"".join(
            [bytes_field(number, bytes_field(1, name.encode()) + bytes_field(2, data)) for name, data in entries]
        )

    return field


def _value(number: int, kind: str) -> Write:
    """How a value is written with its tag."""
    if kind == "double":
        return lambda value: double_field(number, value)
    if kind in ("bool", "int32", "int64"):
        return lambda value: number_field(number, int(value))
    write = _writer(kind)
    return lambda value: bytes_field(number, write(value))


@cache
def _writer(kind: str) -> Write:
    if kind in _TEXTS:
        return _TEXTS[kind]
    return lambda value: _message(kind, value)


# Values


def _quantity(value: Any) -> bytes:
    return bytes_field(1, str(value).encode())


def _int_or_string(value: Any) -> bytes:
    if isinstance(value, str):
        return number_field(1, 1) + number_field(2, 0) + bytes_field(3, value.encode())
    return number_field(1, 0) + number_field(2, value) + bytes_field(3, b"")


def _time(value: str) -> bytes:
    passed = datetime.fromisoformat(value) - _EPOCH
    seconds = passed.days * 86_400 + passed.seconds
    return number_field(1, seconds) + number_field(2, passed.microseconds * 1000)


def _words(value: list[str]) -> bytes:
    return b"".join([bytes_field(1, each.encode()) for each in value])


def _raw(value: Any) -> bytes:
    return bytes_field(1, msgspec.json.encode(value))


def _schema_or_list(value: Any) -> bytes:
    if isinstance(value, list):
        return b"".join([bytes_field(2, _message(_SCHEMA, each)) for each in value])
    return bytes_field(1, _message(_SCHEMA, value))


def _schema_or_bool(value: Any) -> bytes:
    if isinstance(value, bool):
        return number_field(1, value)
    return number_field(1, 1) + bytes_field(2, _message(_SCHEMA, value))


def _schema_or_strings(value: Any) -> bytes:
    if isinstance(value, list):
        return b"".join([bytes_field(2, each.encode()) for each in value])
    return bytes_field(1, _message(_SCHEMA, value))


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
