"""One request and its answer: runs the application, and turns what it sends into HTTP.

What need not wait is answered at once, a write the moment it is durable, and only what waits for something else becomes
a task.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Generator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from mooring.net.asgi import Disconnected, Header, Message, Scope
from mooring.net.byte_stream import ByteStream
from mooring.net.waiter import Waiter

if TYPE_CHECKING:
    from mooring.net.server_connection import ServerConnection

__all__ = ["Exchange", "refusal"]

_log = logging.getLogger(__name__)

_STATUS: Final = {each.value: f"HTTP/1.1 {each.value} {each.phrase}\r\n".encode() for each in HTTPStatus}
_FAILED: Final = b"Internal Server Error"
_NO_BODY: Final = (204, 304)


def refusal(status: int) -> bytes:
    """The whole answer to a client whose request no application gets to see."""
    body = HTTPStatus(status).phrase.encode()
    head = b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
    return _STATUS[status] + head % len(body) + body


class Exchange:
    """What the application reads from and writes to. `flow` is what fair queuing tells requests apart by."""

    __slots__ = (
        "_begun",
        "_body",
        "_chunked",
        "_complete",
        "_connection",
        "_head",
        "_over",
        "_stream",
        "flow",
        "keep_alive",
        "scope",
    )

    def __init__(
        self, connection: "ServerConnection", scope: Scope, body: bytes, *, flow: bytes, keep_alive: bool
    ) -> None:
        self._connection = connection
        self.scope = scope
        self.flow = flow
        self.keep_alive = keep_alive
        self._body: bytes | None = body
        # The head of an answer whose body comes in one piece goes out with it.
        self._head = b""
        self._begun = self._complete = self._chunked = False
        self._over: asyncio.Future[None] | None = None
        self._stream: ByteStream | None = None

    @property
    def streaming(self) -> bool:
        """Whether a part of the answer was sent, and not all of it."""
        return self._begun and not self._complete

    # Running the application

    def begin(self) -> None:
        """Run the application; called by the fair queue."""
        self._connection.server.unfinished.release(self._connection)
        if self._connection.lost:
            return
        self.scope["push"] = self.push
        self.scope["turn"] = self.turn
        self.scope["trust"] = self._connection.trust
        self._step(self._connection.server.app(self.scope, self.receive, self.send))

    def _step(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run the application until it waits."""
        try:
            waits_for = coroutine.send(None)
        except StopIteration:
            self._end()
        except Exception as error:
            self._fail(error)
        else:
            if isinstance(waits_for, Waiter):
                # Nearly every write comes here, and nearly no other request.
                waits_for.then = lambda: self._step(coroutine)
                return
            tasks = self._connection.server.tasks
            task = asyncio.get_running_loop().create_task(self._finish(_Remainder(coroutine, waits_for)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    async def _finish(self, remainder: "_Remainder") -> None:
        try:
            await remainder
        except Exception as error:
            self._fail(error)
        else:
            self._end()

    # What the application calls

    async def receive(self) -> Message:
        """The body, and from then on the end: of the answer or of the connection."""
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        if not (self._complete or self._connection.lost):
            self._over = asyncio.get_running_loop().create_future()
            await self._over
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """A part of the answer. To a client that has gone nothing is sent, and that is no error."""
        connection = self._connection
        if connection.paused:
            await connection.drained()
        if connection.lost or self._complete:
            return
        if message["type"] == "http.response.start":
            self._send_head(message["status"], message["headers"])
        else:
            self._send_body(message.get("body", b""), last=not message.get("more_body"))

    def push(self, make: Callable[[], bytes]) -> bool:
        """Send a part of a stream now, without waiting for anything; whether that was possible."""
        if self._connection.paused or self._connection.lost or self._complete or not self._chunked:
            return False
        body = make()
        self._connection.transport.write(b"%x\r\n%b\r\n" % (len(body), body))
        return True

    def turn(self) -> Waiter:
        """What the application awaits between two slices of long work: it goes on when it is this sender's turn."""
        return self._connection.server.queue.turn(self.flow)

    def upgrade(self, headers: list[Header]) -> ByteStream:
        """Answer 101, and leave HTTP; the stream is closed when the application returns. Raises Disconnected."""
        if self._connection.lost:
            raise Disconnected
        self._begun = self._complete = True
        lines = [_STATUS[101], *(b"%b: %b\r\n" % header for header in headers), b"\r\n"]
        self._stream = self._connection.upgrade(b"".join(lines), self.flow)
        return self._stream

    def _send_head(self, status: int, headers: list[Header]) -> None:
        self._begun = True
        parts = [_STATUS.get(status) or b"HTTP/1.1 %d \r\n" % status, self._connection.server.date]
        measured = False
        for name, value in headers:
            if b"\n" in value or b"\r" in value:
                raise ValueError(f"a header has a line break in it: {name!r}")
            parts += (name, b": ", value, b"\r\n")
            if name == b"content-length":
                measured = True
            elif name == b"connection" and value == b"close":
                self.keep_alive = False
        if not self.keep_alive and (b"connection", b"close") not in headers:
            parts.append(b"connection: close\r\n")
        # The oldest clients know an answer's end by that of the connection.
        self._chunked = not (measured or status in _NO_BODY or self.scope["http_version"] == "1.0")
        if self._chunked:
            parts.append(b"transfer-encoding: chunked\r\n")
        parts.append(b"\r\n")
        self._head = b"".join(parts)
        if not measured:
            # A stream may be silent for long, and the client waits to hear that its request was understood.
            self._connection.transport.write(self._head)
            self._head = b""

    def _send_body(self, body: bytes, *, last: bool) -> None:
        if self.scope["method"] == "HEAD":
            body = b""
        elif self._chunked:
            body = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            if last:
                body += b"0\r\n\r\n"
        if self._head:
            body, self._head = self._head + body, b""
        if body:
            self._connection.transport.write(body)
        if last:
            self._complete = True
            self.wake()
            self._connection.done(self)

    # How it ends

    def wake(self) -> None:
        """Wake the application if it waits for the end of the answer or of the connection."""
        if self._over is not None and not self._over.done():
            self._over.set_result(None)

    def _end(self) -> None:
        """The application has returned."""
        if self._stream is not None:
            self._stream.close()
        if not self._complete and not self._connection.lost:
            self._connection.close()

    def _fail(self, error: Exception) -> None:
        """The application raised an exception: 500, unless the answer has begun."""
        _log.error("%s %s failed: %r", self.scope["method"], self.scope["path"], error)
        self.keep_alive = False
        if self._stream is not None:
            self._stream.close()
        if self._complete or self._connection.lost:
            return
        if self._begun and not self._head:
            self._connection.close()
            return
        self._send_head(500, [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(_FAILED))])
        self._send_body(_FAILED, last=True)


class _Remainder:
    """What is left of a coroutine that was begun outside of a task, to be awaited inside of one."""

    def __init__(self, coroutine: Coroutine[Any, Any, None], waits_for: Any) -> None:
        self._coroutine = coroutine
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, None]:
        coroutine, waits_for = self._coroutine, self._waits_for
        try:
            while True:
                try:
                    value = yield waits_for
                except BaseException as error:
                    waits_for = coroutine.throw(error)
                else:
                    waits_for = coroutine.send(value)
        except StopIteration:
            return
