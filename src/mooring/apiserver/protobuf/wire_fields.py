"""Fields as bytes: a tag of number and wire type, and a value behind it. The other direction of `wire`."""

import struct

from mooring.apiserver.protobuf.wire import BYTES, FIXED64, VARINT

__all__ = ["bytes_field", "double_field", "number_field"]


def bytes_field(number: int, data: bytes) -> bytes:
    """Text, a message, or plain bytes."""
    return _varint(number << 3 | BYTES) + _varint(len(data)) + data


def number_field(number: int, value: float) -> bytes:
    """A whole number or a boolean; JSON may have written it with a point."""
    return _varint(number << 3 | VARINT) + _varint(int(value))


def double_field(number: int, value: float) -> bytes:
    return _varint(number << 3 | FIXED64) + struct.pack("<d", value)


def _varint(number: int) -> bytes:
    # Negative numbers travel as their two's complement of 64 bits.
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
