"""What a LeaderWorkerSet says about itself: how many groups are ready and new, and whether it is on its way.

Available excludes the two others; an update is over only when all groups are available. A condition that ends keeps
the words with which it began.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from mooring.api.apps.views import StatefulSet
from mooring.api.kinds import Key, Kind, key_of
from mooring.features.groups.api import NAME, WORKER_INDEX, LeaderWorkerSet, LeaderWorkerSetStatus, StatusCondition
from mooring.features.groups.events import CREATE, UPDATE, event_about
from mooring.features.groups.kinds import LEADER_WORKER_SET
from mooring.features.groups.state import Picture
from mooring.kube.times import timestamp
from mooring.runtime.decision import Event

AVAILABLE: Final = StatusCondition("Available", "True", "AllGroupsReady", "All replicas are ready")
PROGRESSING: Final = StatusCondition("Progressing", "True", "GroupsProgressing", "Replicas are progressing")
UPDATING: Final = StatusCondition("UpdateInProgress", "True", "GroupsUpdating", "Rolling Upgrade is in progress")
CONFLICTED: Final = "Conflicted"
_EXCLUDED: Final = {
    AVAILABLE.type: (PROGRESSING.type, UPDATING.type),
    PROGRESSING.type: (AVAILABLE.type,),
    UPDATING.type: (AVAILABLE.type,),
}


class Report(NamedTuple):
    status: LeaderWorkerSetStatus
    events: tuple[Event, ...]
    # Whether every group is new and ready, and none is kept back.
    finished: bool


def report(
    lws: LeaderWorkerSet,
    leaders: StatefulSet | None,
    picture: Picture,
    now: datetime,
    extra: Iterable[StatusCondition] = (),
) -> Report:
    """The status as it should be. `extra` are conditions of others, which are set as they are."""
    replicas = lws.spec.replicas
    partition = lws.spec.rollout_strategy.rolling_update_configuration.partition
    complete = [group for group in picture.groups.values() if group.complete]
    ready = sum(group.ready for group in complete)
    wanted = [group for group in complete if group.number < replicas]
    rolled = [group for group in wanted if group.number >= partition]
    done = sum(group.ready and group.updated for group in rolled)
    if sum(group.updated for group in rolled) < len(rolled):
        true: tuple[StatusCondition, ...] = (UPDATING, PROGRESSING)
    elif sum(group.ready for group in wanted) == replicas and done == len(rolled):
        true = (AVAILABLE,)
    else:
        true = (PROGRESSING,)
    conditions, begun = _conditions(lws, true, extra, now)
    status = LeaderWorkerSetStatus(
        conditions=conditions,
        ready_replicas=ready,
        updated_replicas=sum(group.updated for group in complete),
        replicas=0 if leaders is None else leaders.status.replicas,
        hpa_pod_selector=f"{NAME}={lws.metadata.name},{WORKER_INDEX}=0",
        observed_generation=lws.metadata.generation,
    )
    tail = f", with {ready} groups ready of total {replicas} groups"
    told = tuple(
        event_about(lws, "Normal", each.reason, f"{each.message}{tail}", UPDATE, _written(lws)) for each in begun
    )
    return Report(status, told, finished=partition == 0 and done == replicas)


def report_conflict(lws: LeaderWorkerSet, now: datetime, text: str) -> Report:
    """The status of a set whose StatefulSet cannot be made, because another one has its name. It is told once."""
    condition = StatusCondition(CONFLICTED, "True", "StatefulSetNotOwned", text)
    before = _found(lws).get(CONFLICTED)
    same = before is not None and (before.status, before.message) == (condition.status, condition.message)
    conditions, _ = _conditions(lws, (), (condition,), now)
    status = replace(lws.status, conditions=conditions, observed_generation=lws.metadata.generation)
    told = () if same else (event_about(lws, "Warning", "FailedCreate", text, CREATE, _written(lws)),)
    return Report(status, told, finished=False)


def without_conflict(lws: LeaderWorkerSet) -> tuple[StatusCondition, ...]:
    """What ends the condition, where there was one."""
    if CONFLICTED not in _found(lws):
        return ()
    text = f"StatefulSet {lws.metadata.name} belongs to this set"
    return (StatusCondition(CONFLICTED, "False", "NoConflicts", text),)


def _written(lws: LeaderWorkerSet) -> tuple[Kind[Any], Key]:
    return LEADER_WORKER_SET, key_of(lws)


def _found(lws: LeaderWorkerSet) -> dict[str, StatusCondition]:
    return {condition.type: condition for condition in lws.status.conditions}


def _conditions(
    lws: LeaderWorkerSet, true: tuple[StatusCondition, ...], extra: Iterable[StatusCondition], now: datetime
) -> tuple[tuple[StatusCondition, ...], list[StatusCondition]]:
    """The conditions as they should be, and those that have just become true."""
    found = _found(lws)
    begun = []
    for condition in true:
        before = found.get(condition.type)
        if before is None or before.status != "True":
            found[condition.type] = replace(condition, last_transition_time=timestamp(now))
            begun.append(condition)
        for other in _EXCLUDED[condition.type]:
            if other in found and found[other].status == "True":
                found[other] = replace(found[other], status="False", last_transition_time=timestamp(now))
    for condition in extra:
        before = found.get(condition.type)
        same = before is not None and before.status == condition.status
        since = before.last_transition_time if before is not None and same else timestamp(now)
        found[condition.type] = replace(condition, last_transition_time=since)
    generation = lws.metadata.generation
    return tuple(replace(condition, observed_generation=generation) for condition in found.values()), begun
