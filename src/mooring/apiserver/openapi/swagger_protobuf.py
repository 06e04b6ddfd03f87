"""OpenAPI v2 in protobuf, the only form that Go clients ask for.

The numbers are those of the messages of gnostic's openapi.v2. Extensions and other free values travel as YAML, of which
JSON is a part. A message that occurs twice is merged by whoever reads it, so a document is the sum of its parts.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from mooring.apiserver.protobuf.wire_fields import bytes_field, double_field, number_field
from mooring.kube.objects import Object

__all__ = ["head_bytes", "path_bytes", "schema_bytes"]

# Takes the number of the field and its value.
_Write = Callable[[int, Any], bytes]


def _text(number: int, value: str) -> bytes:
    return bytes_field(number, value.encode())


def _any(number: int, value: Any) -> bytes:
    return bytes_field(number, _text(2, msgspec.json.encode(value).decode() + "\n"))


def _each(write: _Write) -> _Write:
    return lambda number, values: b"".join(write(number, value) for value in values)


def _named(write: _Write) -> _Write:
    """A map, as a list of pairs."""
    return lambda number, values: b"".join(
        bytes_field(number, _text(1, name) + write(2, value)) for name, value in values.items()
    )


def _inside(number_inside: int, write: _Write) -> _Write:
    """A value with one more message around it."""
    return lambda number, value: bytes_field(number, write(number_inside, value))


class _Message:
    """A type of message: the number of each field and how it is written; keys that begin with x- are extensions."""

    def __init__(self, extensions: int, fields: dict[str, tuple[int, _Write]]) -> None:
        self.extensions = extensions
        self.fields = fields

    def data(self, obj: Object) -> bytes:
        parts = [write(number, obj[key]) for key, (number, write) in self.fields.items() if key in obj]
        parts += [
            bytes_field(self.extensions, _text(1, key) + _any(2, value))
            for key, value in obj.items()
            if key[:2] == "x-"
        ]
        return b"".join(parts)

    def write(self, number: int, obj: Object) -> bytes:
        return bytes_field(number, self.data(obj))


def _type(number: int, value: str) -> bytes:
    return bytes_field(number, _text(1, value))


def _more_properties(number: int, value: Any) -> bytes:
    return bytes_field(number, number_field(2, value) if isinstance(value, bool) else _SCHEMA.write(1, value))


_SCHEMA: Final = _Message(
    31,
    {
        "$ref": (1, _text),
        "format": (2, _text),
        "title": (3, _text),
        "description": (4, _text),
        "default": (5, _any),
        "multipleOf": (6, double_field),
        "maximum": (7, double_field),
        "exclusiveMaximum": (8, number_field),
        "minimum": (9, double_field),
        "exclusiveMinimum": (10, number_field),
        "maxLength": (11, number_field),
        "minLength": (12, number_field),
        "pattern": (13, _text),
        "maxItems": (14, number_field),
        "minItems": (15, number_field),
        "uniqueItems": (16, number_field),
        "maxProperties": (17, number_field),
        "minProperties": (18, number_field),
        "required": (19, _each(_text)),
        "enum": (20, _each(_any)),
        "additionalProperties": (21, _more_properties),
        "type": (22, _type),
    },
)
# Schemas contain schemas.
_SCHEMA.fields["items"] = (23, _inside(1, _SCHEMA.write))
_SCHEMA.fields["properties"] = (25, lambda number, values: bytes_field(number, _named(_SCHEMA.write)(1, values)))

_BODY: Final = _Message(
    6, {"name": (2, _text), "in": (3, _text), "required": (4, number_field), "schema": (5, _SCHEMA.write)}
)
_PATH_PARAMETER: Final = _Message(
    22,
    {
        "required": (1, number_field),
        "in": (2, _text),
        "description": (3, _text),
        "name": (4, _text),
        "type": (5, _text),
        "uniqueItems": (19, number_field),
    },
)
_QUERY_PARAMETER: Final = _Message(
    23,
    {
        "in": (2, _text),
        "description": (3, _text),
        "name": (4, _text),
        "type": (6, _text),
        "uniqueItems": (20, number_field),
    },
)


def _parameter(number: int, value: Object) -> bytes:
    if value["in"] == "body":
        made = _BODY.write(1, value)
    elif value["in"] == "path":
        made = bytes_field(2, _PATH_PARAMETER.write(4, value))
    else:
        made = bytes_field(2, _QUERY_PARAMETER.write(3, value))
    return bytes_field(number, bytes_field(1, made))


_RESPONSE: Final = _Message(5, {"description": (1, _text), "schema": (2, _inside(1, _SCHEMA.write))})
_OPERATION: Final = _Message(
    13,
    {
        "description": (3, _text),
        "operationId": (5, _text),
        "produces": (6, _each(_text)),
        "consumes": (7, _each(_text)),
        "parameters": (8, _each(_parameter)),
        "responses": (9, lambda number, values: bytes_field(number, _named(_inside(1, _RESPONSE.write))(1, values))),
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
    return _text(1, document["swagger"]) + bytes_field(2, info)


def path_bytes(name: str, item: Object) -> bytes:
    """A part of a document: one path."""
    return bytes_field(8, bytes_field(2, _text(1, name) + _PATH.write(2, item)))


def schema_bytes(name: str, schema: Object) -> bytes:
    """A part of a document: one definition."""
    return bytes_field(9, bytes_field(1, _text(1, name) + _SCHEMA.write(2, schema)))
