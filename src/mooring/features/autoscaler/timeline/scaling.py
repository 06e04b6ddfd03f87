"""Pools that were made larger or smaller: by the autoscaler, with the pods that it was for, or by somebody else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Final, NamedTuple

from mooring.api.kinds import Key
from mooring.features.autoscaler.diagnosis import POOL
from mooring.features.autoscaler.timeline.pool_names import PoolNames
from mooring.kube.times import moment
from mooring.kube.words import and_more, counted
from mooring.runtime.pool_report import MomentKind, PoolEvent, PoolMoment

__all__ = ["Logged", "logged_lines", "scaling_moments"]

_GROUP: Final = rf"{POOL}/(?P<namespace>[^/ ]+)/(?P<name>[^ ]+)"
_PLAN: Final = re.compile(rf"\{{{_GROUP} (?P<before>\d+)->(?P<after>\d+) ")
_LOWERED: Final = re.compile(rf"Lowering size of (?:group )?{_GROUP} to (?P<after>\d+)")
_TIMED_OUT: Final = re.compile(rf"Nodes added to group {_GROUP} failed to register within (?P<waited>\S+)")
_REMOVED_NODE: Final = re.compile(r'Scale-down: removing (?:empty )?node "?(?P<node>[^\s",]+)"?(?P<why>.*)')
_SCALED_SET: Final = re.compile(r"Scaled (?:up|down) MachineSet \S+ from (?P<before>\d+) to (?P<after>\d+)")
# What one decision is told as: an event of each pod, a line of the log, and the scaling of a set a moment later.
_SAME_DECISION: Final = timedelta(seconds=60)
_MOST_PODS: Final = 3


class Logged(NamedTuple):
    time: str
    text: str


class _Resized(NamedTuple):
    time: str
    pool: Key
    before: int
    after: int
    pod: str = ""
    # Whether the autoscaler decided it.
    decided: bool = True


def logged_lines(decisions: Mapping[str, str]) -> list[Logged]:
    """The lines of the log that say when."""
    parts = (line.partition(" ") for line in decisions.get("log", "").splitlines())
    return [Logged(time, text) for time, _, text in parts if time.endswith("Z")]


def scaling_moments(events: Iterable[PoolEvent], log: Iterable[Logged], names: PoolNames) -> Iterator[PoolMoment]:
    known = list(events)
    yield from _resized(sorted([*_from_events(known), *_from_log(log)], key=lambda each: each.time))
    told = [Logged(event.time, event.message) for event in known if event.kind == "ConfigMap"]
    yield from _once(_removals([*told, *log], names))
    for time, text in told:
        if (late := _TIMED_OUT.search(text)) is not None:
            why = f"No node came of the last scale-up within {late['waited']}"
            yield PoolMoment(time, late["namespace"], late["name"], "problem", why)


def _from_events(events: Iterable[PoolEvent]) -> Iterator[_Resized]:
    for event in events:
        if event.reason == "TriggeredScaleUp":
            for plan in _PLAN.finditer(event.message):
                yield _Resized(event.time, *_sizes(plan), f"{event.namespace}/{event.name}")
        elif event.kind == POOL and (found := _SCALED_SET.search(event.message)) is not None:
            pool = Key(event.namespace, event.name)
            yield _Resized(event.time, pool, int(found["before"]), int(found["after"]), decided=False)


def _from_log(log: Iterable[Logged]) -> Iterator[_Resized]:
    for time, text in log:
        if text.startswith("Final scale-up plan"):
            yield from (_Resized(time, *_sizes(plan)) for plan in _PLAN.finditer(text))


def _sizes(plan: re.Match[str]) -> tuple[Key, int, int]:
    return Key(plan["namespace"], plan["name"]), int(plan["before"]), int(plan["after"])


def _resized(found: list[_Resized]) -> Iterator[PoolMoment]:
    """One moment for all that tells of one change; oldest first."""
    groups: list[list[_Resized]] = []
    latest: dict[tuple[Key, int, int], list[_Resized]] = {}
    for each in found:
        which = (each.pool, each.before, each.after)
        group = latest.get(which)
        if group is None or moment(each.time) - moment(group[0].time) > _SAME_DECISION:
            group = latest[which] = []
            groups.append(group)
        group.append(each)
    for group in groups:
        first = group[0]
        kind: MomentKind = "grown" if first.after > first.before else "shrunk"
        pods = sorted({each.pod for each in group if each.pod})
        who = "The autoscaler scaled it" if any(each.decided for each in group) else "It was scaled"
        whom = f", for {counted(len(pods), 'pod')}: {and_more(pods, _MOST_PODS)}" if pods else ""
        text = f"{who} from {first.before} to {first.after}{whom}"
        yield PoolMoment(first.time, *first.pool, kind, text)


def _removals(told: Iterable[Logged], names: PoolNames) -> Iterator[PoolMoment]:
    """Nodes that the autoscaler takes away, and sizes that it lowers because no node came."""
    for time, text in told:
        if (node := _REMOVED_NODE.search(text)) is not None:
            pool = names.of_node(node["node"]) or Key("", "")
            why = node["why"].lstrip(", ") or "nothing needs it"
            yield PoolMoment(time, *pool, "shrunk", f"The autoscaler removes {node['node']}: {why}", node["node"])
        elif (lowered := _LOWERED.search(text)) is not None:
            why = f"The autoscaler lowered it to {lowered['after']}: no more nodes came in time"
            yield PoolMoment(time, lowered["namespace"], lowered["name"], "shrunk", why)


def _once(moments: Iterable[PoolMoment]) -> Iterator[PoolMoment]:
    """The event and the line of the log that tell the same; the event says more, and comes first."""
    seen: dict[tuple[str, str, str], PoolMoment] = {}
    for each in moments:
        which = (each.namespace, each.pool, each.host)
        before = seen.get(which)
        if before is None or abs(moment(each.time) - moment(before.time)) > _SAME_DECISION:
            seen[which] = each
            yield each
