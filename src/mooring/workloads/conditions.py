"""What every controller and node that writes a pod's conditions needs."""

from __future__ import annotations

from datetime import UTC, datetime

from mooring.api.conditions import changed_conditions, condition_objects, dated, find_condition
from mooring.api.core.views import Pod
from mooring.api.kinds import key_of
from mooring.api.meta import Condition
from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.runtime.decision import ApplyStatus
from mooring.workloads.kinds import POD

DISRUPTION_TARGET = "DisruptionTarget"

AT_ONCE = datetime(1970, 1, 1, tzinfo=UTC)


def bound_at(pod: Pod) -> datetime:
    """When a pod got its node; when it was made, where no condition says so."""
    scheduled = find_condition(pod.status.conditions, "PodScheduled")
    if scheduled is not None and scheduled.status == "True" and scheduled.last_transition_time:
        return moment(scheduled.last_transition_time)
    created = pod.metadata.creation_timestamp
    return moment(created) if created else AT_ONCE


def pod_conditions(pod: Pod, now: datetime, *wanted: Condition) -> list[Object] | None:
    """The conditions of a pod with some set, as they are written; None when it says the same already."""
    return changed_conditions(pod.status.conditions, wanted, now, generation=pod.metadata.generation)


def disruption_mark(pod: Pod, now: datetime, reason: str, message: str, **status: str) -> ApplyStatus | None:
    """Says in a pod's status why it is ended, before it is; None when that is said already.

    The kubelet of the pod writes the other conditions at the same time, so this one is applied and the rest left alone.
    """
    known = find_condition(pod.status.conditions, DISRUPTION_TARGET)
    if known is not None and (known.status, known.reason, known.message) == ("True", reason, message) and not status:
        return None
    wanted = dated(Condition(DISRUPTION_TARGET, "True", reason, message), known, now, pod.metadata.generation)
    return ApplyStatus(POD, key_of(pod), {**status, "conditions": condition_objects((wanted,))})
