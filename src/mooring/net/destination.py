"""Where a client's connection leads, and how it gets there: directly or through a proxy, with TLS or without."""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from mooring.net.client_connection import ClientConnection, ConnectionCut

__all__ = ["UNKNOWN_AUTHORITY", "Destination", "dial_failure"]

# What OpenSSL says of a certificate whose authority it does not know.
UNKNOWN_AUTHORITY: Final = frozenset({18, 19, 20, 21})


@dataclass(frozen=True, slots=True)
class Destination:
    """`tls` is None for plain HTTP. `server_name` is the name that the certificate must bear where it is not the host.

    `proxy` is the URL of an HTTP proxy that is asked for a tunnel.
    """

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    server_name: str | None = None
    proxy: str | None = None

    @property
    def authority(self) -> str:
        """Host and port as URLs and the Host header have them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    async def dial(self, *, seconds: float | None = None, most_bytes: int | None = None) -> ClientConnection:
        """A new connection. Raises OSError (TimeoutError and ssl.SSLError are such) or ConnectionCut."""
        async with asyncio.timeout(seconds):
            if self.proxy:
                return await self._tunnel(self.proxy, most_bytes)
            return (
                await asyncio.get_running_loop().create_connection(
                    lambda: ClientConnection(most_bytes),
                    self.host,
                    self.port,
                    ssl=self.tls,
                    server_hostname=self._name if self.tls is not None else None,
                )
            )[1]

    @property
    def _name(self) -> str:
        return self.server_name or self.host

    async def _tunnel(self, url: str, most_bytes: int | None) -> ClientConnection:
        loop, proxy = asyncio.get_running_loop(), urlsplit(url)
        transport, through = await loop.create_connection(ClientConnection, proxy.hostname or "", proxy.port or 80)
        lines = [f"CONNECT {self.authority} HTTP/1.1", f"Host: {self.authority}"]
        if proxy.username:
            secret = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
            lines.append(f"Proxy-Authorization: Basic {b64encode(secret).decode()}")
        status = (await through.open("\r\n".join((*lines, "", "")).encode())).status
        if status != 200:
            through.close()
            raise ConnectionCut(f"the proxy {proxy.hostname} answered {status}", begun=True)
        connection = ClientConnection(most_bytes)
        if self.tls is None:
            transport.set_protocol(connection)
            connection.connection_made(transport)
            return connection
        secured = await loop.start_tls(transport, connection, self.tls, server_hostname=self._name)
        if secured is None:
            raise ConnectionCut("the proxy closed the connection", begun=False)
        connection.connection_made(secured)
        return connection


def dial_failure(error: Exception, destination: Destination) -> str:
    """Why there is no connection, in the words of Go programs: API servers are expected to use them."""
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in UNKNOWN_AUTHORITY:
            return "tls: failed to verify certificate: x509: certificate signed by unknown authority"
        return f"tls: failed to verify certificate: x509: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"tls: {error.reason or error}"
    where = f"dial tcp {destination.authority}"
    if isinstance(error, ConnectionRefusedError):
        return f"{where}: connect: connection refused"
    if isinstance(error, TimeoutError):
        return f"{where}: i/o timeout"
    return f"{where}: {(error.strerror if isinstance(error, OSError) else None) or error}"
