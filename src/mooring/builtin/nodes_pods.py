"""What a simulated node does with a pod: starts it after a moment, ends it if it is of the kind that ends, removes it.

The pod's own annotations say how long it runs (`mooring.dev/duration`) and with which code it exits
(`mooring.dev/exit-code`). Pods of Jobs end after ten seconds unless they say otherwise; all others run on.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from mooring.api.workloads import Pod, PodCondition
from mooring.builtin.conditions import with_conditions
from mooring.builtin.kinds import POD
from mooring.kube.times import moment, timestamp
from mooring.runtime.decision import Delete, Patch, Write, status
from mooring.runtime.kinds import key_of
from mooring.runtime.view import View

START_DELAY = timedelta(seconds=1)
JOB_DURATION = timedelta(seconds=10)
# The exit code of a container that was killed.
KILLED = 137

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")


def parse_duration(text: str) -> timedelta | None:
    """A duration such as `90s` or `1h30m`; None when it cannot be read."""
    if not re.fullmatch(rf"(?:{_DURATION.pattern})+", text):
        return None
    return timedelta(seconds=sum(float(number) * _UNITS[unit] for number, unit in _DURATION.findall(text)))


def tend(pod: Pod, view: View, start_delay: timedelta) -> Write | None:
    """The one thing to do about a pod now, if there is any."""
    if pod.metadata.deleting:
        return _stop(pod, view)
    if pod.finished:
        return None
    if pod.status.phase != "Running":
        return _start(pod, view.now) if view.reached(_bound_at(pod, view.now) + start_delay) else None
    duration = _duration(pod)
    started = pod.status.start_time
    if duration is None or started is None or not view.reached(moment(started) + duration):
        return None
    return _end(pod, _exit_code(pod), view.now)


def _stop(pod: Pod, view: View) -> Write | None:
    """A pod has its grace to stop; then its containers are killed and it is removed."""
    meta = pod.metadata
    if meta.deletion_grace_period_seconds and not view.reached(moment(meta.deletion_timestamp or "")):
        return None
    if meta.finalizers and not pod.finished:
        # Whoever holds the finalizer may wait to see how the pod ended.
        return _end(pod, KILLED, view.now)
    if meta.finalizers and not meta.deletion_grace_period_seconds:
        return None
    return Delete(POD, key_of(pod), grace=0)


def _bound_at(pod: Pod, now: datetime) -> datetime:
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "True" and condition.last_transition_time:
            return moment(condition.last_transition_time)
    created = pod.metadata.creation_timestamp
    return moment(created) if created else now


def _duration(pod: Pod) -> timedelta | None:
    said = parse_duration(pod.metadata.annotations.duration)
    if said is not None:
        return said
    owner = pod.metadata.controller
    return JOB_DURATION if owner is not None and owner.kind == "Job" else None


def _exit_code(pod: Pod) -> int:
    text = pod.metadata.annotations.exit_code
    return int(text) if text.isdecimal() else 0


def _start(pod: Pod, now: datetime) -> Patch:
    wanted = tuple(
        PodCondition(type=kind, status="True")
        for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    )
    running = {"running": {"startedAt": timestamp(now)}}
    return status(
        POD,
        pod,
        {
            "phase": "Running",
            "startTime": timestamp(now),
            "conditions": with_conditions(pod, wanted, now) or [],
            "containerStatuses": _containers(pod, running, ready=True),
        },
    )


def _end(pod: Pod, code: int, now: datetime) -> Patch:
    phase = "Failed" if code else "Succeeded"
    reason = "PodFailed" if code else "PodCompleted"
    wanted = tuple(PodCondition(type=kind, status="False", reason=reason) for kind in ("Ready", "ContainersReady"))
    ended = {
        "terminated": {
            "exitCode": code,
            "reason": "Error" if code else "Completed",
            "startedAt": pod.status.start_time or timestamp(now),
            "finishedAt": timestamp(now),
        }
    }
    body: dict[str, Any] = {"phase": phase, "containerStatuses": _containers(pod, ended, ready=False)}
    conditions = with_conditions(pod, wanted, now)
    if conditions is not None:
        body["conditions"] = conditions
    return status(POD, pod, body)


def _containers(pod: Pod, state: dict[str, Any], *, ready: bool) -> list[dict[str, Any]]:
    return [
        {
            "name": container.name,
            "image": container.image,
            "imageID": "",
            "ready": ready,
            "started": ready,
            "restartCount": 0,
            "state": state,
        }
        for container in pod.spec.containers or ()
    ]
