"""The API server on a socket that is already bound, until it is told to stop.

A signal ends it with watches closed and everything answered, and the caller decides what the process exits with.
"""

import asyncio
import signal
import socket
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from mooring.apiserver.app import Application
from mooring.apiserver.audit.audited import AuditedApplication
from mooring.apiserver.audit.log import AuditLog
from mooring.apiserver.authentication.token_bindings import TokenBindings
from mooring.apiserver.authentication.token_upkeep import TokenUpkeep
from mooring.apiserver.maintenance import Maintenance
from mooring.net.server import HttpServer

__all__ = ["Server", "run"]

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
# Answers that take longer than this when the server stops are not waited for.
_FINISH_SECONDS: Final = 5.0


class Server:
    """One application with its HTTP server, and with an audit log where there is one."""

    def __init__(self, app: Application, tls: ssl.SSLContext | None = None, audit: AuditLog | None = None) -> None:
        self._application = app
        served = app if audit is None else AuditedApplication(app, audit.append, app.context.clock)
        self.http = HttpServer(served, queue=app.queue)
        self._tls = tls
        self._stop = asyncio.Event()

    def stop(self) -> None:
        """To be called from the event loop, at any time."""
        self._stop.set()

    async def serve(self, sock: socket.socket) -> None:
        """Until it is stopped."""
        with self._heeding_signals():
            await self.http.start(sock, self._tls)
            await self._stop.wait()
            self.http.close()
            self._application.stop()
            await self.http.finish(_FINISH_SECONDS)

    @contextmanager
    def _heeding_signals(self) -> Iterator[None]:
        """Stop on a signal, and do not pass it on afterwards: to have been asked to stop is no failure."""
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            # Only the main thread can handle signals; on another thread the caller stops the server.
            with suppress(ValueError, RuntimeError, NotImplementedError):
                loop.add_signal_handler(number, self.stop)
        try:
            yield
        finally:
            for number in _SIGNALS:
                with suppress(ValueError, RuntimeError, NotImplementedError):
                    loop.remove_signal_handler(number)


async def _serve(server: Server, sock: socket.socket, app: Application, bindings: TokenBindings | None) -> None:
    maintenance = Maintenance(app.registry, app.group_commit, app.context.clock)
    upkeep = TokenUpkeep(server.http, app, bindings)
    app.registry.resume(app.context.clock())
    tasks = [asyncio.create_task(each) for each in (maintenance.run(), upkeep.run(), app.aggregator.run())]
    try:
        await server.serve(sock)
    finally:
        for task in tasks:
            task.cancel()


def run(
    make: Callable[[Callable[[], None]], Application],
    sock: socket.socket,
    tls: ssl.SSLContext | None = None,
    bindings: TokenBindings | None = None,
    audit: AuditLog | None = None,
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
        servers.append(Server(app, tls, audit))
        await _serve(servers[0], sock, app, bindings)

    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(main())
    finally:
        for app in apps:
            app.group_commit.close()
    return not failed


def _loop_factory() -> Callable[[], Any]:
    if sys.platform == "win32":
        return asyncio.new_event_loop
    import uvloop

    return uvloop.new_event_loop
