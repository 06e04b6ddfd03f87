"""HTTP/1.1 on one connection of a client: a request at a time, its answer read whole or as a stream.

Controllers send thousands of small requests, and a general HTTP library spends ten times more on each than the kernel
and the parser do together (docs/decisions/http-client.md). The parser is httptools, in C; what is left to do is small
because the servers are API servers, kubelets and webhooks: no cookies, no compressed bodies.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Final, NamedTuple, cast

import httptools

from mooring.kube.errors import MooringError
from mooring.net.byte_stream import ByteStream

__all__ = ["ClientConnection", "ConnectionCut", "HttpResponse", "MalformedResponse", "request_bytes"]

# With more unread bytes than this, reading from the socket pauses, so the server has to wait.
_HIGH_WATER_BYTES: Final = 4 * 1024 * 1024
_SWITCHING: Final = 101


class ConnectionCut(MooringError):
    """A connection that ended before the response was complete.

    `begun` says whether any of the answer had come, `error` why it ended; None where the server just closed it.
    """

    def __init__(self, message: str, *, begun: bool, error: Exception | None = None) -> None:
        super().__init__(message)
        self.begun = begun
        self.error = error


class MalformedResponse(ConnectionCut):
    """A response that is not HTTP, or larger than `most_bytes`."""


class HttpResponse(NamedTuple):
    status: int
    headers: dict[bytes, bytes]
    body: bytes


def request_bytes(method: str, target: str, headers: Mapping[str, str | tuple[str, ...]], body: bytes = b"") -> bytes:
    """A request as it goes over the wire. A header with several values is sent once with each."""
    lines = [f"{method} {target} HTTP/1.1"]
    for name, value in headers.items():
        lines += [f"{name}: {value}"] if isinstance(value, str) else [f"{name}: {each}" for each in value]
    if body or method == "POST":
        lines.append(f"Content-Length: {len(body)}")
    breaks = len(lines) + 1
    lines += ("", "")
    head = "\r\n".join(lines)
    if head.count("\n") != breaks or head.count("\r") != breaks:
        raise MooringError(f"{method} {target} has a line break in a header; look at the token in use")
    return head.encode() + body


class ClientConnection(asyncio.Protocol):
    """`most_bytes` is how long the whole answer to `ask` may be; None where the server is trusted."""

    def __init__(self, most_bytes: int | None = None) -> None:
        self._most_bytes = most_bytes
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._why_closed: ConnectionCut | None = None
        # A connection that has served before may be closed by the server while a request is on its way.
        self.reused = False
        # Whether a request waits for its answer.
        self._asked = False
        self._reset()

    def _reset(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._headers: dict[bytes, bytes] = {}
        self._parts: list[bytes] = []
        self._size = self._status = 0
        self._begun = self._head_read = self._complete = self._keeps_alive = False
        self._paused = False
        # What came after the head of an answer that switches protocols; None while there is none.
        self._early: bytes | None = None
        # Whether the one who waits wants to know of each part, or only of the end.
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

    async def ask(self, data: bytes, seconds: float | None = None) -> HttpResponse:
        """Send a request and read its whole answer. Raises ConnectionCut, or TimeoutError where there is a limit."""
        self._send(data)
        return await self._whole(seconds)

    async def open(self, data: bytes, seconds: float | None = None) -> HttpResponse:
        """Send a request and read the head of its answer; the rest is read with `parts` or `rest`."""
        self._send(data)
        self._streams = True
        timer = self._timer(seconds)
        try:
            while not self._head_read:
                await self._news()
        finally:
            if timer is not None:
                timer.cancel()
        return HttpResponse(self._status, self._headers, b"")

    async def parts(self, idle: float | None = None) -> AsyncGenerator[bytes]:
        """The body as it arrives. Raises TimeoutError after `idle` seconds without bytes, ConnectionCut if cut."""
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
                timer = self._timer(idle)
                try:
                    await self._news()
                finally:
                    if timer is not None:
                        timer.cancel()

    def upgraded(self) -> ByteStream:
        """The connection as a stream of bytes, after an answer of 101. Raises ConnectionCut if it has gone."""
        if self._transport is None or self._early is None:
            raise self._why_closed or ConnectionCut("the server did not switch protocols", begun=True)
        return ByteStream(self._transport, self._early)

    async def rest(self, seconds: float | None = None) -> HttpResponse:
        """The whole answer to a request that was sent with `open`."""
        self._streams = False
        return await self._whole(seconds)

    async def _whole(self, seconds: float | None) -> HttpResponse:
        timer = self._timer(seconds)
        try:
            while not self._complete:
                await self._news()
        finally:
            if timer is not None:
                timer.cancel()
        return HttpResponse(self._status, self._headers, b"".join(self._parts))

    def _send(self, data: bytes) -> None:
        transport = self._transport
        self.reused = self._complete
        if transport is None or transport.is_closing():
            raise ConnectionCut(str(self._why_closed or "the connection is closed"), begun=False)
        if self._complete:
            self._reset()
        self._asked = True
        transport.write(data)

    def _news(self) -> asyncio.Future[None]:
        """Await until bytes have arrived, or the time is over."""
        if self._transport is None:
            raise self._why_closed or ConnectionCut("the connection is closed", begun=self._begun)
        self._waiter = self._loop.create_future()
        return self._waiter

    def _timer(self, seconds: float | None) -> asyncio.TimerHandle | None:
        """asyncio.timeout would cost a tenth of a request, and needs a task."""
        return None if seconds is None else self._loop.call_later(seconds, self._time_out)

    def _time_out(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(TimeoutError())

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not every event loop derives its transports from asyncio's.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._early is not None:
            self._early += data
            return
        if not self._asked:
            # Bytes without a request: the next response could not be told from them.
            self.close()
            return
        self._begun = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            if self._streams:
                self._early = data[upgrade.args[0] :]
            else:
                self._refuse(upgrade)
        except httptools.HttpParserError as error:
            self._refuse(error)

    def _refuse(self, error: Exception) -> None:
        self._complete = self._head_read = False
        self._why_closed = MalformedResponse(f"the server does not speak HTTP ({error})", begun=True, error=error)
        self.close()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        if error is None and self._ends_with_connection():
            self._complete = True
        elif self._why_closed is None:
            why = str(error) if error else "the server closed the connection"
            self._why_closed = ConnectionCut(why, begun=self._begun, error=error)
        self._wake()

    def _ends_with_connection(self) -> bool:
        """Whether the answer that is coming says neither how long it is nor where it ends, as those of old servers."""
        return self._head_read and not {b"content-length", b"transfer-encoding"} & self._headers.keys()

    # What the parser calls

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name == b"set-cookie" and name in self._headers:
            # The only header that may come several times and cannot be joined by commas.
            value = b"%b\n%b" % (self._headers[name], value)
        self._headers[name] = value

    def on_headers_complete(self) -> None:
        self._status = self._parser.get_status_code()
        if self._status >= 200 or self._status == _SWITCHING:
            self._head_read = True
            if self._streams:
                self._wake()

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)
        self._size += len(body)
        if self._streams:
            if self._size > _HIGH_WATER_BYTES and not self._paused and self._transport is not None:
                self._paused = True
                self._transport.pause_reading()
            self._wake()
        elif self._most_bytes is not None and self._size > self._most_bytes:
            self._why_closed = MalformedResponse(f"the answer is larger than {self._most_bytes} bytes", begun=True)
            self.close()

    def on_message_complete(self) -> None:
        if not self._head_read:
            # Only a word on the way, such as 100 Continue; the answer comes after it.
            self._headers = {}
            return
        if self._why_closed is not None:
            return
        self._complete = True
        self._asked = False
        # The parser knows only now: a moment later it waits for the next answer.
        self._keeps_alive = self._status != _SWITCHING and self._parser.should_keep_alive()
        self._wake()
