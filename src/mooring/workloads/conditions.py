"""Conditions of pods as whole lists: a merge patch replaces a list, so whoever changes one writes them all."""

from __future__ import annotations

from datetime import UTC, datetime

from mooring.api.core.views import Pod, PodCondition
from mooring.kube.objects import Object
from mooring.kube.times import moment, timestamp

AT_ONCE = datetime(1970, 1, 1, tzinfo=UTC)


def bound_at(pod: Pod) -> datetime:
    """When a pod got its node; when it was made, where nobody said so."""
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "True" and condition.last_transition_time:
            return moment(condition.last_transition_time)
    created = pod.metadata.creation_timestamp
    return moment(created) if created else AT_ONCE


def pod_conditions(pod: Pod, wanted: PodCondition, now: datetime) -> list[Object] | None:
    """The conditions of a pod with one set; None when it says the same already."""
    return with_conditions(pod, (wanted,), now)


def with_conditions(pod: Pod, wanted: tuple[PodCondition, ...], now: datetime) -> list[Object] | None:
    found = {condition.type: condition for condition in pod.status.conditions}
    changed = False
    for condition in wanted:
        old = found.get(condition.type)
        if old is not None and (old.status, old.reason, old.message) == (
            condition.status,
            condition.reason,
            condition.message,
        ):
            continue
        changed = True
        moved = old is None or old.status != condition.status
        since = timestamp(now) if moved or old is None else old.last_transition_time
        found[condition.type] = PodCondition(
            type=condition.type,
            status=condition.status,
            reason=condition.reason,
            message=condition.message,
            last_transition_time=since,
            observed_generation=pod.metadata.generation or None,
        )
    return [_object(condition) for condition in found.values()] if changed else None


def _object(condition: PodCondition) -> Object:
    fields = {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "lastTransitionTime": condition.last_transition_time,
        "lastProbeTime": condition.last_probe_time,
        "observedGeneration": condition.observed_generation,
    }
    return {name: value for name, value in fields.items() if value not in (None, "")}
