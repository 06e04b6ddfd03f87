"""Conditions of typed views: the one way in which controllers read, set and write them.

    conditions = set_conditions(budget.status.conditions, (Condition("Ready", "True", "AllReady"),), now)

The type is the key of the list. `lastTransitionTime` moves when the status of a condition moves and not with its reason
or message, because clients wait and count by it. A condition that says the same already is left alone, so an unchanged
intent gives no write. `mooring.kube.conditions` does the same to plain objects.

Kinds differ in what else a condition carries. A Deployment's `last_update_time` and a Job's `last_probe_time` are
fields of the wanted condition. A node's `lastHeartbeatTime` is in no view, since a heartbeat must wake no controller,
and is added when the list is written (`condition_objects`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from msgspec.structs import replace

from mooring.api.meta import Condition
from mooring.kube.objects import Object
from mooring.kube.times import timestamp

__all__ = [
    "changed_conditions",
    "condition_objects",
    "dated",
    "find_condition",
    "is_true",
    "set_conditions",
    "without_condition",
]


def find_condition(conditions: Iterable[Condition], kind: str) -> Condition | None:
    # A plain loop: pods are asked for a condition at every change.
    for condition in conditions:
        if condition.type == kind:
            return condition
    return None


def is_true(conditions: Iterable[Condition], kind: str) -> bool:
    found = find_condition(conditions, kind)
    return found is not None and found.status == "True"


def without_condition(conditions: Iterable[Condition], kind: str) -> tuple[Condition, ...]:
    return tuple(condition for condition in conditions if condition.type != kind)


def dated(condition: Condition, known: Condition | None, now: datetime, generation: int = 0) -> Condition:
    """A wanted condition with the time since when it has its status."""
    kept = known.last_transition_time if known is not None and known.status == condition.status else None
    return replace(
        condition,
        last_transition_time=kept or timestamp(now),
        observed_generation=condition.observed_generation or generation,
    )


def set_conditions(
    conditions: tuple[Condition, ...], wanted: Iterable[Condition], now: datetime, *, generation: int = 0
) -> tuple[Condition, ...]:
    """The conditions with these set, each in its place or at the end; the very same tuple when nothing changes.

    A condition that must follow every generation carries it as `observed_generation`. `generation` is only noted in
    conditions that change for another reason.
    """
    found = {condition.type: condition for condition in conditions}
    changed = False
    for condition in wanted:
        known = found.get(condition.type)
        if known is None or not _says_the_same(known, condition):
            found[condition.type] = dated(condition, known, now, generation)
            changed = True
    return tuple(found.values()) if changed else conditions


def _says_the_same(known: Condition, wanted: Condition) -> bool:
    return (
        known.status == wanted.status
        and known.reason == wanted.reason
        and known.message == wanted.message
        and known.severity == wanted.severity
        and (not wanted.observed_generation or known.observed_generation == wanted.observed_generation)
        and (wanted.last_update_time is None or known.last_update_time == wanted.last_update_time)
        and (wanted.last_probe_time is None or known.last_probe_time == wanted.last_probe_time)
    )


def condition_objects(conditions: Iterable[Condition], *, complete: bool = False, heartbeat: str = "") -> list[Object]:
    """Conditions as a status has them, without empty fields.

    `complete` keeps an empty reason and message, which `meta.v1.Condition` requires. `heartbeat` is when a node was
    last heard of.
    """
    made = []
    for condition in conditions:
        fields: Object = {"type": condition.type, "status": condition.status}
        if condition.severity:
            fields["severity"] = condition.severity
        if condition.reason or complete:
            fields["reason"] = condition.reason
        if condition.message or complete:
            fields["message"] = condition.message
        if condition.last_transition_time:
            fields["lastTransitionTime"] = condition.last_transition_time
        if condition.observed_generation:
            fields["observedGeneration"] = condition.observed_generation
        if condition.last_update_time:
            fields["lastUpdateTime"] = condition.last_update_time
        if condition.last_probe_time:
            fields["lastProbeTime"] = condition.last_probe_time
        if heartbeat:
            fields["lastHeartbeatTime"] = heartbeat
        made.append(fields)
    return made


def changed_conditions(
    conditions: tuple[Condition, ...],
    wanted: Iterable[Condition],
    now: datetime,
    *,
    generation: int = 0,
    heartbeat: str = "",
) -> list[Object] | None:
    """The whole list to be written when some conditions are set; None when nothing changes.

    A merge patch replaces a list, so one condition cannot be written without the others.
    """
    new = set_conditions(conditions, wanted, now, generation=generation)
    return None if new is conditions else condition_objects(new, heartbeat=heartbeat)
