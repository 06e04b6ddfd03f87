"""Serves the application with uvicorn on a socket that is bound already."""

from __future__ import annotations

import socket
import sys
from collections.abc import Collection
from typing import Final

import uvicorn

from mooring import __version__
from mooring.client.access import Access
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runway.rest.app import rest_app
from mooring.runway.rest.callers import Callers, digest_of
from mooring.runway.rest.service import RestService, ServiceFacts

__all__ = ["serve"]

MOST_CONNECTIONS: Final = 2000
# How long a stop waits for requests; streams are cut.
STOP_SECONDS: Final = 1
# A client whose machine is gone, or that never reads, gives its connection back after this time.
DEAD_CONNECTION_MILLISECONDS: Final = 60_000


async def serve(
    listening: socket.socket,
    server: Access,
    *,
    session_token: str = "",
    own: Access | None = None,
    names: Collection[str] = (),
    embedded: bool = False,
    configuration: Configuration = DEFAULTS,
) -> None:
    """Until SIGTERM or SIGINT. `session_token` stands for the credentials of `own`; `server` has none."""
    if sys.platform.startswith("linux"):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_CONNECTION_MILLISECONDS)
    tokens = {digest_of(session_token): own} if session_token and own is not None else {}
    facts = ServiceFacts(server.server, __version__, embedded=embedded, configuration=configuration)
    service = RestService(Callers(server, tokens), facts)
    config = uvicorn.Config(
        rest_app(service, names),
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
    await uvicorn.Server(config).serve(sockets=[listening])
