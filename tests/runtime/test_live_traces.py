"""The live driver in virtual time, over drawn servers that fail: what it writes, and when it tries again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from mooring.client.inprocess import AsyncInProcess
from mooring.client.transport import EVERYTHING, Batch, Page, Request, Scope, UnknownOutcome, Unreachable
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import (
    ApiError,
    ConflictError,
    ExpiredError,
    ForbiddenError,
    InternalError,
    NotFoundError,
    TooManyRequestsError,
    UnauthorizedError,
)
from mooring.registry import Registry
from mooring.runtime.drivers.live import Live
from tests.runtime.sample import COPIER
from tests.runtime.test_traces import JUGGLER, entries
from tests.support.traces.golden import agrees
from tests.support.traces.wording import Wording
from tests.support.virtual_time import clock, in_virtual_time

RESOURCE = ("v1", "ConfigMap")


def moment() -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=clock())


class Failing(AsyncInProcess):
    """A server in process that fails at times, in all the ways that servers do."""

    def __init__(self, registry: Registry, draw: Random, rate: float, told: list[str]) -> None:
        super().__init__(registry, moment)
        self.draw, self.rate, self.told = draw, rate, told
        self.wording = Wording()

    def trouble(self) -> MooringError | None:
        if self.draw.random() >= self.rate:
            return None
        return self.draw.choice(
            [
                TooManyRequestsError("busy", {"retryAfterSeconds": self.draw.choice([1, 4])}),
                InternalError("broken"),
                Unreachable("gone"),
                UnauthorizedError("who?"),
                ForbiddenError("no"),
            ]
        )

    async def get(
        self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False
    ) -> Object:
        trouble = self.trouble()
        self.told.append(f"{clock():.3f} get {name} {trouble or ''}".rstrip())
        await asyncio.sleep(0.01)
        if trouble is not None:
            raise trouble
        return await super().get(api_version, kind, namespace, name, metadata_only=metadata_only)

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        trouble = self.trouble()
        self.told.append(f"{clock():.3f} list {kind} {trouble or ''}".rstrip())
        if trouble is not None:
            raise trouble
        async for page in super().list(api_version, kind, scope):
            yield page

    async def watch(
        self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING
    ) -> AsyncGenerator[Batch]:
        self.told.append(f"{clock():.3f} watch {kind}")
        async for batch in super().watch(api_version, kind, resource_version, scope):
            await asyncio.sleep(self.draw.choice([0, 0.05, 1]))
            if self.draw.random() < self.rate:
                raise self.draw.choice([ExpiredError("too old"), InternalError("broken"), Unreachable("gone")])
            yield batch

    async def write(self, request: Request) -> Object:
        trouble = self.trouble()
        if trouble is None and self.draw.random() < self.rate and request.verb == "patch":
            trouble = ConflictError.stale("configmaps", "", request.name)
        said = f"{clock():.3f} {request.manager} {request.verb} {request.kind} {request.name}"
        shown = {} if request.kind == "Event" else request.body
        self.told.append(f"{said} {self.wording.body(shown)} {trouble or ''}".rstrip())
        await asyncio.sleep(self.draw.choice([0.002, 0.02, 0.3]))
        if trouble is not None:
            raise trouble
        try:
            answer = await super().write(request)
        except ApiError as error:
            self.told.append(f"{clock():.3f}   {self.wording.plain(str(error))}")
            raise
        self.wording.meet(answer)
        if self.draw.random() < self.rate:
            self.told.append(f"{clock():.3f}   the answer is lost")
            raise UnknownOutcome("lost")
        return answer


async def at_work(number: int) -> str:
    draw = Random(f"live {number}")
    registry = Registry(now=moment(), seed=number)
    told: list[str] = []
    server = Failing(registry, draw, draw.choice([0.0, 0.05, 0.2]), told)
    live = Live(
        (JUGGLER, COPIER),
        server,
        clock=moment,
        monotonic=clock,
        draw=draw,
        in_flight=draw.choice([1, 3, 64]),
        silence=9,
    )
    stop = asyncio.Event()
    task = asyncio.create_task(live.run(stop))
    resource = registry.resource(*RESOURCE)
    for _ in range(14):
        name = draw.choice(["juggler-1", "juggler-2", "copied"])
        data = {"copies": str(draw.randrange(4))} if name == "copied" else entries(draw)
        data = {key: value for key, value in data.items() if value is not None}
        try:
            if registry.find(*RESOURCE, "default", name) is None:
                meta = {"name": name, "namespace": "default"}
                made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}
                server.wording.meet(registry.create(resource, made, now=moment()))
            elif draw.random() < 0.15:
                registry.delete(resource, "default", name, now=moment())
            else:
                registry.patch(resource, "default", name, "merge", {"data": data}, now=moment())
            told.append(f"{clock():.3f} > {name} {data}")
        except NotFoundError as error:
            told.append(f"{clock():.3f} > {error}")
        await asyncio.sleep(draw.choice([0.1, 1, 6]))
        told.append(f"{clock():.3f} missing {live.missing}, silent {live.silent}, {len(live.dispatcher.queue)} wait")
    server.rate = 0.0
    await asyncio.sleep(120)
    live.dispatcher.validate_state()
    stop.set()
    await task
    lines = [line for line in live.metrics_text().splitlines() if "_seconds" not in line and not line.startswith("#")]
    return "".join(f"{line}\n" for line in [*told, *lines])


@pytest.mark.parametrize("number", range(16))
def test_a_driver_at_work_over_a_drawn_server_goes_as_it_did(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # How long a round takes on this machine is no part of the story.
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
    told = in_virtual_time(at_work(number))
    monkeypatch.undo()
    agrees("live", f"drawn {number}", told)
