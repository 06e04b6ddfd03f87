"""The readiness and liveness probes of the API server: over TLS, with the cluster's own authority."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from mooring.net.client_connection import ConnectionCut, request_bytes
from mooring.net.destination import Destination
from mooring.net.tls import client_context

__all__ = ["ALIVE_SECONDS", "is_alive", "is_ready"]

_READY_SECONDS: Final = 10.0
# A server that does nothing but work has been seen to take a second.
ALIVE_SECONDS: Final = 5.0


def is_ready(url: str, authority: Path) -> bool:
    """Whether the server says that it is ready. Until it runs, the connection waits in line at its socket."""
    return _says_yes(url, authority, "/readyz", _READY_SECONDS)


def is_alive(url: str, authority: Path) -> bool:
    """Whether the server answers at all, in good time."""
    return _says_yes(url, authority, "/livez", ALIVE_SECONDS)


def _says_yes(url: str, authority: Path, path: str, seconds: float) -> bool:
    place = urlsplit(url)
    tls = client_context(authority=authority.read_bytes())
    destination = Destination(place.hostname or "", place.port or 443, tls)
    try:
        # 403: an administrator has taken health from strangers, which a server says only once it serves.
        return asyncio.run(_status(destination, path, seconds)) in (200, 403)
    except (OSError, ConnectionCut):
        # It is not there yet, or has died on the way; the parent sees to that.
        return False


async def _status(destination: Destination, path: str, seconds: float) -> int:
    async with asyncio.timeout(seconds):
        connection = await destination.dial()
        try:
            request = request_bytes("GET", path, {"Host": destination.authority, "Connection": "close"})
            return (await connection.ask(request)).status
        finally:
            connection.close()
