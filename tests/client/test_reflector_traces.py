"""Drawn servers that a reflector follows: lists in pages, watches that end, break, expire or are forbidden.

Every request comes when it came, and whoever follows knows in the end what the server has.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from random import Random

import pytest

from mooring.client.reflector import Reflector
from mooring.client.transport import EVERYTHING, Batch, Change, Item, Page, Scope, Unreachable, plain
from mooring.kube.errors import MooringError
from mooring.kube.status import (
    ExpiredError,
    ForbiddenError,
    InternalError,
    MethodNotAllowedError,
    NotFoundError,
    TooLargeVersionError,
    TooManyRequestsError,
)
from tests.support.traces.golden import agrees
from tests.support.virtual_time import clock, in_virtual_time

TROUBLES = (
    lambda: ExpiredError("too old"),
    lambda: TooLargeVersionError("too large"),
    lambda: ForbiddenError("no"),
    lambda: NotFoundError("not served"),
    lambda: MethodNotAllowedError("no such verb"),
    lambda: TooManyRequestsError("busy", {"retryAfterSeconds": 7}),
    lambda: InternalError("broken"),
    lambda: Unreachable("gone"),
    lambda: MooringError("nonsense"),
)


class Drawn:
    """A server with a few objects that change as time goes by."""

    def __init__(self, draw: Random, told: list[str], rate: float) -> None:
        self.draw, self.told, self.rate = draw, told, rate
        self.version = 1
        self.objects: dict[str, int] = {}
        self.changes: list[tuple[int, str, str]] = []

    def step(self) -> None:
        """One change."""
        name = self.draw.choice("pqrs")
        self.version += 1
        if name in self.objects and self.draw.random() < 0.3:
            del self.objects[name]
            self.changes.append((self.version, "DELETED", name))
            return
        kind = "MODIFIED" if name in self.objects else "ADDED"
        self.objects[name] = self.version
        self.changes.append((self.version, kind, name))

    def _struck(self) -> None:
        if self.draw.random() < self.rate:
            raise self.draw.choice(TROUBLES)()

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        self.told.append(f"{clock():.3f} list {api_version} {kind} {scope.labels}")
        await asyncio.sleep(0.1)
        self._struck()
        shown, version = sorted(self.objects.items()), str(self.version)
        for start in range(0, len(shown) or 1, 2):
            yield Page([_object(name, at) for name, at in shown[start : start + 2]], version)
            self._struck()

    async def watch(
        self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING
    ) -> AsyncGenerator[Batch]:
        self.told.append(f"{clock():.3f} watch {kind} from {resource_version}")
        self._struck()
        if self.draw.random() < 0.9:
            yield Batch((), resource_version)
        known = int(resource_version)
        for _ in range(self.draw.choice([0, 1, 3, 30])):
            await asyncio.sleep(self.draw.choice([0.2, 1, 4]))
            self._struck()
            news = [Change(kind, _object(name, at)) for at, kind, name in self.changes if at > known]
            if news:
                known = self.version
                yield Batch(news, str(known))


def _object(name: str, version: int) -> Item:
    return {"metadata": {"name": name, "resourceVersion": str(version)}}


class Follower:
    """Who is told, and writes it down."""

    def __init__(self, told: list[str]) -> None:
        self.told = told
        self.known: dict[str, int] = {}
        self._listing: dict[str, int] = {}

    def begin(self) -> None:
        self._listing = {}

    def page(self, items: Sequence[Item]) -> None:
        self._listing |= dict(map(_named, items))

    def listed(self, resource_version: str) -> None:
        self.known = self._listing
        self.told.append(f"{clock():.3f}   listed {resource_version}: {self.known}")

    def changed(self, changes: Sequence[Change]) -> None:
        for kind, item in changes:
            name, version = _named(item)
            if kind == "DELETED":
                self.known.pop(name, None)
            else:
                self.known[name] = version
        self.told.append(f"{clock():.3f}   {len(changes)} changes: {self.known}")

    def lost(self, why: str) -> None:
        self.told.append(f"{clock():.3f}   lost: it {why}")

    def troubled(self, why: str) -> None:
        self.told.append(f"{clock():.3f}   troubled: {why or 'no more'}")


def _named(item: Item) -> tuple[str, int]:
    meta = plain(item)["metadata"]
    return meta["name"], int(meta["resourceVersion"])


async def followed(number: int) -> str:
    draw = Random(f"reflector {number}")
    told: list[str] = []
    server = Drawn(draw, told, draw.choice([0.0, 0.15, 0.4]))
    follower = Follower(told)
    polls = draw.choice([0.0, 0.0, 0.0, 10.0])
    reflector = Reflector(
        server, "v1", "Pod", follower, scope=Scope(labels="app"), poll_seconds=polls, draw=draw, clock=clock
    )
    task = asyncio.create_task(reflector.run())
    for _ in range(30):
        server.step()
        await asyncio.sleep(draw.choice([0.1, 1, 8]))
        told.append(f"{clock():.3f} heard {reflector.heard:.3f}")
    server.rate = 0.0
    await asyncio.sleep(200)
    assert follower.known == server.objects
    task.cancel()
    counted = f"{reflector.lists} lists, {reflector.watches} watches, {reflector.changes} changes"
    return "".join(f"{line}\n" for line in [*told, counted])


@pytest.mark.parametrize("number", range(24))
def test_a_drawn_server_is_followed_as_it_was(number: int) -> None:
    agrees("reflectors", f"drawn {number}", in_virtual_time(followed(number)))
