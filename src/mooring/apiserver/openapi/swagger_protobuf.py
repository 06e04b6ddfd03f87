"""OpenAPI v2 in protobuf, the only form that Go clients ask for.

The numbers are those of the messages of gnostic's openapi.v2. Extensions and other free values travel as YAML, of which
JSON is a part. A message that occurs twice is merged by whoever reads it, so a document is the sum of its parts.
"""

import struct
from collections.abc import Callable
from typing import Any, Final

import msgspec

from mooring.kube.objects import Object

__all__ = ["head_bytes", "path_bytes", "schema_bytes"]

_VARINT: Final = 0
_FIXED64: Final = 1
_BYTES: Final = 2

# Takes the number of the field and its value.
_Write = Callable[[int, Any], bytes]


def _varint(value: int) -> bytes:
    out = bytearray()
    # Negative numbers travel as their two's complement of 64 bits.
    value &= (1 << 64) - 1
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(data)) + data


def _text(number: int, value: str) -> bytes:
    return _field(number, value.encode())


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(int(value))


def _double(number: int, value: float) -> bytes:
    return _varint(number << 3 | _FIXED64) + struct.pack("<d", value)


def _any(number: int, value: Any) -> bytes:
    return _field(number, _text(2, msgspec.json.encode(value).decode() + "\n"))


def _each(write: _Write) -> _Write:
    return lambda number, values: b"".join(write(number, value) for value in values)


def _named(write: _Write) -> _Write:
    """A map, as a list of pairs."""
    return lambda number, values: b"".join(
        _field(number, _text(1, name) + write(2, value)) for name, value in values.items()
    )


def _inside(number_inside: int, write: _Write) -> _Write:
    """A value with one more message around it."""
    return lambda number, value: _field(number, write(number_inside, value))


class _Message:
    """A type of message: the number of each field and how it is written; keys that begin with x- are extensions."""

    def __init__(self, extensions: int, fields: dict[str, tuple[int, _Write]]) -> None:
        self.extensions = extensions
        self.fields = fields

    def data(self, obj: Object) -> bytes:
        parts = [write(number, obj[key]) for key, (number, write) in self.fields.items() if key in obj]
        parts += [
            _field(self.extensions, _text(1, key) + _any(2, value)) for key, value in obj.items() if key[:2] == "x-"
        ]
        return b"".join(parts)

    def write(self, number: int, obj: Object) -> bytes:
        return _field(number, self.data(obj))


def _type(number: int, value: str) -> bytes:
    return _field(number, _text(1, value))


def _more_properties(number: int, value: Any) -> bytes:
    return _field(number, _number(2, value) if isinstance(value, bool) else _SCHEMA.write(1, value))


_SCHEMA: Final = _Message(
    31,
    {
        "$ref": (1, _text),
        "format": (2, _text),
        "title": (3, _text),
        "description": (4, _text),
        "default": (5, _any),
        "multipleOf": (6, _double),
        "maximum": (7, _double),
        "exclusiveMaximum": (8, _number),
        "minimum": (9, _double),
        "exclusiveMinimum": (10, _number),
        "maxLength": (11, _number),
        "minLength": (12, _number),
        "pattern": (13, _text),
        "maxItems": (14, _number),
        "minItems": (15, _number),
        "uniqueItems": (16, _number),
        "maxProperties": (17, _number),
        "minProperties": (18, _number),
        "required": (19, _each(_text)),
        "enum": (20, _each(_any)),
        "additionalProperties": (21, _more_properties),
        "type": (22, _type),
    },
)
# Schemas contain schemas.
_SCHEMA.fields["items"] = (23, _inside(1, _SCHEMA.write))
_SCHEMA.fields["properties"] = (25, lambda number, values: _field(number, _named(_SCHEMA.write)(1, values)))

_BODY: Final = _Message(
    6, {"name": (2, _text), "in": (3, _text), "required": (4, _number), "schema": (5, _SCHEMA.write)}
)
_PATH_PARAMETER: Final = _Message(
    22,
    {
        "required": (1, _number),
        "in": (2, _text),
        "description": (3, _text),
        "name": (4, _text),
        "type": (5, _text),
        "uniqueItems": (19, _number),
    },
)
_QUERY_PARAMETER: Final = _Message(
    23,
    {"in": (2, _text), "description": (3, _text), "name": (4, _text), "type": (6, _text), "uniqueItems": (20, _number)},
)


def _parameter(number: int, value: Object) -> bytes:
    if value["in"] == "body":
        made = _BODY.write(1, value)
    elif value["in"] == "path":
        made = _field(2, _PATH_PARAMETER.write(4, value))
    else:
        made = _field(2, _QUERY_PARAMETER.write(3, value))
    return _field(number, _field(1, made))


_RESPONSE: Final = _Message(5, {"description": (1, _text), "schema": (2, _inside(1, _SCHEMA.write))})
_OPERATION: Final = _Message(
    13,
    {
        "description": (3, _text),
        "operationId": (5, _text),
        "produces": (6, _each(_text)),
        "consumes": (7, _each(_text)),
        "parameters": (8, _each(_parameter)),
        "responses": (9, lambda number, values: _field(number, _named(_inside(1, _RESPONSE.write))(1, values))),
    },
)
_PATH: Final = _Message(
    10,
    {
        "get": (2, _OPERATION.write),
        "put": (3, _OPERATION.write),
        "post": (4, _OPERATION.write),
        "delete": (5, _OPERATION.write),
        "patch": (8, _OPERATION.write),
        "parameters": (9, _each(_parameter)),
    },
)


def head_bytes(document: Object) -> bytes:
    """What a document says of itself."""
    info = _text(1, document["info"]["title"]) + _text(2, document["info"]["version"])
    return _text(1, document["swagger"]) + _field(2, info)


def path_bytes(name: str, item: Object) -> bytes:
    """A part of a document: one path."""
    return _field(8, _field(2, _text(1, name) + _PATH.write(2, item)))


def schema_bytes(name: str, schema: Object) -> bytes:
    """A part of a document: one definition."""
    return _field(9, _field(1, _text(1, name) + _SCHEMA.write(2, schema)))
