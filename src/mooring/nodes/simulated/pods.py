"""Pods on a simulated node: started after a delay, completed after their duration, removed when deleted.

The pod's own annotations say how long it runs (`mooring.dev/duration`) and with which code it exits
(`mooring.dev/exit-code`). Pods of Jobs, and pods of nobody that are not to be restarted, end after ten seconds unless
they say otherwise; all others run on. A deleted pod stops within a second, as most programs do, and does not use
up its grace. One whose activeDeadlineSeconds are over is ended, as a kubelet does.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from mooring.api.conditions import is_true
from mooring.api.core.views import Pod
from mooring.api.kinds import key_of
from mooring.api.meta import Condition
from mooring.kube.durations import parse_duration
from mooring.kube.times import moment, timestamp
from mooring.nodes.addresses import Addresses
from mooring.nodes.simulated.containers import (
    KILLED,
    ended_statuses,
    ephemeral_statuses,
    init_statuses,
    started_status,
)
from mooring.runtime.decision import Delete, Patch, Write, status
from mooring.workloads.conditions import AT_ONCE, bound_at, pod_conditions
from mooring.workloads.kinds import POD

START_DELAY = timedelta(seconds=1)
STOP_DELAY = timedelta(seconds=1)
TASK_DURATION = timedelta(seconds=10)
_OVERDUE = "Pod was active on the node longer than the specified deadline"
# The conditions of a pod whose containers run.
_STARTED = tuple(
    Condition(kind, "True") for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")
)


def due(pod: Pod, start_delay: timedelta) -> datetime | None:
    """When the next write for a pod is due; None if no time brings one."""
    meta = pod.metadata
    if meta.deleting:
        if meta.deletion_grace_period_seconds:
            grace = timedelta(seconds=meta.deletion_grace_period_seconds)
            return moment(meta.deletion_timestamp or "") - grace + min(grace, STOP_DELAY)
        return None if meta.finalizers and pod.finished else AT_ONCE
    if pod.finished:
        return None
    if pod.status.phase != "Running":
        return bound_at(pod) + start_delay
    ends = [each for each in (_duration(pod), _deadline(pod)) if each is not None]
    started = pod.status.start_time
    return None if not ends or started is None else moment(started) + min(ends)


def is_started(pod: Pod) -> bool:
    return pod.status.phase == "Running" or pod.finished


def step(pod: Pod, now: datetime, addresses: Addresses | None = None) -> Write:
    """The write for a pod that is due. A pod that starts gets these addresses."""
    meta = pod.metadata
    if meta.deleting:
        if meta.finalizers and not pod.finished:
            # The controller that holds the finalizer may wait for a final phase.
            return _end(pod, KILLED, now)
        return Delete(POD, key_of(pod), grace=0)
    if not is_started(pod):
        return _start(pod, now, addresses)
    if _is_overdue(pod, now):
        return _end(pod, KILLED, now, reason="DeadlineExceeded", message=_OVERDUE)
    return _end(pod, _exit_code(pod), now)


def recover(pod: Pod, now: datetime) -> Write | None:
    """Make a pod ready again that was taken to be lost together with its node: its containers never stopped."""
    ready = pod.readiness
    if (
        not (pod.active and pod.status.phase == "Running" and ready is not None)
        or ready.status == "True"
        or ready.reason
    ):
        return None
    if not is_true(pod.status.conditions, "ContainersReady"):
        return None
    return status(POD, pod, {"conditions": pod_conditions(pod, now, Condition("Ready", "True"))})


def _duration(pod: Pod) -> timedelta | None:
    said = parse_duration(pod.metadata.annotations.duration)
    if said is not None:
        return said
    owner = pod.metadata.controller
    is_task = pod.spec.restart_policy in ("Never", "OnFailure") if owner is None else owner.kind == "Job"
    return TASK_DURATION if is_task else None


def _deadline(pod: Pod) -> timedelta | None:
    seconds = pod.spec.active_deadline_seconds
    return None if seconds is None else timedelta(seconds=seconds)


def _is_overdue(pod: Pod, now: datetime) -> bool:
    deadline, started, duration = _deadline(pod), pod.status.start_time, _duration(pod)
    if deadline is None or started is None or (duration is not None and duration <= deadline):
        return False
    return moment(started) + deadline <= now


def _exit_code(pod: Pod) -> int:
    text = pod.metadata.annotations.exit_code
    return int(text) if text.isdecimal() else 0


def _start(pod: Pod, now: datetime, addresses: Addresses | None) -> Patch:
    running = {"running": {"startedAt": timestamp(now)}}
    body: dict[str, Any] = {
        "phase": "Running",
        "startTime": timestamp(now),
        "containerStatuses": [started_status(each, running, ready=True) for each in pod.spec.containers or ()],
    }
    if pod.metadata.generation:
        body["observedGeneration"] = pod.metadata.generation
    # Written by others, and of this generation when the node has started the pod.
    scheduled = Condition("PodScheduled", "True", observed_generation=pod.metadata.generation)
    conditions = pod_conditions(pod, now, *_STARTED, scheduled)
    if conditions is not None:
        body["conditions"] = conditions
    if pod.spec.init_containers:
        body["initContainerStatuses"] = init_statuses(pod, now, {})
    if pod.spec.ephemeral_containers:
        body["ephemeralContainerStatuses"] = ephemeral_statuses(pod, now)
    if addresses is not None:
        body |= {
            "hostIP": addresses.host,
            "hostIPs": [{"ip": addresses.host}],
            "podIP": addresses.pod,
            "podIPs": [{"ip": addresses.pod}],
        }
    return status(POD, pod, body)


def _end(pod: Pod, code: int, now: datetime, **why: str) -> Patch:
    """`why` is the reason and the message of a pod that was ended by its node."""
    phase = "Failed" if code else "Succeeded"
    told = "PodFailed" if code else "PodCompleted"
    wanted = [Condition(kind, "False", told) for kind in ("Ready", "ContainersReady")]
    body: dict[str, Any] = {"phase": phase, "containerStatuses": ended_statuses(pod, code, now), **why}
    if pod.spec.ephemeral_containers:
        body["ephemeralContainerStatuses"] = ephemeral_statuses(pod, now, ended=True)
    conditions = pod_conditions(pod, now, *wanted)
    if conditions is not None:
        body["conditions"] = conditions
    return status(POD, pod, body)
