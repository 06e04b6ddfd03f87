"""The status of a Deployment: sums over its ReplicaSets, whether it is available, and whether it gets ahead.

A rollout that shows no progress for `progressDeadlineSeconds` is reported, not undone. Progress is a change of a count
for the better, compared with the status that was written last.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec.structs import replace

from mooring.api.apps.views import Deployment, DeploymentStatus, ReplicaSet
from mooring.api.conditions import dated, find_condition, without_condition
from mooring.api.meta import Condition
from mooring.builtin.apps.deployment.replicasets import Sets
from mooring.builtin.apps.deployment.scaling import asked_for, available, max_unavailable
from mooring.kube.times import moment, timestamp
from mooring.runtime.view import View

# What the API takes for "no limit".
_NO_LIMIT = 2**31 - 1

AVAILABLE = "Available"
PROGRESSING = "Progressing"
REPLICA_FAILURE = "ReplicaFailure"


def has_deadline(deployment: Deployment) -> bool:
    deadline = deployment.spec.progress_deadline_seconds
    return deadline is not None and deadline != _NO_LIMIT


def with_condition(
    status: DeploymentStatus, now: datetime, type_: str, truth: str, reason: str, message: str, *, renew: bool = False
) -> DeploymentStatus:
    """Set a condition. One that says the same already is left alone, unless it is to be renewed."""
    current = find_condition(status.conditions, type_)
    if current is not None and (current.status, current.reason) == (truth, reason) and not renew:
        return status
    new = Condition(type_, truth, reason, message, last_update_time=timestamp(now))
    return replace(status, conditions=(*without_condition(status.conditions, type_), dated(new, current, now)))


def without(status: DeploymentStatus, type_: str) -> DeploymentStatus:
    return replace(status, conditions=without_condition(status.conditions, type_))


def is_told_of(new: ReplicaSet, status: DeploymentStatus) -> bool:
    """Whether progress is told of this rollout. A crash may have kept the end of the one before in its place."""
    current = find_condition(status.conditions, PROGRESSING)
    if current is None:
        return False
    return current.reason != "NewReplicaSetAvailable" or f'"{new.metadata.name}"' in current.message


def counted(deployment: Deployment, sets: Sets, status: DeploymentStatus, now: datetime) -> DeploymentStatus:
    """The sums, with the conditions of `status` and whether the Deployment is available."""
    ready = available(sets.all)
    result = replace(
        status,
        observed_generation=deployment.metadata.generation,
        replicas=sum(one.status.replicas for one in sets.all),
        updated_replicas=sets.new.status.replicas if sets.new is not None else 0,
        ready_replicas=sum(one.status.ready_replicas for one in sets.all),
        available_replicas=ready,
        unavailable_replicas=max(0, asked_for(sets.all) - ready),
        terminating_replicas=_terminating(sets),
    )
    if ready >= deployment.spec.replicas - max_unavailable(deployment):
        text = "Deployment has minimum availability."
        return with_condition(result, now, AVAILABLE, "True", "MinimumReplicasAvailable", text)
    text = "Deployment does not have minimum availability."
    return with_condition(result, now, AVAILABLE, "False", "MinimumReplicasUnavailable", text)


def _terminating(sets: Sets) -> int | None:
    total = 0
    for one in sets.all:
        if one.status.terminating_replicas is not None:
            total += one.status.terminating_replicas
        elif one.status.observed_generation:
            return None
    return total


def is_complete(deployment: Deployment, status: DeploymentStatus) -> bool:
    """All pods are of today's template and available, and no other is left."""
    counts = {status.updated_replicas, status.replicas, status.available_replicas}
    return counts == {deployment.spec.replicas} and status.observed_generation >= deployment.metadata.generation


def rolled(deployment: Deployment, sets: Sets, status: DeploymentStatus, view: View, now: datetime) -> DeploymentStatus:
    """The sums, and how the rollout gets ahead."""
    result = counted(deployment, sets, status, now)
    if has_deadline(deployment):
        result = _progress(deployment, sets.new, result, view, now)
    else:
        result = without(result, PROGRESSING)
    failure = _failure(sets)
    if failure is None:
        return without(result, REPLICA_FAILURE)
    current = find_condition(result.conditions, REPLICA_FAILURE)
    if current is not None and (current.status, current.reason) == (failure.status, failure.reason):
        return result
    return replace(result, conditions=(*without(result, REPLICA_FAILURE).conditions, failure))


def _progress(
    deployment: Deployment, new: ReplicaSet | None, status: DeploymentStatus, view: View, now: datetime
) -> DeploymentStatus:
    current = find_condition(status.conditions, PROGRESSING)
    reason = current.reason if current is not None else ""
    if status.replicas == status.updated_replicas and reason == "NewReplicaSetAvailable":
        # The rollout was over before; what happens to its pods now is no matter of progress.
        return status
    subject = f'ReplicaSet "{new.metadata.name}"' if new is not None else f'Deployment "{deployment.metadata.name}"'
    if is_complete(deployment, status):
        text = f"{subject} has successfully progressed."
        return with_condition(status, now, PROGRESSING, "True", "NewReplicaSetAvailable", text)
    if _is_better(deployment.status, status):
        text = f"{subject} is progressing."
        return with_condition(status, now, PROGRESSING, "True", "ReplicaSetUpdated", text, renew=True)
    if current is None or current.last_update_time is None or reason == "NewReplicaSetAvailable":
        return status
    deadline = timedelta(seconds=deployment.spec.progress_deadline_seconds or 0)
    if reason == "ProgressDeadlineExceeded" or view.reached(moment(current.last_update_time) + deadline):
        text = f"{subject} has timed out progressing."
        return with_condition(status, now, PROGRESSING, "False", "ProgressDeadlineExceeded", text)
    return status


def _is_better(old: DeploymentStatus, new: DeploymentStatus) -> bool:
    return (
        new.updated_replicas > old.updated_replicas
        or new.replicas - new.updated_replicas < old.replicas - old.updated_replicas
        or new.ready_replicas > old.ready_replicas
        or new.available_replicas > old.available_replicas
    )


def _failure(sets: Sets) -> Condition | None:
    """The failure of a set, of the newest one first."""
    for one in reversed(sets.all):
        failure = find_condition(one.status.conditions, REPLICA_FAILURE)
        if failure is not None:
            return replace(failure, last_update_time=failure.last_transition_time)
    return None
