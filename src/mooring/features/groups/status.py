"""What a LeaderWorkerSet says about itself: how many groups are ready and new, and whether it is on its way.

Available excludes the two others; an update is over only when all groups are available. A condition that ends keeps
the message with which it began.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from mooring.api.apps.views import StatefulSet
from mooring.api.conditions import find_condition, is_true, set_conditions
from mooring.api.kinds import Key, Kind, key_of
from mooring.api.meta import Condition
from mooring.features.groups.api import NAME, WORKER_INDEX, LeaderWorkerSet, LeaderWorkerSetStatus
from mooring.features.groups.events import CREATE, UPDATE, event_about
from mooring.features.groups.kinds import LEADER_WORKER_SET
from mooring.features.groups.state import ObservedGroups
from mooring.runtime.decision import Event

AVAILABLE: Final = Condition("Available", "True", "AllGroupsReady", "All replicas are ready")
PROGRESSING: Final = Condition("Progressing", "True", "GroupsProgressing", "Replicas are progressing")
UPDATING: Final = Condition("UpdateInProgress", "True", "GroupsUpdating", "Rolling Upgrade is in progress")
CONFLICTED: Final = "Conflicted"
_EXCLUDED: Final = {
    AVAILABLE.type: (PROGRESSING.type, UPDATING.type),
    PROGRESSING.type: (AVAILABLE.type,),
    UPDATING.type: (AVAILABLE.type,),
}


class StatusReport(NamedTuple):
    status: LeaderWorkerSetStatus
    events: tuple[Event, ...]
    # Whether every group is new and ready, and none is kept back.
    finished: bool


def report(
    lws: LeaderWorkerSet,
    leaders: StatefulSet | None,
    observed: ObservedGroups,
    now: datetime,
    extra: Iterable[Condition] = (),
) -> StatusReport:
    """The status as it should be. `extra` are conditions of others, which are set as they are."""
    replicas = lws.spec.replicas
    partition = lws.spec.rollout_strategy.rolling_update_configuration.partition
    complete = [group for group in observed.groups.values() if group.complete]
    ready = sum(group.ready for group in complete)
    wanted = [group for group in complete if group.number < replicas]
    rolled = [group for group in wanted if group.number >= partition]
    done = sum(group.ready and group.updated for group in rolled)
    if sum(group.updated for group in rolled) < len(rolled):
        true: tuple[Condition, ...] = (UPDATING, PROGRESSING)
    elif sum(group.ready for group in wanted) == replicas and done == len(rolled):
        true = (AVAILABLE,)
    else:
        true = (PROGRESSING,)
    in_the_way = [group.in_the_way for group in observed.groups.values() if group.in_the_way is not None]
    conflict = _conflict(lws, in_the_way)
    conditions, begun = _conditions(lws, true, (*extra, *conflict.conditions), now)
    status = LeaderWorkerSetStatus(
        conditions=conditions,
        ready_replicas=ready,
        updated_replicas=sum(group.updated for group in complete),
        replicas=0 if leaders is None else leaders.status.replicas,
        hpa_pod_selector=f"{NAME}={lws.metadata.name},{WORKER_INDEX}=0",
        observed_generation=lws.metadata.generation,
    )
    tail = f", with {ready} groups ready of total {replicas} groups"
    events = tuple(
        event_about(lws, "Normal", each.reason, f"{each.message}{tail}", UPDATE, _written(lws)) for each in begun
    )
    return StatusReport(status, (*events, *conflict.events), finished=partition == 0 and done == replicas)


def report_conflict(lws: LeaderWorkerSet, in_the_way: Sequence[StatefulSet], now: datetime) -> StatusReport:
    """The status of a set that can make nothing, since its leaders' StatefulSet has the name of another."""
    conflict = _conflict(lws, in_the_way)
    conditions, _ = _conditions(lws, (), conflict.conditions, now)
    status = replace(lws.status, conditions=conditions, observed_generation=lws.metadata.generation)
    return StatusReport(status, conflict.events, finished=False)


class _Conflict(NamedTuple):
    conditions: tuple[Condition, ...] = ()
    events: tuple[Event, ...] = ()


def _conflict(lws: LeaderWorkerSet, in_the_way: Sequence[StatefulSet]) -> _Conflict:
    """The condition about StatefulSets whose names the set needs, and an event when it begins or changes."""
    before = find_condition(lws.status.conditions, CONFLICTED)
    if not in_the_way:
        ended = Condition(CONFLICTED, "False", "NoConflicts", "No name that this set needs belongs to another")
        return _Conflict() if before is None else _Conflict((ended,))
    first = min(in_the_way, key=lambda each: each.metadata.name)
    owner = first.metadata.controller
    whose = "has no controller" if owner is None else f"is controlled by {owner.kind} {owner.name}"
    others = f" ({len(in_the_way) - 1} more like it)" if len(in_the_way) > 1 else ""
    text = (
        f"StatefulSet {first.metadata.name} exists and {whose}{others}; delete it, or choose another name for this set"
    )
    begun = Condition(CONFLICTED, "True", "StatefulSetNotOwned", text)
    if before is not None and (before.status, before.message) == (begun.status, begun.message):
        return _Conflict((begun,))
    return _Conflict((begun,), (event_about(lws, "Warning", "FailedCreate", text, CREATE, _written(lws)),))


def _written(lws: LeaderWorkerSet) -> tuple[Kind[Any], Key]:
    return LEADER_WORKER_SET, key_of(lws)


def _conditions(
    lws: LeaderWorkerSet, true: tuple[Condition, ...], extra: Iterable[Condition], now: datetime
) -> tuple[tuple[Condition, ...], list[Condition]]:
    """The conditions as they should be, and those that have just become true."""
    known = lws.status.conditions
    begun = [condition for condition in true if not is_true(known, condition.type)]
    excluded = {other for condition in true for other in _EXCLUDED[condition.type]}
    ended = [replace(each, status="False") for each in known if each.type in excluded and each.status == "True"]
    found = set_conditions(known, (*begun, *ended, *extra), now)
    generation = lws.metadata.generation
    return tuple(replace(condition, observed_generation=generation) for condition in found), begun
