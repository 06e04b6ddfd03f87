"""Writes protobuf by hand: fields are (number, value) pairs, and the type of a value decides how it travels."""

import struct

__all__ = ["body", "field", "message", "varint"]

Value = bytes | str | int | float


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, value: Value) -> bytes:
    """Text, bytes and messages with their length; integers and booleans as numbers; floats as eight bytes."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(*fields: tuple[int, Value]) -> bytes:
    return b"".join(field(number, value) for number, value in fields)


def body(api_version: str, kind: str, raw: bytes) -> bytes:
    """A whole request body."""
    return b"k8s\0" + message((1, message((1, api_version), (2, kind))), (2, raw), (3, ""), (4, ""))
