"""WebSocket frames (RFC 6455, section 5): from bytes to frames and back, without I/O."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Final, NamedTuple

__all__ = ["MOST_MESSAGE_BYTES", "Frame", "FrameReader", "Opcode", "WebSocketError", "close_payload", "frame_bytes"]

# The longest message that is taken in: the real servers' is twice this.
MOST_MESSAGE_BYTES: Final = 16 * 1024 * 1024
_MOST_CONTROL_BYTES: Final = 125
_FINAL, _RESERVED, _OPCODE = 0x80, 0x70, 0x0F
_MASKED, _LENGTH = 0x80, 0x7F
_TWO_BYTES, _EIGHT_BYTES = 126, 127


class Opcode(IntEnum):
    CONTINUATION = 0x0
    TEXT = 0x1
    BINARY = 0x2
    CLOSE = 0x8
    PING = 0x9
    PONG = 0xA


class WebSocketError(Exception):
    """The peer breaks the protocol. `code` is what the connection is closed with."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Frame(NamedTuple):
    opcode: Opcode
    payload: bytes
    final: bool = True


class FrameReader:
    """`masked` is whether the peer has to mask its frames: clients must, and servers must not."""

    def __init__(self, *, masked: bool, most_bytes: int = MOST_MESSAGE_BYTES) -> None:
        self._masked = masked
        self._most_bytes = most_bytes
        self._buffer = bytearray()
        # How many bytes are needed before another look at the buffer is worth it.
        self._needed = 2

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are complete now. Raises WebSocketError."""
        self._buffer += data
        found = []
        while len(self._buffer) >= self._needed:
            frame = self._next()
            if frame is None:
                break
            found.append(frame)
        return found

    def _next(self) -> Frame | None:
        buffer = self._buffer
        first, second = buffer[0], buffer[1]
        size, start = self._size(second & _LENGTH)
        if start == 0:
            return None
        opcode = self._checked(first, second, size)
        end = start + (4 if self._masked else 0) + size
        if len(buffer) < end:
            self._needed = end
            return None
        self._needed = 2
        payload = bytes(buffer[end - size : end])
        if self._masked:
            payload = _masked(payload, bytes(buffer[start : start + 4]))
        del buffer[:end]
        return Frame(opcode, payload, bool(first & _FINAL))

    def _size(self, length: int) -> tuple[int, int]:
        """How long the payload is, and where what follows its length begins; 0 when that has not come yet."""
        if length < _TWO_BYTES:
            return length, 2
        start, form = (4, ">H") if length == _TWO_BYTES else (10, ">Q")
        if len(self._buffer) < start:
            self._needed = start
            return 0, 0
        return struct.unpack_from(form, self._buffer, 2)[0], start

    def _checked(self, first: int, second: int, size: int) -> Opcode:
        if first & _RESERVED:
            raise WebSocketError(1002, "a frame has a reserved bit set")
        if bool(second & _MASKED) != self._masked:
            raise WebSocketError(
                1002, "a client's frame is not masked" if self._masked else "a server's frame is masked"
            )
        try:
            opcode = Opcode(first & _OPCODE)
        except ValueError:
            raise WebSocketError(1002, f"a frame has the unknown opcode {first & _OPCODE}") from None
        if opcode >= Opcode.CLOSE and (size > _MOST_CONTROL_BYTES or not first & _FINAL):
            raise WebSocketError(1002, "a control frame is too long or fragmented")
        if size > self._most_bytes:
            raise WebSocketError(1009, f"a frame has {size} bytes, and {self._most_bytes} is the limit")
        return opcode


def frame_bytes(opcode: Opcode, payload: bytes, mask: bytes = b"", *, final: bool = True) -> bytes:
    """A frame as it goes over the wire; `mask` has four bytes where a client sends it."""
    size = len(payload)
    first = opcode | (_FINAL if final else 0)
    masked = _MASKED if mask else 0
    if size < _TWO_BYTES:
        head = bytes((first, masked | size))
    elif size < 1 << 16:
        head = struct.pack(">BBH", first, masked | _TWO_BYTES, size)
    else:
        head = struct.pack(">BBQ", first, masked | _EIGHT_BYTES, size)
    return head + mask + _masked(payload, mask) if mask else head + payload


def close_payload(code: int, reason: str) -> bytes:
    """The payload of a closing frame; a longer reason is cut."""
    return struct.pack(">H", code) + reason.encode()[: _MOST_CONTROL_BYTES - 2]


def _masked(data: bytes, mask: bytes) -> bytes:
    # As one large number: two hundred times faster than byte by byte.
    size = len(data)
    repeated = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(data) ^ int.from_bytes(repeated)).to_bytes(size)
