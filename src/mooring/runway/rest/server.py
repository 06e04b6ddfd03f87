"""Serves the application with uvicorn on a socket that is bound already."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from mooring import __version__
from mooring.client.access import Access
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runway.providers.registry import default_provider
from mooring.runway.rest.app import rest_app
from mooring.runway.rest.callers import Callers, digest_of
from mooring.runway.rest.service import RestService, ServiceFacts
from mooring.runway.settings import DEFAULT_SETTINGS, RunwaySettings

__all__ = ["rest_server", "serve"]

MOST_CONNECTIONS: Final = 2000
# How long a stop waits for requests; streams are cut.
STOP_SECONDS: Final = 1
# A client whose machine is gone, or that never reads, gives its connection back after this time.
DEAD_CONNECTION_MILLISECONDS: Final = 60_000


class _Server(uvicorn.Server):
    """One that ends with its own exit code when it is told to stop, and not by the signal."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            # Signals are for the main thread.
            yield
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    def _stop(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True


async def serve(
    listening: socket.socket,
    server: Access,
    *,
    session_token: str = "",
    own: Access | None = None,
    names: Collection[str] = (),
    embedded: bool = False,
    configuration: Configuration = DEFAULTS,
    settings: RunwaySettings = DEFAULT_SETTINGS,
) -> None:
    """Until SIGTERM or SIGINT. `session_token` stands for the credentials of `own`; `server` has none."""
    if sys.platform.startswith("linux"):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_CONNECTION_MILLISECONDS)
    tokens = {digest_of(session_token): own} if session_token and own is not None else {}
    provider = default_provider(embedded=embedded).id
    facts = ServiceFacts(server.server, __version__, provider, embedded, configuration, settings)
    service = RestService(Callers(server, tokens), facts)
    await rest_server(rest_app(service, names)).serve(sockets=[listening])


def rest_server(app: ASGIApp) -> uvicorn.Server:
    """The server, which ends when its `should_exit` is set."""
    config = uvicorn.Config(
        app,
        loop="none",
        http="httptools",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    return _Server(config)
