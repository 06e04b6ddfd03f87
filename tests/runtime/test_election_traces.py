"""Drawn histories of elections: servers that fail, answers that are lost or late, candidates that die or are stopped.

At no moment may two candidates write, and every request goes as it went.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from mooring.client.inprocess import AsyncInProcess
from mooring.client.transport import Request, UnknownOutcome, Unreachable
from mooring.kube.objects import Object
from mooring.kube.status import ConflictError, InternalError, TooManyRequestsError
from mooring.registry import Registry
from mooring.runtime.drivers.leaderelection import Election, LeaseConfig
from tests.support.traces.golden import agrees
from tests.support.virtual_time import clock, in_virtual_time

NAMES = ("a", "b", "c")


def moment() -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=clock())


class Unreliable(AsyncInProcess):
    """A server that one candidate reaches at times."""

    def __init__(self, registry: Registry, name: str, draw: Random, rate: float, told: list[str]) -> None:
        super().__init__(registry, moment)
        self.name, self.draw, self.rate, self.told = name, draw, rate, told

    async def get(
        self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False
    ) -> Object:
        await self._before()
        return await super().get(api_version, kind, namespace, name)

    async def write(self, request: Request) -> Object:
        spec = {key: value for key, value in request.body["spec"].items() if not key.endswith("Time")}
        version = f" v{request.resource_version}" if request.resource_version else ""
        self.told.append(f"{clock():.3f} {self.name} {request.verb} {request.manager}{version} {spec}")
        await self._before()
        answer = await super().write(request)
        if self.draw.random() < self.rate:
            self.told.append(f"{clock():.3f} {self.name} hears no answer")
            raise UnknownOutcome("lost")
        return answer

    async def _before(self) -> None:
        await asyncio.sleep(self.draw.choice([0, 0.01, 0.2]))
        if self.draw.random() >= self.rate:
            return
        trouble = self.draw.choice(["slow", "slow", "gone", "busy", "broken", "conflict"])
        self.told.append(f"{clock():.3f} {self.name} {trouble}")
        match trouble:
            case "slow":
                await asyncio.sleep(self.draw.choice([1, 4, 12]))
            case "gone":
                raise Unreachable("gone")
            case "busy":
                raise TooManyRequestsError("busy", {"retryAfterSeconds": 1})
            case "broken":
                raise InternalError("broken")
            case "conflict":
                raise ConflictError.stale("leases", "", "crew")


async def history(number: int) -> str:
    draw = Random(f"election {number}")
    registry = Registry(now=moment(), seed=number)
    told: list[str] = []
    rate = draw.choice([0.0, 0.1, 0.4, 0.7])
    config = draw.choice([None, None, LeaseConfig(6.0, 4.0, 1.0), LeaseConfig(7.5, 3.0, 2.5)])
    stops = {name: asyncio.Event() for name in NAMES}
    tasks: dict[str, asyncio.Task[None]] = {}
    elections: dict[str, Election] = {}
    transports = {name: Unreliable(registry, name, draw, rate, told) for name in NAMES}

    async def candidate(name: str) -> None:
        await elections[name].run(lambda end: work(name, end), stops[name])

    async def work(name: str, end: asyncio.Event) -> None:
        told.append(f"{clock():.3f} {name} begins")
        if draw.random() < 0.15:
            await asyncio.sleep(3)
            told.append(f"{clock():.3f} {name} has done its work")
            return
        await end.wait()
        await asyncio.sleep(draw.choice([0, 1]))
        told.append(f"{clock():.3f} {name} ends")

    def start(name: str) -> None:
        stops[name].clear()
        elections[name] = Election(
            transports[name], "default", "crew", name, config=config, clock=moment, monotonic=clock, draw=draw
        )
        tasks[name] = asyncio.create_task(candidate(name))

    for name in NAMES:
        start(name)
    for _ in range(60):
        await asyncio.sleep(draw.choice([0.5, 2, 5]))
        writing = [name for name in NAMES if elections[name].may_write()]
        told.append(f"{clock():.3f} may write: {writing}, leading: {[n for n in NAMES if elections[n].leading]}")
        assert len(writing) <= 1, "\n".join(told)
        name = draw.choice(NAMES)
        match draw.randrange(14):
            case 0:
                told.append(f"{clock():.3f} {name} dies")
                tasks[name].cancel()
            case 1:
                told.append(f"{clock():.3f} {name} is stopped")
                stops[name].set()
            case 2 | 3 if tasks[name].done():
                told.append(f"{clock():.3f} {name} comes back")
                start(name)
            case 4:
                transports[name].rate = draw.choice([0.0, rate, 1.0])
                told.append(f"{clock():.3f} the server fails {name} at {transports[name].rate}")
    for event in stops.values():
        event.set()
    for transport in transports.values():
        transport.rate = 0.0
    await asyncio.gather(*tasks.values(), return_exceptions=True)
    found = registry.find("coordination.k8s.io/v1", "Lease", "default", "crew")
    told.append(f"{clock():.3f} {found['spec'] if found else None}")
    return "".join(f"{line}\n" for line in told)


@pytest.mark.parametrize("number", range(24))
def test_a_drawn_election_goes_as_it_did(number: int) -> None:
    agrees("elections", f"drawn {number}", in_virtual_time(history(number)))
