"""What the watches of `mooring shadow` say and when they begin, over drawn days of a cluster, beside a simple model."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest.mock import patch

from mooring.cli.cluster_watch import ClusterWatch
from mooring.kube.errors import InputError
from mooring.placement.shadow import WATCHED
from mooring.placement.shadow.world import Place
from tests.support.recordings import Draw
from tests.support.virtual_time import clock, in_virtual_time

_KINDS = [kind for _, kind in WATCHED]
_DEVICES = {"DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"}
_WHY = ("is forbidden", "is not served by this cluster")
_POD = Place("Pod", "shop/web")


class _Shadow:
    """Judges each view at once, and each moment at which it is settled."""

    def __init__(self) -> None:
        self.ready = False
        self.lists: list[tuple[str, int]] = []
        self.settled: list[float] = []

    def take(self, place: Place, view: Any, now: float) -> list[Any]:
        return [(place, view, now)] if self.ready else []

    def settle(self, now: float) -> list[Any]:
        self.settled.append(now)
        return []

    def replace(self, kind: str, objects: dict[Place, Any]) -> None:
        self.lists.append((kind, len(objects)))


class _Model:
    """What should be heard of a day."""

    def __init__(self) -> None:
        self.missing, self.heard = set(_KINDS), list[Any]()
        self.begun, self.trouble, self.end = False, "", ""
        self.lists: list[tuple[str, int]] = []

    def hear(self, event: tuple[Any, ...], now: float) -> None:
        what, *more = event
        if what == "listed":
            self._list(more[0], more[1])
        elif what == "lost":
            kind, why = more
            if kind in ("Node", "Pod"):
                self.end = self.end or f"{kind} objects cannot be followed, and nothing goes without them: {why}"
            elif kind in _DEVICES and why == _WHY[1]:
                self._list(kind, 0)
            elif kind in self.missing:
                self.heard.append(f"{kind} objects cannot be followed, so predictions go without them: {why}")
                self._come(kind)
        elif what == "troubled":
            (why,) = more
            if why and not self.begun:
                self.end = self.end or why
            elif why and not self.trouble:
                self.heard.append(f"the cluster cannot be followed at the moment: {why}")
            elif self.trouble and not why:
                self.heard.append("the cluster can be followed again")
            self.trouble = why
        elif what == "take":
            self.heard += [(_POD, more[0], now)] if self.begun else []
        else:
            self.heard.append(f"left out: {more[0]}")

    def _list(self, kind: str, count: int) -> None:
        self.lists.append((kind, count))
        self._come(kind)

    def _come(self, kind: str) -> None:
        self.missing.discard(kind)
        if not self.missing and not self.begun:
            self.begun = True
            self.heard.append("begun")


def _day(draw: Draw) -> list[tuple[Any, ...]]:
    def lost(kind: str) -> tuple[Any, ...]:
        return ("lost", kind, draw.one(_WHY))

    optional = [kind for kind in _KINDS if kind not in ("Node", "Pod")]
    beginning = [lost(kind) if kind in optional and draw.chance(0.3) else ("listed", kind, 3) for kind in _KINDS]
    if draw.chance(0.2):
        beginning.insert(draw.below(len(beginning)), ("troubled", "the server is away"))
    later = [
        draw.one((
            ("troubled", "the server is away"), ("troubled", "it is slow"), ("troubled", ""), ("take", draw.below(9)),
            ("take", None), ("unreadable", ValueError("a pod without a name")), ("listed", draw.one(_KINDS), 2),
            lost(draw.one(optional)), lost(draw.one(_KINDS)) if draw.chance(0.3) else ("take", 1),
        ))
        for _ in range(draw.below(14))
    ]  # fmt: skip
    early = [("take", 0), ("unreadable", ValueError("early"))] if draw.chance(0.5) else []
    return [*early, *beginning, *later]


def test_what_is_said_of_a_cluster_is_what_a_simple_model_says() -> None:
    ends = set()
    for number in range(150):
        events = _day(Draw(f"watch {number}"))
        model, (heard, shadow, error, length) = _Model(), in_virtual_time(_watched(events))
        for step, event in enumerate(events):
            if not model.end:
                model.hear(event, float(step + 1))
        case = f"day {number}, {events}"
        assert (heard, error) == (model.heard, model.end), case
        assert (shadow.lists, shadow.ready) == (model.lists, model.begun), case
        # Judgements that wait are settled four times a second, and all of them at the end of a day without an error.
        ticks = [0.25 * (tick + 1) for tick in range(int(length * 4))]
        assert [*ticks, float("inf")][: len(shadow.settled)] == shadow.settled, case
        assert len(shadow.settled) >= len(ticks) - 1, case
        assert (shadow.settled[-1:] == [float("inf")]) == (not error), case
        ends.add(model.end.split(" ")[0])
    assert ends == {"", "the", "Node", "Pod"}


async def _watched(events: list[tuple[Any, ...]]) -> tuple[list[Any], _Shadow, str, float]:
    heard: list[Any] = []
    shadow, stop = _Shadow(), asyncio.Event()

    class Followed:
        """Stands for the reflectors: the first of them tells of the whole day, an event a second."""

        def __init__(self, transport: Any, api_version: str, kind: str, handler: Any, *, draw: Any) -> None:
            self.first = kind == _KINDS[0]

        async def run(self) -> None:
            if self.first:
                for step, (what, *more) in enumerate(events):
                    await asyncio.sleep(step + 1 - clock())
                    if what == "take":
                        more = [_POD, *more]
                    elif what == "listed":
                        more = [more[0], dict.fromkeys(range(more[1]), "")]
                    getattr(watch, what)(*more)
                await asyncio.sleep(0.9)
                stop.set()
            await asyncio.Event().wait()

    with patch("mooring.cli.cluster_watch.Reflector", Followed):
        transport: Any = None
        taken: Any = shadow
        watch = ClusterWatch(
            transport, taken, judged=heard.append, begun=lambda: heard.append("begun"), said=heard.append
        )
        error = ""
        try:
            await watch.run(stop)
        except InputError as failed:
            error = str(failed)
        return heard, shadow, error, clock()
