"""Serves an application over HTTP/1.1: the one server behind the API, health and metrics, logs of a node, and webhooks.

It knows of every connection, so that a server which stops finishes the requests that are being answered, and does not
wait for connections that are merely kept open. Signals are left to the process around it.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import formatdate
from typing import Final

from mooring.net.asgi import App
from mooring.net.byte_budget import ByteBudget
from mooring.net.byte_stream import ByteStream
from mooring.net.fairqueue import FairQueue
from mooring.net.limits import DEFAULT, HttpLimits
from mooring.net.server_connection import ServerConnection

__all__ = ["HttpServer"]

_BACKLOG: Final = 2048
# For the last bytes to leave, once everything is answered.
_LINGER_SECONDS: Final = 0.05
# For connections that were accepted to be known here, and for those that were aborted to be gone.
_ACCEPTING_SECONDS: Final = 0.01
_ABORT_SECONDS: Final = 1.0


class HttpServer:
    """`app` is a plain ASGI application; it hears of nothing but requests. `queue` says whose request is next.

    A request is begun outside of a task and becomes one when it first waits for something else than a `Waiter`. An
    application that needs a task, as `asyncio.timeout` does, awaits `asyncio.sleep(0)` first.
    """

    def __init__(self, app: App, *, queue: FairQueue | None = None, limits: HttpLimits = DEFAULT) -> None:
        self.app = app
        self.queue = queue or FairQueue()
        self.limits = limits
        self.connections: set[ServerConnection] = set()
        # Connections that have left HTTP and its limits, with the Authorization header that opened each.
        self.streams: dict[ByteStream, bytes] = {}
        # Those whose sender the application does not know, the oldest first.
        self.strangers: dict[ServerConnection, None] = {}
        self.unfinished = ByteBudget(limits.unfinished_bytes, ServerConnection.refuse_unfinished)
        self.unread = ByteBudget(limits.unread_bytes, ServerConnection.abort)
        # Requests that have become tasks.
        self.tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._sweeping: asyncio.TimerHandle | None = None
        self._closing = False
        self._second = 0
        self._date = b""

    async def listen(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> int:
        """Accept connections on an address from now on; the port, which is a free one if 0 was asked for."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            self._connection, host, port, ssl=tls, backlog=_BACKLOG, ssl_handshake_timeout=self._handshake_seconds(tls)
        )
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    async def start(self, sock: socket.socket, tls: ssl.SSLContext | None = None) -> None:
        """Accept connections on a socket that is already bound."""
        # Connections inherit it. What goes out in two writes, such as a list, must not wait 40 ms for the client to
        # confirm the first; the event loop forgets this on sockets that it did not make.
        with suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            self._connection, sock=sock, ssl=tls, backlog=_BACKLOG, ssl_handshake_timeout=self._handshake_seconds(tls)
        )

    def close(self) -> None:
        """Accept no more, and read no more requests: those that are being answered are the last."""
        self._closing = True
        self._stop_accepting()
        for connection in tuple(self.connections):
            connection.shutdown()
        for stream in tuple(self.streams):
            stream.close()

    def _stop_accepting(self) -> None:
        loop = asyncio.get_running_loop()
        if self._server is None:
            return
        if not isinstance(loop, asyncio.SelectorEventLoop):
            self._server.close()
            return
        # A connection that was accepted becomes a transport two rounds of the loop later. In Python 3.11 that fails
        # when the server was closed in between, and its socket stays open; so the server is closed after that.
        for sock in self._server.sockets:
            loop.remove_reader(sock.fileno())

    async def finish(self, seconds: float) -> None:
        """Wait so many seconds at most for requests that are being answered; then close every connection."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + seconds
        await asyncio.sleep(_ACCEPTING_SECONDS)
        if self._server is not None:
            self._server.close()
        while (self.tasks or any(each.busy for each in self.connections)) and loop.time() < give_up:
            await asyncio.sleep(0.01)
        await asyncio.sleep(_LINGER_SECONDS)
        # Closing a TLS connection politely would take until its client, which may be asleep, closes it too.
        for connection in tuple(self.connections):
            connection.transport.abort()
        for stream in tuple(self.streams):
            stream.abort()
        for task in tuple(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        while (self.connections or self.streams) and loop.time() < give_up + _ABORT_SECONDS:
            await asyncio.sleep(0)
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None

    def _handshake_seconds(self, tls: ssl.SSLContext | None) -> float | None:
        return self.limits.handshake_seconds if tls else None

    def end_streams(self, refused: Callable[[bytes], bool]) -> None:
        """Close the connections whose answer is being streamed to an Authorization header that no longer counts."""
        streams: dict[bytes, list[ServerConnection]] = {}
        for connection in self.connections:
            if (header := connection.stream) is not None:
                streams.setdefault(header, []).append(connection)
        for header, connections in streams.items():
            if refused(header):
                for connection in connections:
                    connection.transport.abort()
        for stream, header in tuple(self.streams.items()):
            if refused(header):
                stream.abort()

    # For connections

    def _connection(self) -> ServerConnection:
        return ServerConnection(self)

    def add(self, connection: ServerConnection) -> None:
        self.connections.add(connection)
        if self._closing:
            connection.shutdown()
            return
        self.strangers[connection] = None
        if len(self.strangers) > self.limits.strangers:
            self._make_room()
        if self._sweeping is None:
            self._sweep_later()

    def remove(self, connection: ServerConnection) -> None:
        self.connections.discard(connection)
        self.strangers.pop(connection, None)

    def _make_room(self) -> None:
        """Close the connection of the stranger who has been there longest and is not being answered.

        A client with a token has sent it a moment after it came, so it is not among them.
        """
        oldest = next((each for each in self.strangers if not each.busy), None)
        if oldest is not None:
            self.strangers.pop(oldest)
            oldest.transport.abort()

    def _sweep(self) -> None:
        now = asyncio.get_running_loop().time()
        for connection in tuple(self.connections):
            connection.enforce_limits(now)
        self._sweeping = None
        if self.connections:
            self._sweep_later()

    def _sweep_later(self) -> None:
        self._sweeping = asyncio.get_running_loop().call_later(self.limits.sweep_seconds, self._sweep)

    @property
    def date(self) -> bytes:
        """The line of the head of an answer that says when it was given."""
        second = int(time.time())
        if second != self._second:
            self._second = second
            self._date = f"date: {formatdate(second, usegmt=True)}\r\n".encode()
        return self._date
