"""Calls webhooks over HTTPS, on connections that are kept.

Under load many writes wait for the same webhook at once. A new TLS connection costs more than most answers take, so
beyond a few connections a call first waits a moment for one to come free, and only then opens another; two at a time.
"""

import asyncio
import ssl
from collections import deque
from typing import Final, NamedTuple, cast

import httptools

from mooring.apiserver.webhooks.endpoints import Target
from mooring.kube.errors import MooringError

__all__ = ["Answer", "Client", "Failed"]

_FEW: Final = 8
_MOST: Final = 256
_AT_ONCE: Final = 2
_MOMENT: Final = 0.1
_MOST_TARGETS: Final = 100
_LARGEST: Final = 32 * 1024 * 1024
_UNKNOWN_AUTHORITY: Final = frozenset({18, 19, 20, 21})


class Failed(MooringError):
    """A call that brought no answer, in the words a Go client has for it."""


class Answer(NamedTuple):
    status: int
    body: bytes
    is_text: bool


class _Connection(asyncio.Protocol):
    """One connection, one request at a time."""

    def __init__(self) -> None:
        self.usable = True
        self.reused = False
        self.begun = False
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[Answer] | None = None

    def ask(self, data: bytes) -> asyncio.Future[Answer]:
        self._parser = httptools.HttpResponseParser(self)
        self._parts: list[bytes] = []
        self._size = 0
        self._is_text = True
        self.begun = False
        self._answer = asyncio.get_running_loop().create_future()
        if self._transport is None or self._transport.is_closing():
            self._fail("EOF")
        else:
            self._transport.write(data)
        return self._answer

    def close(self) -> None:
        self.usable = False
        if self._transport is not None:
            self._transport.abort()

    def _fail(self, why: str) -> None:
        self.usable = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(Failed(why))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not every event loop derives its transports from asyncio's.
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._fail("EOF" if error is None else f"read: {error}")

    def data_received(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():
            # Nobody asked.
            self.close()
            return
        self.begun = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._fail(f"malformed HTTP response ({error})")
            self.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"content-type":
            self._is_text = value.startswith(b"text/")

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)
        self._size += len(body)
        if self._size > _LARGEST:
            self._fail(f"the answer is larger than {_LARGEST} bytes")
            self.close()

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            return
        if not self._parser.should_keep_alive():
            self.usable = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(Answer(status, b"".join(self._parts), self._is_text))


class _Pool:
    """The connections to one target."""

    def __init__(self, target: Target, tls: ssl.SSLContext) -> None:
        self.target = target
        self._tls = tls
        self._idle: list[_Connection] = []
        self._all: set[_Connection] = set()
        self._dialling = 0
        self._waiters: deque[asyncio.Future[_Connection | None]] = deque()

    @property
    def quiet(self) -> bool:
        return len(self._idle) == len(self._all) and not self._dialling

    async def lend(self) -> _Connection:
        while self._idle:
            found = self._idle.pop()
            if found.usable:
                return found
            self._all.discard(found)
        if len(self._all) + self._dialling < _FEW:
            return await self._dial()
        return await self._wait() or await self._dial()

    def give_back(self, connection: _Connection) -> None:
        if not connection.usable:
            self._all.discard(connection)
            connection.close()
            self._hand(None)
        elif not self._hand(connection):
            self._idle.append(connection)

    def _hand(self, connection: _Connection | None) -> bool:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(connection)
                return True
        return False

    async def _wait(self) -> _Connection | None:
        """A connection that comes free, first come, first served; None to whoever may open another one."""
        waiter: asyncio.Future[_Connection | None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            while not waiter.done():
                await asyncio.wait((waiter,), timeout=_MOMENT)
                if self._dialling < _AT_ONCE and len(self._all) + self._dialling < _MOST and not waiter.done():
                    waiter.set_result(None)
            return waiter.result()
        except asyncio.CancelledError:
            if waiter.done() and (handed := waiter.result()) is not None:
                self.give_back(handed)
            waiter.cancel()
            raise

    async def _dial(self) -> _Connection:
        target = self.target
        self._dialling += 1
        try:
            _, connection = await asyncio.get_running_loop().create_connection(
                _Connection, target.host, target.port, ssl=self._tls, server_hostname=target.name
            )
        except OSError as error:
            self._hand(None)
            raise Failed(_why(error, target)) from None
        finally:
            self._dialling -= 1
        self._all.add(connection)
        return connection

    def close(self) -> None:
        for connection in self._all:
            connection.close()


def _why(error: OSError, target: Target) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        if error.verify_code in _UNKNOWN_AUTHORITY:
            return "tls: failed to verify certificate: x509: certificate signed by unknown authority"
        return f"tls: failed to verify certificate: x509: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"tls: {error.reason or error}"
    where = f"dial tcp {target.host}:{target.port}"
    if isinstance(error, ConnectionRefusedError):
        return f"{where}: connect: connection refused"
    return f"{where}: {error.strerror or error}"


class Client:
    """All connections to webhooks. Belongs to one event loop."""

    def __init__(self) -> None:
        self._pools: dict[Target, _Pool] = {}

    async def post(self, target: Target, query: str, body: bytes, seconds: float) -> Answer:
        """The answer to a POST; Failed when there is none in time."""
        host = f"[{target.name}]" if ":" in target.name else target.name
        head = (
            f"POST {target.path}{query} HTTP/1.1\r\nHost: {host}:{target.port}\r\nUser-Agent: mooring-apiserver\r\n"
            f"Content-Type: application/json\r\nAccept: application/json, */*\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode()
        if asyncio.current_task() is None:
            # A request is begun outside of a task and becomes one when it first waits; time limits need one.
            await asyncio.sleep(0)
        try:
            async with asyncio.timeout(seconds):
                return await self._ask(await self._pool(target), head + body)
        except TimeoutError:
            raise Failed("context deadline exceeded") from None

    async def _ask(self, pool: _Pool, data: bytes) -> Answer:
        while True:
            connection = await pool.lend()
            try:
                return await connection.ask(data)
            except Failed:
                # A connection that had been idle may have been closed while the request was on its way.
                if connection.begun or not connection.reused:
                    raise
            except BaseException:
                connection.close()
                raise
            finally:
                connection.reused = True
                pool.give_back(connection)

    async def _pool(self, target: Target) -> _Pool:
        found = self._pools.get(target)
        if found is None:
            # Reading the system's authorities takes long enough for others to notice.
            tls = await asyncio.to_thread(_trust, target.authority)
            found = self._pools.setdefault(target, _Pool(target, tls))
            self._forget_some()
        return found

    def _forget_some(self) -> None:
        """Addresses and authorities change, and nobody says when the old ones are no longer wanted."""
        if len(self._pools) > _MOST_TARGETS:
            for target in [target for target, pool in self._pools.items() if pool.quiet][: _MOST_TARGETS // 2]:
                self._pools.pop(target).close()

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()


def _trust(authority: str) -> ssl.SSLContext:
    from base64 import b64decode

    if not authority:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=b64decode(authority).decode("latin-1"))
    except (ssl.SSLError, ValueError) as error:
        raise Failed(f"unable to load root certificates: {error}") from None
    return context
