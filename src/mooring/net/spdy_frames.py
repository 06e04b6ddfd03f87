"""SPDY/3.1 frames, as far as port-forward and remote commands need them: from bytes to frames and back, without I/O.

Browsers gave SPDY up years ago; clients of Kubernetes still speak it, inside of WebSocket messages or by itself. They
neither send nor heed window updates, so backpressure is that of the connection.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from typing import Final, NamedTuple

__all__ = [
    "DICTIONARY",
    "GoAway",
    "OpenStream",
    "Ping",
    "ResetStatus",
    "ResetStream",
    "SpdyEncoder",
    "SpdyError",
    "SpdyFrame",
    "SpdyReader",
    "StreamData",
    "StreamReply",
]

# Both ends compress headers with these words as a common past; the lengths stand before most of them.
_WORDS: Final = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow "
    "authorization cache-control connection content-base content-encoding content-language content-length "
    "content-location content-md5 content-range content-type date etag expect expires from host if-match "
    "if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma "
    "proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie "
    "keep-alive origin"
)
_REST: Final = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized"
    "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,"
    "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)
DICTIONARY: Final = (
    b"".join(struct.pack(">I", len(word)) + word.replace("_", " ").encode() for word in _WORDS.split()) + _REST.encode()
)

_VERSION: Final = 3
_CONTROL: Final = 0x80
_FIN: Final = 0x01
_SYN_STREAM, _SYN_REPLY, _RST_STREAM, _PING, _GOAWAY, _HEADERS = 1, 2, 3, 6, 7, 8
_MOST_CONTROL_BYTES: Final = 64 * 1024
_MOST_HEADER_BYTES: Final = 256 * 1024
_MOST_DATA_BYTES: Final = 4 * 1024 * 1024


class SpdyError(Exception):
    """The peer breaks the protocol; the connection cannot go on."""


class ResetStatus:
    PROTOCOL_ERROR: Final = 1
    REFUSED_STREAM: Final = 3
    CANCEL: Final = 5
    INTERNAL_ERROR: Final = 6


class OpenStream(NamedTuple):
    stream: int
    headers: Mapping[str, str]
    final: bool = False


class StreamReply(NamedTuple):
    stream: int
    headers: Mapping[str, str]
    final: bool = False


class ResetStream(NamedTuple):
    stream: int
    status: int


class Ping(NamedTuple):
    number: int


class GoAway(NamedTuple):
    """GOAWAY: no stream after `last` is served."""

    last: int


class StreamData(NamedTuple):
    stream: int
    data: bytes
    final: bool = False


SpdyFrame = OpenStream | StreamReply | ResetStream | Ping | GoAway | StreamData


class SpdyReader:
    """Headers are one compressed stream over all frames, so every one that comes has to be read."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)

    def feed(self, data: bytes) -> list[SpdyFrame]:
        """The frames that are complete now; those that nobody needs are left out. Raises SpdyError."""
        self._buffer += data
        found: list[SpdyFrame] = []
        while len(self._buffer) >= 8:
            size = int.from_bytes(self._buffer[5:8])
            control = bool(self._buffer[0] & _CONTROL)
            if size > (_MOST_CONTROL_BYTES if control else _MOST_DATA_BYTES):
                raise SpdyError(f"a frame has {size} bytes, which is more than is taken")
            if len(self._buffer) < 8 + size:
                break
            head, payload = bytes(self._buffer[:8]), bytes(self._buffer[8 : 8 + size])
            del self._buffer[: 8 + size]
            frame = self._control(head, payload) if control else _data(head, payload)
            if frame is not None:
                found.append(frame)
        return found

    def _control(self, head: bytes, payload: bytes) -> SpdyFrame | None:
        version, kind = int.from_bytes(head[:2]) & 0x7FFF, int.from_bytes(head[2:4])
        if version != _VERSION:
            raise SpdyError(f"a frame is of version {version}, and only {_VERSION} is spoken")
        final = bool(head[4] & _FIN)
        try:
            if kind == _SYN_STREAM:
                return OpenStream(_number(payload), self._headers(payload[10:]), final)
            if kind == _SYN_REPLY:
                return StreamReply(_number(payload), self._headers(payload[4:]), final)
            if kind == _HEADERS:
                self._headers(payload[4:])
            elif kind == _RST_STREAM:
                return ResetStream(_number(payload), _number(payload, 4))
            elif kind == _PING:
                return Ping(_number(payload))
            elif kind == _GOAWAY:
                return GoAway(_number(payload))
        except (struct.error, zlib.error, UnicodeDecodeError) as error:
            raise SpdyError(f"a frame of type {kind} cannot be read: {error}") from None
        # Settings and window updates change nothing here.
        return None

    def _headers(self, packed: bytes) -> dict[str, str]:
        block = self._inflate.decompress(packed, _MOST_HEADER_BYTES)
        if self._inflate.unconsumed_tail:
            raise SpdyError(f"headers have more than {_MOST_HEADER_BYTES} bytes")
        (count,), place = struct.unpack_from(">I", block), 4
        found = {}
        for _ in range(count):
            name, place = _text(block, place)
            found[name.lower()], place = _text(block, place)
        return found


def _data(head: bytes, payload: bytes) -> StreamData:
    return StreamData(int.from_bytes(head[:4]), payload, bool(head[4] & _FIN))


def _number(payload: bytes, place: int = 0) -> int:
    found: int = struct.unpack_from(">I", payload, place)[0]
    return found & 0x7FFFFFFF


def _text(block: bytes, place: int) -> tuple[str, int]:
    (size,) = struct.unpack_from(">I", block, place)
    end = place + 4 + size
    if end > len(block):
        raise SpdyError("headers end in the middle of a word")
    return block[place + 4 : end].decode(), end


class SpdyEncoder:
    def __init__(self) -> None:
        self._deflate = zlib.compressobj(zdict=DICTIONARY)

    def encode(self, frame: SpdyFrame) -> bytes:
        match frame:
            case StreamData(stream, data, final):
                return struct.pack(">II", stream, (_FIN << 24 if final else 0) | len(data)) + data
            case OpenStream(stream, headers, final):
                return _control_frame(_SYN_STREAM, struct.pack(">IIH", stream, 0, 0) + self._packed(headers), final)
            case StreamReply(stream, headers, final):
                return _control_frame(_SYN_REPLY, struct.pack(">I", stream) + self._packed(headers), final)
            case ResetStream(stream, status):
                return _control_frame(_RST_STREAM, struct.pack(">II", stream, status))
            case Ping(number):
                return _control_frame(_PING, struct.pack(">I", number))
            case GoAway(last):
                return _control_frame(_GOAWAY, struct.pack(">II", last, 0))

    def _packed(self, headers: Mapping[str, str]) -> bytes:
        words = [word.encode() for pair in headers.items() for word in pair]
        block = struct.pack(">I", len(headers)) + b"".join(struct.pack(">I", len(word)) + word for word in words)
        return self._deflate.compress(block) + self._deflate.flush(zlib.Z_SYNC_FLUSH)


def _control_frame(kind: int, payload: bytes, final: bool = False) -> bytes:
    head = struct.pack(">HHI", _CONTROL << 8 | _VERSION, kind, (_FIN << 24 if final else 0) | len(payload))
    return head + payload
