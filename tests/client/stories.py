"""Helpers for tests that await: a decorator, homes for a transport, and small objects."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import wraps
from typing import ParamSpec, cast

import msgspec

from mooring.apiserver.app import Application
from mooring.apiserver.authentication.users import User
from mooring.apiserver.server import Server
from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.client.inprocess import AsyncInProcess
from mooring.client.transport import AsyncTransport, Batch, Change, Item, Request
from mooring.kube.objects import Object
from mooring.registry import Registry
from mooring.runtime.drivers.eventloop import run
from tests.client.faulty import Refusing

P = ParamSpec("P")
LIMIT = 60.0


def awaited(story: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """A test that is a coroutine; one that hangs fails."""

    @wraps(story)
    def test(*args: P.args, **kwargs: P.kwargs) -> None:
        async def main() -> None:
            async with asyncio.timeout(LIMIT):
                await story(*args, **kwargs)

        run(main())

    return test


async def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait for something to become true."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)


def now() -> datetime:
    return datetime.now(UTC)


def anybody(header: str | None) -> User | None:
    return User("tester", ("system:masters", "system:authenticated"))


class Served:
    """The embedded server on a port of its own, in this event loop. `stop` is abrupt, as a crash is."""

    def __init__(self, registry: Registry | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.registry = registry if registry is not None else Registry(now=now())
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.app = Application(self.registry, clock=now, authenticate=anybody)
        self.front = Refusing(self.app)
        self._server = Server(cast(Application, self.front), tls)
        self._scheme = "http" if tls is None else "https"
        self._task: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self.port}"

    async def start(self) -> None:
        # Whoever connects before it serves waits in line.
        self._task = asyncio.create_task(self._server.serve(self._socket))

    async def stop(self) -> None:
        if self._task is not None:
            self._server.stop()
            await self._task
            self._task = None


@asynccontextmanager
async def served(registry: Registry | None = None, tls: ssl.SSLContext | None = None) -> AsyncIterator[Served]:
    server = Served(registry, tls)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@asynccontextmanager
async def home(name: str) -> AsyncIterator[tuple[AsyncTransport, Registry]]:
    """A transport to an empty cluster, in process or over HTTP."""
    if name == "in process":
        registry = Registry(now=now())
        yield AsyncInProcess(registry, now), registry
        return
    async with served() as server:
        transport = HttpTransport(Access(server.url), page=3)
        try:
            yield transport, server.registry
        finally:
            await transport.close()


def config_map(name: str, **data: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": data,
    }


def creation(obj: Object) -> Request:
    meta = obj["metadata"]
    return Request(
        "create", obj["apiVersion"], obj["kind"], meta.get("namespace", ""), meta["name"], obj, manager="tester"
    )


def plain(item: Item) -> Object:
    """An item as a plain object, however it came."""
    if isinstance(item, dict):
        return item
    found: Object = msgspec.json.decode(item)
    return found


async def everything(transport: AsyncTransport, api_version: str, kind: str) -> tuple[list[Object], str]:
    """A whole list and its version."""
    items, version = [], ""
    async for page in transport.list(api_version, kind):
        items += [plain(item) for item in page.items]
        version = page.resource_version
    return items, version


async def next_changes(watch: AsyncIterator[Batch], count: int) -> list[Change]:
    """The next so many changes of a watch, bookmarks aside."""
    found: list[Change] = []
    while len(found) < count:
        batch = await anext(watch)
        found += [change for change in batch.changes if change.type != "BOOKMARK"]
    return found
