"""The messages of the API's types, built from the table that this package carries.

A line of the table is a type: its name, `@` and the apiVersion where it is sent by itself, and its fields as number,
JSON name and type. `[T]` is a list of T and `{T}` a map from text to T. Of the marks behind a type, `*` says that even
an empty value is shown once it is sent, and `!` that the field is shown when it is not. `+` is a message whose fields
stand among those of the one around it. A line is read when a kind first needs it.
"""

from functools import cache
from pkgutil import get_data
from typing import Any, Final

from mooring.apiserver.protobuf.values import NUMBERS, TEXTS, schema_or_bool, schema_or_list, schema_or_strings
from mooring.apiserver.protobuf.wire import (
    BYTES,
    FIXED64,
    INLINE,
    KEEP,
    LIST,
    MAP,
    MESSAGE,
    OMIT,
    PACKED,
    VARINT,
    Message,
    Read,
    WireField,
    WireReader,
)

__all__ = ["fields_of", "message_of", "type_of"]

_SCHEMA: Final = "apiextensions.v1.JSONSchemaProps"
_CHOICES: Final = {
    "schema-or-list": schema_or_list,
    "schema-or-bool": schema_or_bool,
    "schema-or-strings": schema_or_strings,
}
# What plain values look like when they are shown and empty.
_EMPTY: Final[dict[str, Any]] = {"string": "", "int32": 0, "int64": 0, "double": 0, "bool": False}
# Kinds that every API group takes in its own name.
_EVERYWHERE: Final = "*"

_messages: Final[dict[str, Message]] = {}


def message_of(api_version: str, kind: str) -> Message | None:
    """The message of a kind; None when the table has no such kind."""
    name = type_of(api_version, kind)
    return None if name is None else _message(name)


def type_of(api_version: str, kind: str) -> str | None:
    """The name of a kind's type; None when the table has no such kind."""
    kinds = _kinds()
    return kinds.get((api_version, kind)) or kinds.get((_EVERYWHERE, kind))


def fields_of(name: str) -> list[tuple[int, str, str]]:
    """The fields of a type as number, JSON name and type with its marks."""
    parts = (field.split(" ") for field in _lines()[name][1].split("; ") if field)
    return [(int(number), key, kind) for number, key, kind in parts]


@cache
def _lines() -> dict[str, tuple[str, str]]:
    """For each type, the apiVersion it is sent under and the text of its fields."""
    data = get_data("mooring.apiserver.protobuf", "data/fields.txt")
    assert data is not None, "The package has lost its table of protobuf fields."
    lines = {}
    for line in data.decode().splitlines():
        if line.startswith("#"):
            continue
        head, _, fields = line.partition(": ")
        name, _, version = head.rstrip(":").partition(" @")
        lines[name] = version, fields
    return lines


@cache
def _kinds() -> dict[tuple[str, str], str]:
    return {(version, name.rpartition(".")[2]): name for name, (version, _) in _lines().items() if version}


def _message(name: str) -> Message:
    found = _messages.get(name)
    if found is None:
        # Known before its fields are, because a schema contains schemas.
        found = _messages[name] = Message(name)
        for number, key, kind in fields_of(name):
            _add(found, number, key, kind)
    return found


def _add(message: Message, number: int, key: str, text: str) -> None:
    kind = text.rstrip("*!")
    kept, shown = "*" in text, text.endswith("!")
    if key == "+":
        _add_inline(message, number, kind)
        return
    if kind.startswith("["):
        _add_list(message, number, key, kind[1:-1])
    elif kind.startswith("{"):
        message.tags[number << 3 | BYTES] = WireField(MAP, key, _reader(kind[1:-1]))
    elif kind in NUMBERS:
        wire = FIXED64 if kind == "double" else VARINT
        message.tags[number << 3 | wire] = WireField(KEEP if kept or shown else OMIT, key, NUMBERS[kind])
    elif "." in kind:
        message.tags[number << 3 | BYTES] = WireField(MESSAGE, key, _nothing, _message(kind))
    else:
        message.tags[number << 3 | BYTES] = WireField(KEEP if kept or shown else OMIT, key, _reader(kind))
    if shown:
        message.blank[key] = None if kept else _EMPTY.get(kind)
        if not kept and kind not in _EMPTY and kind[0] not in "[{" and kind != "bytes":
            message.structs.append((key, _reader(kind)))


def _add_inline(message: Message, number: int, kind: str) -> None:
    inner = _message(kind)
    message.tags[number << 3 | BYTES] = WireField(INLINE, "", _nothing, inner)
    message.blank |= inner.blank
    message.structs += inner.structs


def _add_list(message: Message, number: int, key: str, kind: str) -> None:
    if kind in NUMBERS:
        message.tags[number << 3 | VARINT] = WireField(LIST, key, NUMBERS[kind])
        message.tags[number << 3 | BYTES] = WireField(PACKED, key, NUMBERS[kind])
    else:
        message.tags[number << 3 | BYTES] = WireField(LIST, key, _reader(kind))


def _reader(kind: str) -> Read:
    """How a value that has a length is read."""
    if kind in TEXTS:
        return TEXTS[kind]
    if kind in _CHOICES:
        return _CHOICES[kind](_reader(_SCHEMA))
    message = _message(kind)
    return lambda reader, start, stop, depth: reader.message(message, start, stop, depth)


def _nothing(reader: WireReader, start: int, stop: int, depth: int) -> None:
    """Messages are read by their table."""
