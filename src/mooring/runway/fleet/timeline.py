"""What happened in the pools over time, for people: each moment in words, with how many nodes the pool had after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from mooring.runtime.pool_report import MomentKind, PoolEvent, PoolReport, PoolWorld
from mooring.runway.shown import Shown
from mooring.runway.workloads.events import EventSummary

__all__ = ["TimelineAnswer", "TimelineMoment", "timeline_answer"]

MOST_MOMENTS: Final = 500


class TimelineMoment(Shown, frozen=True):
    """`kind` is made, grown, shrunk, joined, left, lost, problem or removed, `nodes` how many the pool had after it."""

    time: str
    namespace: str
    pool: str
    kind: MomentKind
    text: str
    host: str
    nodes: int


class TimelineAnswer(Shown, frozen=True):
    """`moments` are oldest first; `notes` say what could not be read."""

    moments: tuple[TimelineMoment, ...]
    notes: tuple[str, ...]


def timeline_answer(
    report: PoolReport,
    world: PoolWorld,
    decisions: Mapping[str, str],
    events: Iterable[EventSummary],
    notes: tuple[str, ...] = (),
) -> TimelineAnswer:
    told = (_event(each) for each in events if each.last_seen)
    found = report.timeline(world, decisions, told)[-MOST_MOMENTS:]
    return TimelineAnswer(tuple(TimelineMoment(*each) for each in found), notes)


def _event(event: EventSummary) -> PoolEvent:
    about = event.object
    return PoolEvent(about.kind, about.namespace, about.name, event.reason, event.message, event.last_seen)
