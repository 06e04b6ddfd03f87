"""Helpers for tests of the live driver: it at work over a transport, and transports with a will of their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from mooring.client.access import Access
from mooring.client.http import HttpTransport
from mooring.client.inprocess import AsyncInProcess
from mooring.client.transport import EVERYTHING, AsyncTransport, Batch, Page, Request, Scope
from mooring.kube.objects import Object
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.drivers.live import Live
from tests.client.stories import Served, now, served

Hook = Callable[[Request], Awaitable[None]]


@asynccontextmanager
async def at_work(live: Live) -> AsyncIterator[asyncio.Event]:
    """A driver that runs; leaving stops it and waits until it has stopped."""
    stop = asyncio.Event()
    task = asyncio.create_task(live.run(stop))
    try:
        yield stop
    finally:
        stop.set()
        await task


@asynccontextmanager
async def over_http(*controllers: Controller, **options: Any) -> AsyncIterator[tuple[Live, Served]]:
    """A driver at work on the embedded server."""
    async with served() as server:
        transport = HttpTransport(
            Access(server.url), idle=options.pop("idle", 70.0), seconds=options.pop("seconds", 30.0)
        )
        live = Live(controllers, transport, **options)
        try:
            async with at_work(live):
                yield live, server
        finally:
            await transport.close()


class Hooked(AsyncInProcess):
    """A transport in process that calls a hook before and after each write."""

    def __init__(self, registry: Registry, before: Hook | None = None, after: Hook | None = None) -> None:
        super().__init__(registry, now)
        self._before, self._after = before, after

    async def write(self, request: Request) -> Object:
        if self._before is not None:
            await self._before(request)
        result = await super().write(request)
        if self._after is not None:
            await self._after(request)
        return result


class Blind(Hooked):
    """One whose watches deliver nothing until they are let."""

    def __init__(self, registry: Registry, before: Hook | None = None, after: Hook | None = None) -> None:
        super().__init__(registry, before, after)
        self.sees = asyncio.Event()

    async def watch(
        self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING
    ) -> AsyncGenerator[Batch]:
        yield Batch((), resource_version)
        await self.sees.wait()
        async with aclosing(super().watch(api_version, kind, resource_version, scope)) as batches:
            async for batch in batches:
                yield batch


class Slow(AsyncInProcess):
    """A transport in process that takes its time over the list of one kind."""

    def __init__(self, registry: Registry, kind: str) -> None:
        super().__init__(registry, now)
        self._slow = kind

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        if kind == self._slow:
            await asyncio.sleep(0.1)
        async for page in super().list(api_version, kind, scope):
            yield page


def transport_in(registry: Registry) -> AsyncTransport:
    return AsyncInProcess(registry, now)


def put(registry: Registry, obj: Object) -> Object:
    return registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=now(), manager="tester")


def edit(registry: Registry, name: str, body: Object) -> Object:
    resource = registry.resource("v1", "ConfigMap")
    return registry.patch(resource, "default", name, "merge", body, now=now(), manager="tester")


def drop(registry: Registry, name: str) -> None:
    registry.delete(registry.resource("v1", "ConfigMap"), "default", name, now=now())


def names(registry: Registry) -> list[str]:
    found = registry.list(registry.resource("v1", "ConfigMap"), "default").items
    return sorted(obj["metadata"]["name"] for obj in found)


def data_of(registry: Registry, name: str) -> dict[str, str]:
    found = registry.find("v1", "ConfigMap", "default", name)
    return {} if found is None else found.get("data", {})
