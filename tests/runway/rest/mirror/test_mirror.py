"""A mirror over a registry in memory: topics, positions of streams, and what becomes of them when history is short."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mooring.client.inprocess import AsyncInProcess
from mooring.client.transport import Request
from mooring.kube.status import ForbiddenError
from mooring.registry import MemoryStorage, Registry
from mooring.runway.feature_views.hosts import host_record
from mooring.runway.rest.mirror import history
from mooring.runway.rest.mirror.mirror import NOWHERE
from mooring.runway.rest.mirror.sources import CallerMirror
from mooring.runway.rest.mirror.topic import TopicSource
from mooring.runway.rest.stream import EventStream

EVENTS = frozenset({"events"})
BOTH = frozenset({"events", "nodes"})


def now() -> datetime:
    return datetime.now(UTC)


class World:
    """A registry, a mirror of it, and what a stream at its end would be told."""

    def __init__(self) -> None:
        self.transport = AsyncInProcess(Registry(MemoryStorage(), now=now()), now)
        self.mirror = CallerMirror(self.transport)

    async def create(self, kind: str, name: str, **fields: Any) -> None:
        namespace = "default" if kind != "Node" else ""
        body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, **fields}
        await self.transport.write(Request("create", "v1", kind, namespace, name, body))

    async def event(self, name: str) -> None:
        about = {"kind": "Pod", "namespace": "default", "name": "web"}
        await self.create("Event", name, involvedObject=about, message=name)

    async def told(self, names: frozenset[str], position: int, text: str) -> tuple[str, int]:
        """The frames after a position, once they have a text."""
        async with asyncio.timeout(10):
            while True:
                frames, after = self.mirror.after(names, position)
                if text in frames.decode():
                    return frames.decode(), after
                await asyncio.sleep(0.01)


def play(story: Callable[[World], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        world = World()
        try:
            await story(world)
        finally:
            await world.mirror.close()

    asyncio.run(main())


def test_changes_of_one_moment_are_told_together_and_streams_share_the_bytes() -> None:
    async def story(world: World) -> None:
        await world.mirror.topic("events")
        _, start = world.mirror.after(EVENTS, NOWHERE)
        for number in range(5):
            await world.event(f"e{number}")
        frames, _ = await world.told(EVENTS, start, '"e4"')
        assert frames.count('"ADDED"') == 5
        first, second = (world.mirror.after(EVENTS, start)[0] for _ in range(2))
        assert first is second

    play(story)


def test_a_topic_whose_history_is_gone_is_told_whole_and_the_others_go_on() -> None:
    async def story(world: World) -> None:
        await world.mirror.topic("nodes")
        events = await world.mirror.topic("events")
        events.history = history.TopicHistory(events.history.forgotten, max_changes=2)
        _, start = world.mirror.after(BOTH, NOWHERE)
        await world.create("Node", "n1")
        await world.told(frozenset({"nodes"}), start, "n1")
        for number in range(4):
            await world.event(f"e{number}")
        await world.told(EVENTS, NOWHERE, '"e3"')
        frames, end = world.mirror.after(BOTH, start)
        text = frames.decode()
        assert text.index('"RESET"') < text.index('"name":"n1"'), "an id never promises what was not sent"
        assert text.count('"RESET"') == 1
        assert [f'"e{number}"' in text for number in range(4)] == [True] * 4
        assert text.count("event: nodes") == 1
        assert world.mirror.after(BOTH, end) == (b"", end)

    play(story)


def test_ids_of_another_mirror_begin_anew() -> None:
    async def story(world: World) -> None:
        await world.mirror.topic("events")
        await world.event("a")
        frames, end = await world.told(EVENTS, world.mirror.after(EVENTS, NOWHERE)[1], '"a"')
        own = frames.partition("id: ")[2].partition("\n")[0]
        assert world.mirror.position(own) == end
        other = World()
        assert other.mirror.position(own) == NOWHERE
        assert world.mirror.position(f"{own}0") == NOWHERE
        await other.mirror.close()

    play(story)


def test_what_may_not_be_read_any_more_is_gone_at_once() -> None:
    async def story(world: World) -> None:
        await world.event("secret")
        topic = await world.mirror.topic("events")
        assert b"secret" in topic.list()
        world.mirror.refuse(world.mirror.kinds_of(EVENTS)[0], ForbiddenError("no"))
        assert world.mirror.ended is not None
        with pytest.raises(ForbiddenError):
            await world.mirror.topic("events")

    play(story)


def test_a_silent_stream_has_a_heartbeat() -> None:
    async def story(world: World) -> None:
        await world.mirror.topic("events")
        sent: list[bytes] = []

        async def receive() -> Any:
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message.get("body", b""))

        caller = cast(Any, SimpleNamespace(mirror=world.mirror, uses=0, last_used=0.0))
        running = asyncio.create_task(EventStream(caller, EVENTS, "")({"type": "http"}, receive, send))
        async with asyncio.timeout(10):
            while len(sent) < 3:
                await asyncio.sleep(0.01)
            sent.clear()
            world.mirror.beat()
            while not sent:
                await asyncio.sleep(0.01)
        assert sent == [b": \n\n"]
        world.mirror.end(ForbiddenError("no"))
        async with asyncio.timeout(10):
            await running
        assert caller.uses == 0

    play(story)


@pytest.mark.parametrize("order", [("pools", "hosts"), ("hosts", "pools")])
def test_topics_that_are_made_of_the_same_kind_keep_their_own_of_it(order: tuple[str, str]) -> None:
    kinds = [{(each.api_version, each.kind) for each in source.kinds} for source in _sources(order)]
    assert kinds[0] & kinds[1], "they share a kind, or this says nothing"

    async def story(world: World) -> None:
        for name in order:
            await world.mirror.topic(name)
        followed = {follower.followed for follower in world.mirror.kinds_of(("hosts",))}
        (hosts,) = followed
        assert hosts.record is host_record
        shared = [each for each in world.mirror.kinds_of(("pools",)) if each.followed.kind == hosts.kind]
        assert [each.followed.record is host_record for each in shared] == [False]

    play(story)


def _sources(names: tuple[str, str]) -> list[TopicSource]:
    mirror = CallerMirror(AsyncInProcess(Registry(MemoryStorage(), now=now()), now))
    return [mirror._sources[name] for name in names]
