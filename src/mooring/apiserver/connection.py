"""HTTP/1.1 on one connection: from bytes to the application, and back.

It is our own because in others a request costs a quarter more and there is no order among them
(docs/decisions/http-server.md). A request is handed over when all of it has come and it is its turn. What need not wait
is answered at once, a write the moment it is durable, and only what waits for something else becomes a task.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import httptools

from mooring.apiserver.barrier import Passage
from mooring.apiserver.request import BODY_PATIENCE, Message, Scope

if TYPE_CHECKING:
    from mooring.apiserver.listening import Listener

__all__ = ["Connection"]

_log = logging.getLogger(__name__)

_STATUS: Final = {each.value: f"HTTP/1.1 {each.value} {each.phrase}\r\n".encode() for each in HTTPStatus}
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_BAD_REQUEST: Final = b"Bad Request"
_FAILED: Final = b"Internal Server Error"
_NO_BODY: Final = (204, 304)


class Connection(asyncio.Protocol):
    """One client's. The listener that made it is told of it while it lasts."""

    def __init__(self, listener: "Listener") -> None:
        self.listener = listener
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self.transport: asyncio.Transport
        self.lost = False
        self._client: tuple[str, int] | None = None
        # The request that is being answered, and those that came before it was.
        self._exchange: Exchange | None = None
        self._line: deque[Exchange] = deque()
        # Whether what still comes is of no interest.
        self._deaf = False
        self._reading = True
        self._idle_since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.paused = False
        self._drain: asyncio.Future[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether somebody waits for an answer here."""
        return self._exchange is not None

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        peer = transport.get_extra_info("peername")
        self._client = (str(peer[0]), int(peer[1])) if isinstance(peer, tuple) else None
        self.listener.connections.add(self)
        self._rest()

    def connection_lost(self, error: Exception | None) -> None:
        self.lost = self._deaf = True
        # What is held here holds this connection in turn, and the collector may not come by for an hour.
        del self._parser
        self.listener.connections.discard(self)
        self._line.clear()
        if self._timer is not None:
            self._timer.cancel()
        if self._exchange is not None:
            self._exchange.wake()
            self._exchange = None
        self.resume_writing()

    def data_received(self, data: bytes) -> None:
        if self._deaf:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # No other protocol is spoken here; the request is answered as if it had not asked for one.
            self._deaf = True
        except httptools.HttpParserError:
            self._refuse()

    def pause_writing(self) -> None:
        self.paused = True

    def resume_writing(self) -> None:
        self.paused = False
        if self._drain is not None and not self._drain.done():
            self._drain.set_result(None)

    async def drained(self) -> None:
        """Return when the client has read enough of what was sent to it, or has gone."""
        while self.paused and not self.lost:
            self._drain = self._loop.create_future()
            await self._drain

    def shutdown(self) -> None:
        """The server stops: nothing more is read here, and what is being answered is the last."""
        self._line.clear()
        if self._exchange is None:
            self.transport.close()
        else:
            self._exchange.keep_alive = False

    # What the parser calls

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._parts: list[bytes] = []
        self._size = 0
        self._continues = False
        self._who = b""

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        self._headers.append((name, value))
        if name == b"authorization":
            self._who = value
        elif name == b"expect":
            self._continues = value.lower() == b"100-continue"
        elif name == b"content-length" and value.isdigit() and int(value) > BODY_PATIENCE:
            self._size = int(value)

    def on_headers_complete(self) -> None:
        if self._size > BODY_PATIENCE:
            self._stop_reading()
        elif self._continues and self._exchange is None:
            self.transport.write(_CONTINUE)

    def on_body(self, body: bytes) -> None:
        if self._deaf:
            return
        if self._size <= self.listener.body_limit:
            self._parts.append(body)
        self._size += len(body)
        if self._size > BODY_PATIENCE:
            self._stop_reading()

    def on_message_complete(self) -> None:
        if not self._deaf:
            parser = self._parser
            stays = parser.should_keep_alive() and not parser.should_upgrade() and parser.get_http_version() != "1.0"
            self._take(keep_alive=stays)

    def _stop_reading(self) -> None:
        """The client sends more than anybody wants to hear out: it is answered now, and then it has to go."""
        self._deaf = True
        self._take(keep_alive=False)

    # Requests

    def _take(self, *, keep_alive: bool) -> None:
        exchange = Exchange(self, self._scope(), b"".join(self._parts), self._who, keep_alive)
        if self._exchange is None:
            self._line_up(exchange)
        else:
            self._line.append(exchange)
            if self._reading:
                self._reading = False
                self.transport.pause_reading()

    def _scope(self) -> Scope:
        url, parser = self._url, self._parser
        if url[:1] == b"/":
            raw_path, _, query = url.partition(b"?")
        else:
            # A client that takes us for a proxy writes the whole address, and OPTIONS may be about `*`.
            parsed = httptools.parse_url(url) if b"://" in url else None
            raw_path, query = (parsed.path or b"/", parsed.query or b"") if parsed else (url, b"")
        path = raw_path.decode("latin-1")
        return {
            "type": "http",
            "http_version": parser.get_http_version(),
            "method": parser.get_method().decode("latin-1"),
            "path": unquote(path) if "%" in path else path,
            "query_string": query,
            "headers": self._headers,
            "client": self._client,
        }

    def _line_up(self, exchange: "Exchange") -> None:
        self._exchange = exchange
        self.listener.turns.line_up(exchange.who, lambda: self._begin(exchange))

    def _begin(self, exchange: "Exchange") -> None:
        if self.lost:
            return
        exchange.scope["push"] = exchange.push
        self._step(exchange, self.listener.app(exchange.scope, exchange.receive, exchange.send))

    def _step(self, exchange: "Exchange", coroutine: Coroutine[Any, Any, None]) -> None:
        """Run the application until it waits."""
        try:
            waits_for = coroutine.send(None)
        except StopIteration:
            exchange.end()
        except Exception as error:
            exchange.fail(error)
        else:
            if isinstance(waits_for, Passage):
                # Nearly every write comes here, and nearly no other request.
                waits_for.then = lambda: self._step(exchange, coroutine)
                return
            task = self._loop.create_task(_finish(exchange, _Rest(coroutine, waits_for)))
            self.listener.tasks.add(task)
            task.add_done_callback(self.listener.tasks.discard)

    def done(self, exchange: "Exchange") -> None:
        """An answer is complete; the next request has its turn."""
        self._exchange = None
        if self.lost:
            return
        if not exchange.keep_alive:
            self._deaf = True
            self._line.clear()
            self.transport.close()
            return
        self._idle_since = self._loop.time()
        if self._line:
            self._line_up(self._line.popleft())
        elif not self._reading:
            self._reading = True
            self.transport.resume_reading()

    def _refuse(self) -> None:
        self._deaf = True
        if self._exchange is None:
            head = b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
            self.transport.write(_STATUS[400] + head % len(_BAD_REQUEST) + _BAD_REQUEST)
        self.transport.close()

    def _rest(self) -> None:
        """Close the connection once it has been idle for too long. The timer is not moved with every request."""
        now = self._loop.time()
        if not self._idle_since or self._exchange is not None:
            self._idle_since = now
        if now >= self._idle_since + self.listener.keep_alive:
            self.transport.close()
            return
        self._timer = self._loop.call_at(self._idle_since + self.listener.keep_alive, self._rest)


class Exchange:
    """One request and its answer: what the application reads from and writes to."""

    __slots__ = (
        "_begun",
        "_body",
        "_chunked",
        "_complete",
        "_connection",
        "_head",
        "_over",
        "keep_alive",
        "scope",
        "who",
    )

    def __init__(self, connection: Connection, scope: Scope, body: bytes, who: bytes, keep_alive: bool) -> None:
        self._connection = connection
        self.scope = scope
        # What it shows to be let in; those who show the same wait in one line.
        self.who = who
        self.keep_alive = keep_alive
        self._body: bytes | None = body
        # The head of an answer whose body comes in one piece goes out with it.
        self._head = b""
        self._begun = self._complete = self._chunked = False
        self._over: asyncio.Future[None] | None = None

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
            self._start(message["status"], message["headers"])
        else:
            self._go_on(message.get("body", b""), last=not message.get("more_body"))

    def _start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self._begun = True
        parts = [_STATUS.get(status) or b"HTTP/1.1 %d \r\n" % status, self._connection.listener.date]
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
            # Whoever streams may have nothing to say for long, and the client waits to hear that it was understood.
            self._connection.transport.write(self._head)
            self._head = b""

    def _go_on(self, body: bytes, *, last: bool) -> None:
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

    def push(self, make: Callable[[], bytes]) -> bool:
        """Send a part of a stream now, without waiting for anything; whether that was possible."""
        if self._connection.paused or self._connection.lost or self._complete or not self._chunked:
            return False
        body = make()
        self._connection.transport.write(b"%x\r\n%b\r\n" % (len(body), body))
        return True

    def wake(self) -> None:
        """It is over, or nobody listens any more: whoever waits for that hears it."""
        if self._over is not None and not self._over.done():
            self._over.set_result(None)

    def end(self) -> None:
        """The application is done with this request."""
        if not self._complete and not self._connection.lost:
            self._connection.transport.close()

    def fail(self, error: Exception) -> None:
        """The application failed in a way that it has no answer for itself."""
        _log.error("%s %s failed: %r", self.scope["method"], self.scope["path"], error)
        self.keep_alive = False
        if self._complete or self._connection.lost:
            return
        if self._begun and not self._head:
            self._connection.transport.close()
            return
        self._start(500, [(b"content-type", b"text/plain"), (b"content-length", b"%d" % len(_FAILED))])
        self._go_on(_FAILED, last=True)


class _Rest:
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


async def _finish(exchange: Exchange, rest: _Rest) -> None:
    try:
        await rest
    except Exception as error:
        exchange.fail(error)
    else:
        exchange.end()
