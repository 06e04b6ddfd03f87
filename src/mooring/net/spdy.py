"""A SPDY/3.1 connection whose client opens streams: several streams of bytes over one, for both sides.

What carries it is anything that bytes can be read from and written to: a connection that left HTTP for SPDY, or the
messages of a WebSocket.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from mooring.net.byte_stream import BytePipe
from mooring.net.spdy_frames import (
    GoAway,
    OpenStream,
    Ping,
    ResetStatus,
    ResetStream,
    SpdyEncoder,
    SpdyError,
    SpdyFrame,
    SpdyReader,
    StreamData,
    StreamReply,
)
from mooring.net.websocket import WebSocket

__all__ = ["SpdySession", "SpdyStream", "WebSocketPipe"]

_MOST_STREAMS: Final = 1024
# A stream with more unread bytes than this makes the whole connection wait, for there are no windows.
_HIGH_WATER_BYTES: Final = 1024 * 1024
# A client that went without a word is found by the write that fails.
_PING_SECONDS: Final = 10.0


class WebSocketPipe:
    """The messages of a WebSocket as one stream of bytes."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def read(self) -> bytes:
        while (message := await self._socket.receive()) is not None:
            if message:
                return message
        return b""

    async def write(self, data: bytes) -> None:
        await self._socket.send(data)

    def close(self) -> None:
        self._socket.abandon()


class SpdyStream:
    """One stream that the client has opened. A server answers it with `reply` or `reset`."""

    def __init__(self, session: SpdySession, number: int, headers: Mapping[str, str]) -> None:
        self.number = number
        self.headers = headers
        self._session = session
        self._parts: list[bytes] = []
        self._size = 0
        # Whether it ended before the peer had sent everything.
        self.cut = False
        # Whether the peer sends nothing more, and whether this end does.
        self._received = self._sent = False
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    async def reply(self) -> None:
        await self._session.send(StreamReply(self.number, {}))

    async def read(self) -> bytes:
        """What has come, as soon as there is something; empty at the end."""
        while not self._parts and not self._received:
            self._news.clear()
            await self._news.wait()
        data, self._parts, self._size = b"".join(self._parts), [], 0
        self._room.set()
        return data

    async def write(self, data: bytes) -> None:
        """Raises ConnectionResetError when the client has gone or wants no more of it."""
        if self._sent:
            raise ConnectionResetError("the stream is closed")
        await self._session.send(StreamData(self.number, data))

    async def finish(self) -> None:
        """Send nothing more; the client may."""
        if not self._sent:
            self._sent = True
            with suppress(ConnectionResetError):
                await self._session.send(StreamData(self.number, b"", final=True))
            self._forget()

    async def reset(self, status: int = ResetStatus.CANCEL) -> None:
        """Neither end sends anything more."""
        self.end(cut=True)
        with suppress(ConnectionResetError):
            await self._session.send(ResetStream(self.number, status))

    # For the session

    async def take(self, data: bytes) -> None:
        if data and not self._received:
            self._parts.append(data)
            self._size += len(data)
            self._news.set()
            if self._size > _HIGH_WATER_BYTES:
                self._room.clear()
                await self._room.wait()

    def end(self, *, cut: bool = False) -> None:
        """The client sends nothing more; with `cut` it takes nothing more either."""
        self.cut = self.cut or (cut and not self._received)
        self._received = True
        self._sent = self._sent or cut
        self._news.set()
        self._room.set()
        self._forget()

    def _forget(self) -> None:
        if self._received and self._sent:
            self._session.streams.pop(self.number, None)


class SpdySession:
    """`client` says which side this is: clients have odd numbers, and servers even ones."""

    def __init__(self, pipe: BytePipe, *, client: bool = False) -> None:
        self.streams: dict[int, SpdyStream] = {}
        self._first = 1 if client else 2
        self._next_stream = self._first
        self._pipe = pipe
        self._reader, self._encoder = SpdyReader(), SpdyEncoder()
        self._opened: asyncio.Queue[SpdyStream | None] = asyncio.Queue()
        self._over = False

    async def accept(self) -> SpdyStream | None:
        """The next stream that the client opens; None at the end of the connection."""
        return await self._opened.get()

    async def open(self, headers: Mapping[str, str]) -> SpdyStream:
        """A stream of this end's own. Raises ConnectionResetError when the peer has gone."""
        stream = self.streams[self._next_stream] = SpdyStream(self, self._next_stream, headers)
        self._next_stream += 2
        await self.send(OpenStream(stream.number, headers))
        return stream

    async def send(self, frame: SpdyFrame) -> None:
        """Raises ConnectionResetError when the client has gone."""
        if self._over:
            raise ConnectionResetError("the SPDY connection is closed")
        # Encoded and written in one go: headers are compressed in the order in which they are sent.
        await self._pipe.write(self._encoder.encode(frame))

    async def run(self) -> None:
        """Read until the connection ends or is cancelled; all streams end with it."""
        pings = asyncio.create_task(self._ping())
        try:
            while data := await self._pipe.read():
                for frame in self._reader.feed(data):
                    await self._take(frame)
        except (SpdyError, ConnectionResetError):
            pass
        finally:
            self.close()
            pings.cancel()
            await asyncio.gather(pings, return_exceptions=True)

    def close(self) -> None:
        if not self._over:
            self._over = True
            for stream in tuple(self.streams.values()):
                stream.end(cut=True)
            self._opened.put_nowait(None)
            self._pipe.close()

    async def _take(self, frame: SpdyFrame) -> None:
        match frame:
            case OpenStream(number, headers, final):
                await self._open(number, headers, final)
            case StreamData(number, data, final):
                if (stream := self.streams.get(number)) is not None:
                    await stream.take(data)
                    if final:
                        stream.end()
            case ResetStream(number):
                if (stream := self.streams.get(number)) is not None:
                    stream.end(cut=True)
            case Ping(number):
                if number % 2 != self._first % 2:
                    await self.send(frame)
            case GoAway() | StreamReply():
                return

    async def _open(self, number: int, headers: Mapping[str, str], final: bool) -> None:
        if number in self.streams or len(self.streams) >= _MOST_STREAMS:
            await self.send(ResetStream(number, ResetStatus.REFUSED_STREAM))
            return
        stream = self.streams[number] = SpdyStream(self, number, headers)
        if final:
            stream.end()
        self._opened.put_nowait(stream)

    async def _ping(self) -> None:
        number = self._first
        with suppress(ConnectionResetError):
            while True:
                await asyncio.sleep(_PING_SECONDS)
                await self.send(Ping(number))
                number += 2
        self.close()
