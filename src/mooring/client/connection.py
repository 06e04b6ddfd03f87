"""One HTTP/1.1 connection to an API server: a request at a time, its answer read whole or as a stream.

Controllers send thousands of small requests, and a general HTTP library spends ten times more on each than the kernel
and the parser do together (docs/decisions/http-client.md). The parser is httptools, in C; what is left to do is small
because API servers are: no redirects, no cookies, no compressed bodies.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Final, NamedTuple, cast

import httptools

from mooring.kube.errors import MooringError

# Beyond this much that nobody has read yet, the server is made to wait.
_HIGH_WATER: Final = 4 * 1024 * 1024


class Cut(MooringError):
    """A connection that ended before the answer did. `begun` says whether any of the answer had come."""

    def __init__(self, message: str, *, begun: bool) -> None:
        super().__init__(message)
        self.begun = begun


class Answer(NamedTuple):
    status: int
    headers: dict[bytes, bytes]
    body: bytes


class Connection(asyncio.Protocol):
    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._why_closed = ""
        # A connection that has served before may be closed by the server while a request is on its way.
        self.reused = False
        self._reset()

    def _reset(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._headers: dict[bytes, bytes] = {}
        self._parts: list[bytes] = []
        self._size = 0
        self._begun = self._head_read = self._complete = self._keeps_alive = False
        self._paused = False
        # Whether whoever waits wants to know of each part, or only of the end.
        self._streams = False

    @property
    def usable(self) -> bool:
        """Whether another request can be sent."""
        transport = self._transport
        return transport is not None and not transport.is_closing() and self._complete and self._keeps_alive

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    # Asking

    async def ask(self, data: bytes, seconds: float) -> Answer:
        """Send a request and read its whole answer."""
        self._send(data)
        async with asyncio.timeout(seconds):
            while not self._complete:
                await self._wait()
        return Answer(self._parser.get_status_code(), self._headers, b"".join(self._parts))

    async def open(self, data: bytes, seconds: float) -> int:
        """Send a request and read the head of its answer; the rest is read with `parts` or `rest`."""
        self._send(data)
        self._streams = True
        async with asyncio.timeout(seconds):
            while not self._head_read:
                await self._wait()
        return self._parser.get_status_code()

    async def parts(self, idle: float) -> AsyncGenerator[bytes]:
        """The body as it arrives. Raises TimeoutError after so many seconds of silence, Cut if it breaks off."""
        while True:
            if self._parts:
                data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
                self._parts, self._size = [], 0
                if self._paused and self._transport is not None:
                    self._paused = False
                    self._transport.resume_reading()
                yield data
            elif self._complete:
                return
            else:
                async with asyncio.timeout(idle):
                    await self._wait()

    async def rest(self, seconds: float) -> Answer:
        """The whole answer of a request that was sent with `open`."""
        self._streams = False
        async with asyncio.timeout(seconds):
            while not self._complete:
                await self._wait()
        return Answer(self._parser.get_status_code(), self._headers, b"".join(self._parts))

    def _send(self, data: bytes) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            raise Cut(self._why_closed or "the connection is closed", begun=False)
        if self._complete:
            self._reset()
            self.reused = True
        transport.write(data)

    async def _wait(self) -> None:
        transport = self._transport
        if transport is None:
            raise Cut(self._why_closed, begun=self._begun)
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not every event loop derives its transports from asyncio's.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._begun = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._why_closed = f"the server does not speak HTTP ({error})"
            self.close()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._why_closed = self._why_closed or (str(error) if error else "the server closed the connection")
        self._wake()

    # What the parser calls

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        self._head_read = True
        if self._streams:
            self._wake()

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)
        if self._streams:
            self._size += len(body)
            if self._size > _HIGH_WATER and not self._paused and self._transport is not None:
                self._paused = True
                self._transport.pause_reading()
            self._wake()

    def on_message_complete(self) -> None:
        self._complete = True
        # The parser knows only now: a moment later it waits for the next answer.
        self._keeps_alive = self._parser.should_keep_alive()
        self._wake()
