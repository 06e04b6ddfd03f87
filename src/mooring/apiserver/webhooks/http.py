"""The HTTPS client of webhooks: pooled connections, and errors in the words of a Go client."""

import asyncio
import ssl
from base64 import b64decode
from typing import Final

from mooring.apiserver.webhooks.endpoints import WebhookAddress
from mooring.kube.errors import MooringError
from mooring.net.client_connection import (
    ClientConnection,
    ConnectionCut,
    HttpResponse,
    MalformedResponse,
    request_bytes,
)
from mooring.net.destination import Destination, dial_failure
from mooring.net.pool import Pool
from mooring.net.tls import client_context

__all__ = ["CallFailed", "WebhookClient"]

_FEW_CONNECTIONS: Final = 8
_MAX_CONNECTIONS: Final = 256
_MAX_ADDRESSES: Final = 100
_MAX_RESPONSE_BYTES: Final = 32 * 1024 * 1024
_HEADERS: Final = {
    "User-Agent": "mooring-apiserver",
    "Content-Type": "application/json",
    "Accept": "application/json, */*",
}


class CallFailed(MooringError):
    """A call without a response, with the message of a Go client."""


class WebhookClient:
    """All connections to webhooks. Belongs to one event loop."""

    def __init__(self) -> None:
        self._pools: dict[WebhookAddress, Pool] = {}

    async def post(self, target: WebhookAddress, query: str, body: bytes, seconds: float) -> HttpResponse:
        """The response to a POST; CallFailed when there is none in time."""
        host = f"[{target.name}]" if ":" in target.name else target.name
        headers = {"Host": f"{host}:{target.port}", **_HEADERS}
        data = request_bytes("POST", f"{target.path}{query}", headers, body)
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            return await self._ask(target, data, deadline)
        except TimeoutError:
            raise CallFailed("context deadline exceeded") from None

    async def _ask(self, target: WebhookAddress, data: bytes, deadline: float) -> HttpResponse:
        loop = asyncio.get_running_loop()
        while True:
            pool = self._pools.get(target)
            connection = None if pool is None else pool.take()
            if pool is None or connection is None:
                pool, connection = await self._lend(target, deadline)
            try:
                return await connection.ask(data, deadline - loop.time())
            except ConnectionCut as cut:
                # A connection that had been idle may have been closed while the request was on its way.
                if cut.begun or not connection.reused:
                    raise CallFailed(_message(cut)) from None
            except BaseException:
                connection.close()
                raise
            finally:
                pool.give_back(connection)

    async def _lend(self, target: WebhookAddress, deadline: float) -> tuple[Pool, ClientConnection]:
        if asyncio.current_task() is None:
            # A request is begun outside of a task and becomes one when it first waits; time limits need one.
            await asyncio.sleep(0)
        async with asyncio.timeout_at(deadline):
            pool = self._pools.get(target) or await self._open(target)
            try:
                return pool, await pool.lend()
            except OSError as error:
                raise CallFailed(dial_failure(error, pool.destination)) from None

    async def _open(self, target: WebhookAddress) -> Pool:
        # Reading the system's authorities takes long enough for others to notice.
        tls = await asyncio.to_thread(_trust, target.authority)
        destination = Destination(target.host, target.port, tls, target.name)
        self._forget_some()
        return self._pools.setdefault(
            target, Pool(destination, few=_FEW_CONNECTIONS, most=_MAX_CONNECTIONS, most_bytes=_MAX_RESPONSE_BYTES)
        )

    def _forget_some(self) -> None:
        """Close idle pools: addresses and authorities change, and no event says that old ones are no longer used."""
        if len(self._pools) >= _MAX_ADDRESSES:
            for target in [target for target, pool in self._pools.items() if pool.quiet][: _MAX_ADDRESSES // 2]:
                self._pools.pop(target).close()

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()


def _message(cut: ConnectionCut) -> str:
    if isinstance(cut, MalformedResponse):
        return str(cut) if cut.error is None else f"malformed HTTP response ({cut.error})"
    return "EOF" if cut.error is None else f"read: {cut.error}"


def _trust(authority: str) -> ssl.SSLContext:
    try:
        return client_context(authority=b64decode(authority) if authority else None)
    except (ssl.SSLError, ValueError) as error:
        raise CallFailed(f"unable to load root certificates: {error}") from None
