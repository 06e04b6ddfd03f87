"""Health as probes and scrapes see it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from mooring.client.inprocess import AsyncInProcess
from mooring.client.transport import EVERYTHING, Page, Scope
from mooring.kube.status import ForbiddenError
from mooring.registry import Registry
from mooring.runtime.drivers.health import HealthServer, answer
from mooring.runtime.drivers.live import Live
from tests.client.stories import awaited, now, until
from tests.runtime.living import at_work, transport_in
from tests.runtime.sample import COPIER


class Closed(AsyncInProcess):
    """A server on which nothing may be read."""

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        for page in (Page((), "1"),):
            if kind == "ConfigMap":
                raise ForbiddenError('configmaps is forbidden: User "x" cannot list resource "configmaps"')
            yield page


async def ask(port: int, request: str) -> tuple[int, str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.encode())
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    return int(head.split()[1]), body


async def get(port: int, path: str) -> tuple[int, str]:
    return await ask(port, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")


@awaited
async def test_it_is_ready_when_every_kind_is_in() -> None:
    live = Live([COPIER], transport_in(Registry(now=now())))
    health = HealthServer(live)
    port = await health.start("127.0.0.1", 0)
    assert await get(port, "/readyz") == (503, "v1/ConfigMap has not been listed yet\n")
    assert await get(port, "/livez") == (200, "ok\n")
    async with at_work(live):
        await until(lambda: not live.missing)
        assert await get(port, "/readyz?verbose") == (200, "ok\n")
        status, text = await get(port, "/metrics")
        assert status == 200
        assert 'mooring_kind_synced{kind="v1/ConfigMap"} 1' in text
        assert 'mooring_reconcile_total{controller="copier",result="done"}' in text
    await health.close()


@awaited
async def test_it_says_which_kind_may_not_be_read() -> None:
    live = Live([COPIER], Closed(Registry(now=now()), now))
    async with at_work(live):
        await until(lambda: "may not be listed" in answer("/readyz", live).text)
        assert answer("/readyz", live).text.startswith("v1/ConfigMap may not be listed and watched: configmaps is")
        assert answer("/livez", live).status == 200


@awaited
async def test_it_answers_nothing_else() -> None:
    health = HealthServer(Live([COPIER], transport_in(Registry(now=now()))))
    port = await health.start("127.0.0.1", 0)
    assert (await get(port, "/secrets"))[0] == 404
    assert (await ask(port, "POST /livez HTTP/1.1\r\n\r\n"))[0] == 405
    assert (await ask(port, "hello\r\n\r\n"))[0] == 400
    await health.close()
