"""Connections to one API server, kept for the next request."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import Mapping
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from mooring.client.access import Access
from mooring.client.connection import Connection, Cut
from mooring.client.transport import Unreachable
from mooring.kube.errors import MooringError

DIAL_SECONDS: Final = 10.0


class Pool:
    """At most `size` requests at a time; watches come on top, each with a connection of its own."""

    def __init__(self, access: Access, size: int) -> None:
        self.access = access
        url = _split(access.server)
        self._url = url
        self.prefix = url.path.rstrip("/")
        self._host, self._port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
        if url.scheme == "https" and access.tls is None:
            raise MooringError(f"{access.server} needs TLS, but no certificates to trust were given for it")
        self._tls = access.tls if url.scheme == "https" else None
        self._idle: list[Connection] = []
        self._lent: set[Connection] = set()
        self.room = asyncio.Semaphore(size)

    def head(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> bytes:
        """A request as it goes over the wire."""
        lines = [f"{method} {self.prefix}{path} HTTP/1.1", f"Host: {self._url.netloc.rpartition('@')[2]}"]
        lines += [f"{name}: {value}" for name, value in {**headers, **self.access.headers()}.items()]
        if body or method == "POST":
            lines.append(f"Content-Length: {len(body)}")
        if any("\r" in line or "\n" in line for line in lines):
            raise MooringError(f"{method} {path} has a line break in a header; look at the token in use")
        return "\r\n".join((*lines, "", "")).encode() + body

    def take(self) -> Connection | None:
        """A connection that was used before, if one is free."""
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                self._lent.add(connection)
                return connection
        return None

    async def dial(self) -> Connection:
        """A new connection."""
        try:
            async with asyncio.timeout(DIAL_SECONDS):
                connection = await self._connect()
        except TimeoutError:
            raise Unreachable(f"{self.access.server} does not answer: no connection in {DIAL_SECONDS:.0f} s") from None
        except ssl.SSLError as error:
            raise Unreachable(f"{self.access.server} cannot be trusted: {error.reason or error}") from None
        except (OSError, Cut) as error:
            raise Unreachable(f"{self.access.server} cannot be reached: {_why(error)}") from None
        self._lent.add(connection)
        return connection

    def give_back(self, connection: Connection) -> None:
        self._lent.discard(connection)
        if connection.usable:
            self._idle.append(connection)
        else:
            connection.close()

    def drop_idle(self) -> None:
        """Connections of a server that has gone are of no use, though nobody may have said so yet."""
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    async def close(self) -> None:
        self.drop_idle()
        for connection in self._lent:
            connection.close()
        self._lent.clear()
        # Closing takes effect when the loop comes round.
        await asyncio.sleep(0)

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        if self.access.proxy:
            return await self._tunnel(loop, _split(self.access.proxy))
        if self._tls is None:
            _, connection = await loop.create_connection(Connection, self._host, self._port)
        else:
            name = self.access.server_name or self._host
            _, connection = await loop.create_connection(
                Connection, self._host, self._port, ssl=self._tls, server_hostname=name
            )
        return connection

    async def _tunnel(self, loop: asyncio.AbstractEventLoop, proxy: SplitResult) -> Connection:
        transport, through = await loop.create_connection(Connection, proxy.hostname or "", proxy.port or 80)
        host = f"[{self._host}]" if ":" in self._host else self._host
        lines = [f"CONNECT {host}:{self._port} HTTP/1.1", f"Host: {host}:{self._port}"]
        if proxy.username:
            secret = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
            lines.append(f"Proxy-Authorization: Basic {b64encode(secret).decode()}")
        status = await through.open("\r\n".join((*lines, "", "")).encode(), DIAL_SECONDS)
        if status != 200:
            through.close()
            raise Unreachable(f"{self.access.server} cannot be reached: the proxy {proxy.hostname} answered {status}")
        connection = Connection()
        if self._tls is None:
            transport.set_protocol(connection)
            connection.connection_made(transport)
            return connection
        name = self.access.server_name or self._host
        secured = await loop.start_tls(transport, connection, self._tls, server_hostname=name)
        if secured is None:
            raise Cut("the proxy closed the connection", begun=False)
        connection.connection_made(secured)
        return connection


def _split(url: str) -> SplitResult:
    found = urlsplit(url)
    try:
        found.port  # noqa: B018  (an impossible port raises when it is looked at)
    except ValueError as error:
        raise MooringError(f"{url} is not an address: {error}") from None
    if found.scheme not in ("http", "https") or not found.hostname:
        raise MooringError(f"{url} is not an address of an API server; write it as https://HOST:PORT")
    return found


def _why(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
