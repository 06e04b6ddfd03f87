"""HTTP/1.1 on one connection of the server: from bytes to requests, one after the other, within limits.

It is our own because in others a request costs a quarter more and there is no order among them
(docs/decisions/http-server.md). A request is handed over when all of it has come and it is its turn.
"""

import asyncio
import re
from collections import deque
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

import httptools

from mooring.net.asgi import Header, Scope
from mooring.net.byte_stream import ByteStream
from mooring.net.exchange import Exchange, refusal
from mooring.net.tls import ClientCertificate, client_certificate

if TYPE_CHECKING:
    from mooring.net.server import HttpServer

__all__ = ["ServerConnection"]

_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
# What may follow a request for another protocol before that is granted; polite clients send nothing.
_MOST_EARLY_BYTES: Final = 64 * 1024
# What a client may leave unread before the application waits for it.
_UNREAD_BYTES: Final = 64 * 1024
# The end of a head, and how many bytes of it may have come with the piece before.
_HEAD_END: Final = re.compile(rb"\n\r?\n").search
_HEAD_END_BYTES: Final = 3


class ServerConnection(asyncio.Protocol):
    """One client's connection. It is in the server's set of connections while it lasts."""

    def __init__(self, server: "HttpServer") -> None:
        self.server = server
        self._limits = server.limits
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self.transport: asyncio.Transport
        self.lost = False
        self._client: tuple[str, int] | None = None
        self._certificate: ClientCertificate | None = None
        # The request that is being answered, and those that came before it was.
        self._exchange: Exchange | None = None
        self._queued: deque[Exchange] = deque()
        # Whether input is discarded from now on; and whether nothing more is sent either.
        self._discards = self._closing = False
        # What came after a request for another protocol; None when there was no such request.
        self._early: bytes | None = None
        self._reading = True
        # A request has begun to come; its head has come.
        self._receiving = self._head_read = False
        # Whether the application knows who sends the requests.
        self.trusted = False
        # Bytes of the request that is coming without its body: all of them, and those since the last of the body.
        self._framing_bytes = self._trailing_bytes = 0
        # Pieces of an unfinished head that the parser has not been given, and the last bytes that came.
        self._held_back = bytearray()
        self._tail = b""
        # When the connection became idle, or the request that is coming began to.
        self._since = self._loop.time()
        # What the client has not read yet, and since when it has read nothing of it; kept while nothing is written.
        self._unread_bytes = 0
        self._unread_since = 0.0
        self.paused = False
        self._drain: asyncio.Future[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether a request is being answered."""
        return self._exchange is not None

    @property
    def stream(self) -> bytes | None:
        """The Authorization header of the request whose answer is being streamed, None when none is."""
        return self._exchange.flow if self._exchange is not None and self._exchange.streaming else None

    def trust(self) -> None:
        """The application knows who sends the requests: the connection need not make room for others any more."""
        if not self.trusted:
            self.trusted = True
            self.server.strangers.pop(self, None)

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        # TLS would take in eight times as much for a client that reads nothing.
        self.transport.set_write_buffer_limits(high=_UNREAD_BYTES)
        peer = transport.get_extra_info("peername")
        self._client = (str(peer[0]), int(peer[1])) if isinstance(peer, tuple) else None
        self._certificate = client_certificate(transport)
        self.server.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        self.lost = self._discards = True
        # The parser and this connection hold each other, and the garbage collector may not come by for an hour.
        del self._parser
        self.server.remove(self)
        self.server.unfinished.release(self)
        self._queued.clear()
        if self._exchange is not None:
            self._exchange.wake()
            self._exchange = None
        self.resume_writing()

    def data_received(self, data: bytes) -> None:
        if self._discards:
            self._keep_early(data)
            return
        if self._receiving and not self._head_read:
            data = self._gathered(data)
            if not data:
                self._hold_unfinished()
                return
        self._framing_bytes += len(data)
        self._trailing_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            # It is for the application to grant it; without that the request is answered like any other, as the last.
            self._discards = True
            self._early = b""
            self._keep_early(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._refuse(400)
        else:
            if self._receiving:
                self._bound_framing(data)
                self._hold_unfinished()

    def _gathered(self, data: bytes) -> bytes:
        """Nothing, or what has come of an unfinished head since the parser was last given some.

        The parser copies what it has of a URL or of a header with every piece, so a head in small pieces would cost the
        square of its length. It gets pieces that double in size, and the last one as soon as it is there.
        """
        held_back = self._held_back
        held_back += data
        ends = _HEAD_END(self._tail + data) is not None
        self._tail = (self._tail + data)[-_HEAD_END_BYTES:]
        fed = self._framing_bytes
        if len(held_back) < fed and fed + len(held_back) <= self._limits.head_bytes and not ends:
            return b""
        gathered = bytes(held_back)
        held_back.clear()
        return gathered

    def _bound_framing(self, data: bytes) -> None:
        limits = self._limits
        if not self._head_read:
            self._tail = data[-_HEAD_END_BYTES:]
            if len(self._url) > limits.url_bytes:
                self._refuse(414)
                return
        elif self._trailing_bytes > limits.trailer_bytes + len(data):
            self._refuse(431)
            return
        if self._framing_bytes > limits.head_bytes:
            self._refuse(431)

    def _hold_unfinished(self) -> None:
        body = min(self._body_bytes, self._limits.body_bytes)
        self.server.unfinished.hold(self, self._framing_bytes + len(self._held_back) + body)

    def _keep_early(self, data: bytes) -> None:
        if self._early is not None:
            self._early += data
            if len(self._early) > _MOST_EARLY_BYTES:
                self.transport.abort()

    def pause_writing(self) -> None:
        self.paused = True
        self._note_unread()

    def resume_writing(self) -> None:
        self.paused = False
        self.server.unread.release(self)
        if self._drain is not None and not self._drain.done():
            self._drain.set_result(None)

    async def drained(self) -> None:
        """Return when the client has read enough of what was sent to it, or has gone."""
        while self.paused and not self.lost:
            self._drain = self._loop.create_future()
            await self._drain

    def upgrade(self, head: bytes, flow: bytes) -> ByteStream:
        """Leave HTTP: the transport is a stream's from now on, and no limit of HTTP holds for it."""
        streams = self.server.streams
        stream = ByteStream(self.transport, self._early or b"", lambda stream: streams.pop(stream, None))
        streams[stream] = flow
        if not self._reading:
            self.transport.resume_reading()
        self.transport.write(head)
        self.connection_lost(None)
        return stream

    # What the server calls

    def shutdown(self) -> None:
        """The server stops: nothing more is read here, and what is being answered is the last."""
        self._queued.clear()
        if self._exchange is None:
            self.close()
        else:
            self._exchange.keep_alive = False

    def close(self) -> None:
        """Send what is left, read nothing more."""
        if not self._closing:
            self._discards = self._closing = True
            self._note_unread()
            self.transport.close()

    def enforce_limits(self, now: float) -> None:
        """Close a connection whose client reads nothing, sends too slowly, or has been idle for too long."""
        if self.paused or self._closing:
            if self._stalled(now):
                self.transport.abort()
        elif self._exchange is None:
            seconds, limits = now - self._since, self._limits
            if not self._receiving:
                if seconds > limits.idle_seconds:
                    self.close()
            elif seconds > (limits.request_seconds if self._head_read else limits.head_seconds):
                self._refuse(408)

    def refuse_unfinished(self) -> None:
        """All connections together have sent too much that is not begun, and this one for longest."""
        if self._exchange is None:
            self._refuse(429)
        else:
            self.abort()

    def abort(self) -> None:
        """Soon: it may be a write to this very transport that has brought it here."""
        self._loop.call_soon(self.transport.abort)

    def _note_unread(self) -> None:
        self._unread_bytes, self._unread_since = self.transport.get_write_buffer_size(), self._loop.time()
        if self._unread_bytes:
            self.server.unread.hold(self, self._unread_bytes)

    def _stalled(self, now: float) -> bool:
        # Nothing is written meanwhile, so less means that the client has read.
        unread = self.transport.get_write_buffer_size()
        if unread < self._unread_bytes:
            self._unread_bytes, self._unread_since = unread, now
        return now - self._unread_since > self._limits.stalled_seconds

    # What the parser calls

    def on_message_begin(self) -> None:
        self._url = b""
        self._headers: list[Header] = []
        self._parts: list[bytes] = []
        self._head_bytes = self._body_bytes = 0
        self._continues = False
        self._authorization = b""
        self._receiving, self._head_read = True, False
        self._held_back.clear()
        self._since = self._loop.time()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head_read:
            # A trailer. It says nothing that counts: what a request may do was decided by its head.
            return
        name = name.lower()
        self._headers.append((name, value))
        self._head_bytes += len(name) + len(value)
        if name == b"authorization":
            self._authorization = value
        elif name == b"expect":
            self._continues = value.lower() == b"100-continue"
        elif name == b"content-length" and value.isdigit() and int(value) > self._limits.drained_bytes:
            self._body_bytes = int(value)

    def on_headers_complete(self) -> None:
        self._head_read = True
        self._trailing_bytes = 0
        if len(self._url) > self._limits.url_bytes:
            self._refuse(414)
        elif self._head_bytes + len(self._url) > self._limits.head_bytes:
            self._refuse(431)
        elif self._body_bytes > self._limits.drained_bytes:
            self._stop_reading()
        elif self._continues and self._exchange is None:
            self.transport.write(_CONTINUE)

    def on_body(self, body: bytes) -> None:
        if self._discards:
            return
        self._body_bytes += len(body)
        self._framing_bytes -= len(body)
        self._trailing_bytes = 0
        if self._body_bytes <= self._limits.body_bytes:
            self._parts.append(body)
        elif self._body_bytes > self._limits.drained_bytes:
            self._stop_reading()

    def on_message_complete(self) -> None:
        if not self._discards:
            parser = self._parser
            stays = parser.should_keep_alive() and not parser.should_upgrade() and parser.get_http_version() != "1.0"
            self._take(keep_alive=stays, upgrades=parser.should_upgrade())

    def _stop_reading(self) -> None:
        """The body is larger than what is read and dropped: it is answered now, and the connection closed."""
        self._discards = True
        self._take(keep_alive=False, upgrades=False)

    # Requests

    def _take(self, *, keep_alive: bool, upgrades: bool) -> None:
        self._receiving = self._head_read = False
        self._framing_bytes = 0
        scope = self._scope()
        if self._body_bytes > self._limits.body_bytes:
            scope["too_large"] = True
        certificate = self._certificate
        flow = self._authorization if certificate is None else certificate.digest.encode()
        exchange = Exchange(self, scope, b"".join(self._parts), flow=flow, keep_alive=keep_alive)
        if upgrades:
            scope["upgrade"] = exchange.upgrade
        if self._exchange is None:
            self._enqueue(exchange)
        else:
            self._queued.append(exchange)
            if self._reading:
                self._reading = False
                self.transport.pause_reading()

    def _scope(self) -> Scope:
        url, parser = self._url, self._parser
        if url[:1] == b"/":
            raw_path, _, query = url.partition(b"?")
        else:
            # A client that takes this server for a proxy writes the whole URL, and OPTIONS may be about `*`.
            parsed = httptools.parse_url(url) if b"://" in url else None
            raw_path, query = (parsed.path or b"/", parsed.query or b"") if parsed else (url, b"")
        path = raw_path.decode("latin-1")
        return {
            "type": "http",
            "http_version": parser.get_http_version(),
            "method": parser.get_method().decode("latin-1"),
            "path": unquote(path) if "%" in path else path,
            "raw_path": raw_path,
            "query_string": query,
            "headers": self._headers,
            "client": self._client,
            "certificate": self._certificate,
        }

    def _enqueue(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self.server.queue.enqueue(exchange.flow, exchange.begin)

    def done(self, exchange: Exchange) -> None:
        """An answer is complete; the next request has its turn."""
        self._exchange = None
        if self.lost:
            return
        if not exchange.keep_alive:
            self._queued.clear()
            self.close()
            return
        self._since = self._loop.time()
        if self._queued:
            self._enqueue(self._queued.popleft())
        elif not self._reading:
            self._reading = True
            self.transport.resume_reading()

    def _refuse(self, status: int) -> None:
        """Answer a request that breaks the rules of HTTP or exceeds a limit, and close the connection."""
        if self._closing:
            # One answer is enough, even to what breaks two rules.
            return
        self._discards = True
        if self._exchange is None:
            self.transport.write(refusal(status))
        self.close()
