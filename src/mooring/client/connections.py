"""Connections to one API server: those that requests share, and one for each watch."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final
from urllib.parse import SplitResult, urlsplit

from mooring.client.access import Access
from mooring.client.dial_errors import dial_error
from mooring.client.transport import Unreachable
from mooring.kube.errors import MooringError
from mooring.net.client_connection import ClientConnection, ConnectionCut, request_bytes
from mooring.net.destination import Destination
from mooring.net.pool import Pool

DIAL_SECONDS: Final = 10.0


class Connections:
    """At most `size` requests at a time; watches come on top, each with a connection of its own."""

    def __init__(self, access: Access, size: int) -> None:
        self._access = access
        url = _split(access.server)
        if access.proxy:
            _split(access.proxy)
        if url.scheme == "https" and access.tls is None:
            raise MooringError(f"{access.server} needs TLS, but no certificates to trust were given for it")
        self._prefix = url.path.rstrip("/")
        self._host = {"Host": url.netloc.rpartition("@")[2]}
        self._destination = Destination(
            url.hostname or "",
            url.port or (443 if url.scheme == "https" else 80),
            access.tls if url.scheme == "https" else None,
            access.server_name,
            access.proxy,
        )
        self._pool = Pool(self._destination, few=size, dial_seconds=DIAL_SECONDS)
        self.take = self._pool.take
        self.give_back = self._pool.give_back
        self.drop_idle = self._pool.drop_idle
        self._watches: set[ClientConnection] = set()

    def request(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
        """A request as it goes over the wire, with the credentials of this moment."""
        sent = {**self._host, **headers, **self._access.headers()}
        return request_bytes(method, f"{self._prefix}{path}", sent, body)

    async def lend(self) -> ClientConnection:
        """A connection for one request, to be given back."""
        try:
            return await self._pool.lend()
        except (OSError, ConnectionCut) as error:
            raise self._unreachable(error) from None

    async def open_watch(self) -> ClientConnection:
        """A connection of its own, to be ended with `end_watch`."""
        try:
            connection = await self._destination.dial(seconds=DIAL_SECONDS)
        except (OSError, ConnectionCut) as error:
            raise self._unreachable(error) from None
        self._watches.add(connection)
        return connection

    def end_watch(self, connection: ClientConnection) -> None:
        self._watches.discard(connection)
        connection.close()

    async def close(self) -> None:
        self._pool.close()
        for connection in self._watches:
            connection.close()
        self._watches.clear()
        # Closing takes effect when the loop comes round.
        await asyncio.sleep(0)

    def _unreachable(self, error: OSError | ConnectionCut) -> Unreachable:
        server = self._access.server
        if isinstance(error, TimeoutError):
            return Unreachable(f"{server} does not answer: no connection in {DIAL_SECONDS:.0f} s")
        return Unreachable(dial_error(server, error))


def _split(url: str) -> SplitResult:
    found = urlsplit(url)
    try:
        found.port  # noqa: B018  (an impossible port raises when it is looked at)
    except ValueError as error:
        raise MooringError(f"{url} is not an address: {error}") from None
    if found.scheme not in ("http", "https") or not found.hostname:
        raise MooringError(f"{url} is not an address of an API server; write it as https://HOST:PORT")
    return found
