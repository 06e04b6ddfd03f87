"""Serves an application on a socket that is already bound.

It knows of every connection, so that a server which stops can let those finish who wait for an answer, and need not
wait for those who merely keep a connection open. Signals are for whoever runs the process.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from email.utils import formatdate
from typing import Any, Final

from mooring.apiserver.connection import Connection
from mooring.apiserver.request import BODY_LIMIT, Receive, Scope, Send
from mooring.apiserver.turns import Turns

__all__ = ["App", "Listener"]

App = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]

# Idle connections are kept longer than clients keep theirs, so that it is never the server that breaks a reuse.
_KEEP_ALIVE: Final = 180.0
_BACKLOG: Final = 2048


class Listener:
    """`app` is a plain ASGI application; it hears of nothing but requests. `turns` say whose request is next.

    A request is begun outside of a task and becomes one when it first waits for something else than the disk: whoever
    needs a task, as time limits do, lets the loop come round first.
    """

    def __init__(self, app: App, turns: Turns | None = None, *, body_limit: int = BODY_LIMIT) -> None:
        self.app = app
        self.turns = turns or Turns()
        # Of a larger body only so much is kept that the application can see that it is.
        self.body_limit = body_limit
        self.keep_alive = _KEEP_ALIVE
        self.connections: set[Connection] = set()
        # Requests that wait for something else than the disk.
        self.tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._second = 0
        self._date = b""

    async def start(self, sock: socket.socket, tls: ssl.SSLContext | None = None) -> None:
        """Accept connections from now on."""
        # Connections inherit it. What goes out in two writes, such as a list, must not wait 40 ms for the client to
        # confirm the first; the event loop forgets this on sockets that it did not make.
        with suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self), sock=sock, ssl=tls, backlog=_BACKLOG)

    def close(self) -> None:
        """Accept no more, and read no more requests: those that are being answered are the last."""
        if self._server is not None:
            self._server.close()
        for connection in tuple(self.connections):
            connection.shutdown()

    async def finish(self, patience: float) -> None:
        """Return when everybody has got an answer or has waited for so many seconds; then nobody is connected."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + patience
        while (self.tasks or any(each.busy for each in self.connections)) and loop.time() < give_up:
            await asyncio.sleep(0.01)
        # Time for the last bytes to leave. Closing a TLS connection politely would take until its client, which may be
        # asleep, closes it too.
        await asyncio.sleep(0.05)
        for connection in tuple(self.connections):
            connection.transport.abort()

    @property
    def date(self) -> bytes:
        """The line of the head of an answer that says when it was given."""
        second = int(time.time())
        if second != self._second:
            self._second = second
            self._date = f"date: {formatdate(second, usegmt=True)}\r\n".encode()
        return self._date
