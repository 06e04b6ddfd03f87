"""Serves an application on a socket that is already bound, until it is told to stop.

uvicorn does the HTTP. What is done differently: a signal ends the server with watches closed and everything answered,
and the caller decides what the process exits with; clients that merely keep a connection open are not waited for.
"""

import asyncio
import contextlib
import logging
import signal
import socket
import ssl
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Final

import uvicorn

from mooring.apiserver.app import Application
from mooring.apiserver.housekeeping import Housekeeping

__all__ = ["Server", "run", "tls_context"]

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
# Idle connections are kept longer than clients keep theirs, so that it is never the server that breaks a reuse.
_KEEP_ALIVE: Final = 180
_PATIENCE: Final = 5.0


def tls_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """What the server shows to clients."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    return context


class Server(uvicorn.Server):
    """A uvicorn server around one application. `should_exit` may be set at any time, from the loop or a signal."""

    def __init__(self, app: Application, tls: ssl.SSLContext | None = None) -> None:
        config = uvicorn.Config(
            app,
            http="httptools",
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=int(_PATIENCE),
            ssl_context_factory=None if tls is None else lambda _config, _default: tls,
        )
        # It has much to say that nobody needs, such as that an upgrade to a WebSocket is not supported.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        super().__init__(config)
        self._application = app

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Stop on a signal, and do not pass it on afterwards: to have been asked to stop is no failure."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            # Only the main thread can hear signals; in another one somebody else decides.
            with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
                loop.add_signal_handler(number, self.stop)
        try:
            yield
        finally:
            for number in _SIGNALS:
                with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
                    loop.remove_signal_handler(number)

    def stop(self) -> None:
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        for sock in sockets or ():
            # Connections inherit it. An answer goes out in two writes, and the second must not wait 40 ms for the
            # client to confirm the first; the event loop forgets this on sockets that it did not make.
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        self._application.stop()
        state, loop = self.server_state, asyncio.get_running_loop()
        for connection in tuple(state.connections):
            connection.shutdown()
        give_up = loop.time() + _PATIENCE
        while state.tasks and loop.time() < give_up:
            await asyncio.sleep(0.01)
        # Time for the last bytes to leave. Closing a TLS connection politely would take until its client, which may be
        # asleep, closes it too.
        await asyncio.sleep(0.05)
        for connection in tuple(state.connections):
            connection.transport.abort()
        await super().shutdown(sockets)


async def _serve(server: Server, sock: socket.socket, app: Application) -> None:
    keeper = Housekeeping(app.registry, app.barrier, app.context.clock)
    keeping = asyncio.create_task(keeper.run())
    try:
        await server.serve(sockets=[sock])
    finally:
        keeping.cancel()


def run(
    make: Callable[[Callable[[], None]], Application], sock: socket.socket, tls: ssl.SSLContext | None = None
) -> bool:
    """Serve until told to stop; whether all went well. `make` gets what to call when writes can no longer be stored."""
    failed = False
    servers: list[Server] = []
    apps: list[Application] = []

    def fail() -> None:
        nonlocal failed
        failed = True
        for each in servers:
            each.stop()

    async def main() -> None:
        app = make(fail)
        apps.append(app)
        servers.append(Server(app, tls))
        await _serve(servers[0], sock, app)

    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(main())
    finally:
        for app in apps:
            app.barrier.close()
    return not failed


def _loop_factory() -> Callable[[], Any]:
    if sys.platform == "win32":
        return asyncio.new_event_loop
    import uvloop

    return uvloop.new_event_loop
