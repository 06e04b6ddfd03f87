"""Who hears of a change, and when: many streams of one kind, in slices, and never twice for one change."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.messages.negotiation import PLAIN
from mooring.apiserver.messages.representations import Representations
from mooring.apiserver.watches.broadcaster import WatchBroadcaster
from mooring.apiserver.watches.event_encoder import WatchEventEncoder, WatchEventFormat
from mooring.registry import MemoryStorage, Registry, WatchEvent
from tests.apiserver.alone import START, ScriptedLoop
from tests.support.virtual_time import clock


class Listener:
    """A stream that notes when it is delivered to, and what comes to pass meanwhile."""

    def __init__(self, heard: list[tuple[float, str]], name: str, meanwhile: Any = None) -> None:
        self.heard, self.name, self.meanwhile = heard, name, meanwhile

    def deliver(self) -> None:
        self.heard.append((round(clock(), 4), self.name))
        if self.meanwhile is not None:
            self.meanwhile, then = None, self.meanwhile
            then()


class Hall:
    """A broadcaster with its streams; `takes` is how long each delivery seems to take."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, takes: float = 0.0) -> None:
        self.registry = Registry(MemoryStorage(), now=START, seed=1)
        self.maps = self.registry.resource("v1", "ConfigMap")
        self.commit = GroupCommit(self.registry.storage)
        self.broadcaster = WatchBroadcaster(self.registry, self.maps, self.commit)
        self.heard: list[tuple[float, str]] = []
        self.made = 0
        passed = [0.0]

        def looked_at() -> float:
            passed[0] += takes
            return passed[0]

        monkeypatch.setattr("mooring.apiserver.watches.broadcaster.perf_counter", looked_at)

    def change(self) -> None:
        self.made += 1
        self.registry.create(self.maps, {"metadata": {"name": f"m{self.made}"}}, now=START)

    def listen(self, count: int, meanwhile: Any = None) -> None:
        for number in range(count):
            then = meanwhile if number == 0 else None
            self.broadcaster.streams.add(Listener(self.heard, f"s{number}", then))  # type: ignore[arg-type]

    def moments(self) -> list[float]:
        return sorted({moment for moment, _ in self.heard})


def played(story: Any) -> None:
    with asyncio.Runner(loop_factory=ScriptedLoop) as runner:
        runner.run(story())


@pytest.mark.parametrize(("streams", "pause"), [(1, 0.01), (100, 0.01), (150, 0.015), (200, 0.02), (400, 0.02)])
def test_the_pause_between_broadcasts_grows_with_the_streams(
    monkeypatch: pytest.MonkeyPatch, streams: int, pause: float
) -> None:
    async def story() -> None:
        hall = Hall(monkeypatch)
        hall.listen(streams)
        await asyncio.sleep(1.0)
        # The first is told at once, the others together after the pause, and then it is quiet.
        for _ in range(4):
            hall.change()
            await asyncio.sleep(0.001)
        await asyncio.sleep(1.0)
        hall.change()
        await asyncio.sleep(1.0)
        assert hall.moments() == [1.0, round(1.0 + pause, 4), 2.004]
        assert len(hall.heard) == 3 * streams

    played(story)


def test_a_change_just_after_the_pause_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        hall = Hall(monkeypatch)
        hall.listen(1)
        await asyncio.sleep(0.0625)
        hall.change()
        await asyncio.sleep(0.5)
        hall.change()
        await asyncio.sleep(0.125)
        assert hall.moments() == [0.0625, 0.5625]

    played(story)


@pytest.mark.parametrize(
    ("takes", "turns"), [(0.0, [7]), (0.0024, [5, 7]), (0.006, [2, 4, 6, 7]), (0.01, [1, 2, 3, 4, 5, 6, 7])]
)
def test_others_are_served_after_every_ten_milliseconds_of_deliveries(
    monkeypatch: pytest.MonkeyPatch, takes: float, turns: list[int]
) -> None:
    async def story() -> None:
        hall = Hall(monkeypatch, takes)
        hall.listen(7)
        await asyncio.sleep(1.0)
        hall.change()
        told, seen = 0, []
        for _ in range(40):
            await asyncio.sleep(0)
            if len(hall.heard) != told:
                told = len(hall.heard)
                seen.append(told)
        assert seen == turns
        assert sorted(name for _, name in hall.heard) == [f"s{number}" for number in range(7)]

    played(story)


def test_what_changes_during_a_broadcast_is_told_in_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        hall = Hall(monkeypatch, 0.02)
        hall.listen(3, hall.change)
        await asyncio.sleep(1.0)
        hall.change()
        await asyncio.sleep(1.0)
        assert hall.moments() == [1.0, 1.01]
        assert len(hall.heard) == 6
        hall.change()
        await asyncio.sleep(1.0)
        assert len(hall.heard) == 9

    played(story)


def test_a_broadcaster_that_is_closed_tells_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        hall = Hall(monkeypatch)
        hall.listen(1)
        hall.change()
        hall.broadcaster.close()
        await asyncio.sleep(1.0)
        hall.change()
        await asyncio.sleep(1.0)
        assert hall.heard == []

    played(story)


def test_nothing_is_told_before_it_is_durable(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        hall = Hall(monkeypatch)
        hall.listen(1)
        await asyncio.sleep(1.0)
        hall.change()
        assert hall.heard == []
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(hall.heard) == 1

    played(story)


def test_a_line_is_made_once_for_all_that_want_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many lines, the newest are kept: as many as there is room for."""
    made: list[str] = []

    class Counting(WatchEventEncoder):
        def encode_once(self, event_format: WatchEventFormat, event: WatchEvent) -> bytes:
            made.append(event.object["metadata"]["resourceVersion"])
            return b"x" * 100

    monkeypatch.setattr("mooring.apiserver.watches.event_encoder._MAX_CACHED_BYTES", 300)
    registry = Registry(MemoryStorage(), now=START, seed=1)
    encoder = Counting(Representations(registry, lambda: START))
    plain = WatchEventFormat(registry.resource("v1", "ConfigMap"), PLAIN, "")

    def line(version: int) -> None:
        encoder.encode_shared(plain, WatchEvent("ADDED", {"metadata": {"resourceVersion": str(version)}}))

    for version in (1, 1, 2, 3, 1, 2, 3):
        line(version)
    assert made == ["1", "2", "3"]
    # The fourth has no room beside them.
    for version in (4, 4, 5, 6, 4, 5, 6, 1):
        line(version)
    assert made == ["1", "2", "3", "4", "5", "6", "1"]
