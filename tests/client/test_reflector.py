"""The rules of list and watch, on a server that says what it is told to."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Sequence

import pytest

from mooring.client.backoff import Backoff
from mooring.client.reflector import Reflector
from mooring.client.transport import EVERYTHING, Batch, Change, Item, Page, Request, Scope, Unreachable
from mooring.kube.objects import Object
from mooring.kube.status import (
    ApiError,
    ExpiredError,
    ForbiddenError,
    InternalError,
    NotFoundError,
    TooLargeVersionError,
    TooManyRequestsError,
)
from tests.client.stories import awaited

Act = Page | Batch | ApiError | Unreachable


class Scripted:
    """A server that plays a script, one list or watch after the other, and then ends."""

    def __init__(self, *script: Sequence[Act]) -> None:
        self._script = list(script)
        self.asked: list[str] = []
        self.over = asyncio.Event()

    async def _play(self) -> AsyncGenerator[Page | Batch]:
        if not self._script:
            self.over.set()
            await asyncio.Event().wait()
        for act in self._script.pop(0):
            if isinstance(act, Exception):
                raise act
            yield act

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        self.asked.append("list")
        async for act in self._play():
            assert isinstance(act, Page)
            yield act

    async def watch(
        self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING
    ) -> AsyncGenerator[Batch]:
        self.asked.append(f"watch {resource_version}")
        async for act in self._play():
            assert isinstance(act, Batch)
            yield act

    async def get(
        self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False
    ) -> Object:
        raise NotImplementedError

    async def write(self, request: Request) -> Object:
        raise NotImplementedError

    async def close(self) -> None:
        return


class Told:
    """A handler that writes down what it is told."""

    def __init__(self) -> None:
        self.story: list[str] = []

    def begin(self) -> None:
        self.story.append("begin")

    def page(self, items: Sequence[Item]) -> None:
        self.story.append(f"page of {len(items)}")

    def listed(self, resource_version: str) -> None:
        self.story.append(f"listed {resource_version}")

    def changed(self, changes: Sequence[Change]) -> None:
        self.story.append(f"{len(changes)} changes")

    def lost(self, why: str) -> None:
        self.story.append(f"lost: it {why}")

    def troubled(self, why: str) -> None:
        if why:
            self.story.append(f"troubled: {why}")


async def follow(*script: Sequence[Act], poll: float = 0.0) -> tuple[list[str], list[str], list[float]]:
    """What the server was asked, what the handler was told, and how long each wait was."""
    server, told, waits = Scripted(*script), Told(), []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    reflector = Reflector(server, "v1", "Pod", told, draw=random.Random(1), sleep=sleep, poll_seconds=poll)
    task = asyncio.create_task(reflector.run())
    await server.over.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return server.asked, told.story, waits


def event(name: str = "p") -> Change:
    return Change("MODIFIED", {"metadata": {"name": name}})


BEGUN = Batch((), "5")
LIST = (Page([{}, {}], "5"),)


@awaited
async def test_a_watch_begins_where_the_list_ended() -> None:
    asked, told, _ = await follow((Page([{}], "5"), Page([{}], "5")), (BEGUN, Batch((event(),), "6")))
    assert asked == ["list", "watch 5", "watch 6"]
    assert told == ["begin", "page of 1", "page of 1", "listed 5", "1 changes"]


@awaited
async def test_a_watch_that_breaks_goes_on_from_the_last_version() -> None:
    broken = Unreachable("cut off")
    asked, told, _ = await follow(LIST, (BEGUN, Batch((event(),), "9"), broken), (Batch((), "9"),))
    assert asked == ["list", "watch 5", "watch 9", "watch 9"]
    assert "troubled: cut off" in told


@awaited
async def test_an_expired_watch_lists_again() -> None:
    asked, told, _ = await follow(LIST, (BEGUN, ExpiredError("too old")), (Page([], "70"),), (Batch((), "70"),))
    assert asked == ["list", "watch 5", "list", "watch 70", "watch 70"]
    assert told.count("begin") == 2


@awaited
async def test_a_version_from_the_future_lists_again() -> None:
    asked, _, _ = await follow(LIST, (TooLargeVersionError.of(5, 2),), (Page([], "2"),))
    assert asked == ["list", "watch 5", "list", "watch 2"]


@awaited
async def test_a_list_that_expires_half_way_begins_anew() -> None:
    asked, told, _ = await follow((Page([{}], "5"), ExpiredError("gone")), LIST)
    assert asked == ["list", "list", "watch 5"]
    assert told == ["begin", "page of 1", "begin", "page of 2", "listed 5"]


@awaited
async def test_a_kind_that_is_not_served_is_lost_and_asked_for_again() -> None:
    asked, told, waits = await follow((NotFoundError("no"),), (NotFoundError("no"),), LIST)
    assert asked == ["list", "list", "list", "watch 5"]
    assert told[1].startswith("lost: it is not served by this cluster")
    assert waits[1] > waits[0] > 0


@awaited
async def test_a_forbidden_kind_says_who_may_not_what() -> None:
    why = 'pods is forbidden: User "x" cannot list resource "pods"'
    _, told, _ = await follow((ForbiddenError(why),))
    assert told[1] == f"lost: it may not be listed and watched: {why}"


@awaited
async def test_a_kind_that_may_be_listed_and_not_watched_is_listed_again_only_when_it_may_be_watched() -> None:
    why = ForbiddenError('pods is forbidden: User "x" cannot watch resource "pods"')
    asked, told, waits = await follow(LIST, (why,), (why,), (BEGUN,), LIST, (BEGUN,))
    assert asked == ["list", "watch 5", "watch 5", "watch 5", "list", "watch 5", "watch 5"]
    assert [line.split(":")[0] for line in told] == ["begin", "page of 2", "listed 5", "lost", "lost", *told[:3]]
    assert waits[1] > waits[0]


@awaited
async def test_a_server_that_fails_keeps_what_was_seen_and_is_asked_later() -> None:
    asked, told, waits = await follow(LIST, (InternalError("oh"),), (InternalError("oh"),), (BEGUN,))
    assert asked == ["list", "watch 5", "watch 5", "watch 5", "watch 5"]
    assert not [line for line in told if line.startswith("lost")]
    assert waits[1] > waits[0]


@awaited
async def test_a_server_that_asks_for_patience_gets_at_least_that() -> None:
    _, _, waits = await follow(LIST, (TooManyRequestsError("wait", {"retryAfterSeconds": 7}),))
    assert waits[0] >= 7


@awaited
async def test_a_watch_that_ends_at_once_is_not_asked_for_without_a_pause() -> None:
    _, _, waits = await follow(LIST, (BEGUN,), (BEGUN,), (BEGUN,))
    assert len(waits) == 3
    assert all(wait > 0 for wait in waits)


def test_waiting_grows_to_a_limit_and_starts_over() -> None:
    delay = Backoff(random.Random(1), first=0.1, longest=1.0)
    waits = [delay.next() for _ in range(8)]
    assert 0.1 <= waits[0] <= 0.15
    assert all(1.0 <= wait <= 1.5 for wait in waits[4:])
    delay.reset()
    assert delay.next() <= 0.15


@awaited
async def test_what_cannot_be_watched_is_listed_again_and_again() -> None:
    gone, away = NotFoundError("not here"), ApiError("the server behind is away")
    asked, told, waits = await follow((Page([{}], ""),), (gone,), (away,), (Page([{}, {}], ""),), poll=15.0)
    assert asked == ["list"] * 5
    assert told == [
        "begin", "page of 1", "listed 0",
        "begin", "lost: it is not served by this cluster; is its CustomResourceDefinition installed?",
        "begin", "lost: it cannot be listed and watched: the server behind is away",
        "begin", "page of 2", "listed 0",
        "begin",
    ]  # fmt: skip
    assert waits == [15.0] * 4
