"""A connection after an HTTP upgrade: bytes both ways, with backpressure, in another protocol than HTTP.

The limits of HTTP (a time for each request, a sweep over idle connections) do not hold for it: a shell may be silent
for hours. What it costs meanwhile is its socket and one waiting task; keep-alive probes of the kernel find a peer that
died.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

__all__ = ["BytePipe", "ByteStream", "join_streams"]

# With more unread bytes than this, reading from the socket pauses, so the peer has to wait.
_HIGH_WATER_BYTES: Final = 256 * 1024
_PROBE_AFTER_SECONDS: Final = 60
_PROBE_EVERY_SECONDS: Final = 15


class BytePipe(Protocol):
    """Whatever bytes can be read from and written to, such as the messages of a WebSocket."""

    async def read(self) -> bytes: ...
    async def write(self, data: bytes) -> None: ...
    def close(self) -> None: ...


class ByteStream(asyncio.Protocol):
    """Takes over a transport. `early` came together with the head of HTTP; `ended` is called once, at the end."""

    def __init__(
        self, transport: asyncio.Transport, early: bytes = b"", ended: Callable[[ByteStream], object] | None = None
    ) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._parts = [early] if early else []
        self._size = len(early)
        self._ended = ended
        self._over = False
        self._reading = True
        self._writable = asyncio.Event()
        self._writable.set()
        self._waiter: asyncio.Future[None] | None = None
        _probe(transport)
        transport.set_protocol(self)

    async def read(self) -> bytes:
        """What has come, as soon as there is something; empty at the end."""
        while not self._parts:
            if self._over:
                return b""
            self._waiter = self._loop.create_future()
            await self._waiter
        data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts, self._size = [], 0
        if not self._reading and not self._over:
            self._reading = True
            self._transport.resume_reading()
        return data

    async def write(self, data: bytes) -> None:
        """Send, and return when the peer has read enough of it. Raises ConnectionResetError when it has gone."""
        if self._over or self._transport.is_closing():
            raise ConnectionResetError("the other end of the stream has gone")
        self._transport.write(data)
        await self._writable.wait()

    def close(self) -> None:
        """Send what is left and read nothing more; `read` comes to its end at once."""
        self._end()
        self._transport.close()

    def abort(self) -> None:
        self._end()
        self._transport.abort()

    # What the event loop calls

    def data_received(self, data: bytes) -> None:
        if self._over:
            return
        self._parts.append(data)
        self._size += len(data)
        if self._size > _HIGH_WATER_BYTES and self._reading:
            self._reading = False
            self._transport.pause_reading()
        self._wake()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._end()
        if self._ended is not None:
            self._ended(self)
            self._ended = None

    def _end(self) -> None:
        self._over = True
        self._writable.set()
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


async def join_streams(one: BytePipe, other: BytePipe) -> None:
    """Pass bytes both ways until either end has gone; then both are closed."""
    ways = [asyncio.ensure_future(_pass_on(one, other)), asyncio.ensure_future(_pass_on(other, one))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        one.close()
        other.close()


async def _pass_on(source: BytePipe, target: BytePipe) -> None:
    with suppress(ConnectionResetError):
        while data := await source.read():
            await target.write(data)


def _probe(transport: asyncio.Transport) -> None:
    """Have the kernel find out whether a silent peer still lives."""
    found = transport.get_extra_info("socket")
    if found is None:
        return
    with suppress(OSError, AttributeError):
        found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _PROBE_AFTER_SECONDS)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _PROBE_EVERY_SECONDS)
