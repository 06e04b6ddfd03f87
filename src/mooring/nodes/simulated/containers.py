"""The states of a simulated pod's containers as they stand in its status.

A status is written as a whole list, so what is known of earlier restarts is written again with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from mooring.api.core.types import ResourceList, ResourceRequirements
from mooring.api.core.views import Container, ContainerStatus, EphemeralContainerStatus, Pod
from mooring.kube.times import timestamp
from mooring.nodes.resize.messages import requirements

__all__ = [
    "KILLED",
    "Given",
    "container_status",
    "ended_statuses",
    "ephemeral_statuses",
    "init_statuses",
    "known_statuses",
    "running_statuses",
    "started_status",
    "terminated",
]

# The exit code of a container that was killed.
KILLED: Final = 137
# By container: the resources it has, and the requests that it was allocated.
Given = Mapping[str, tuple[ResourceRequirements, ResourceList | None]]


def container_status(container: Container, state: dict[str, Any], *, ready: bool) -> dict[str, Any]:
    """The status of a container that was never restarted, and that has no resources yet."""
    return {
        "name": container.name,
        "image": container.image,
        "imageID": "",
        "ready": ready,
        "started": ready,
        "restartCount": 0,
        "state": state,
    }


def started_status(container: Container, state: dict[str, Any], *, ready: bool) -> dict[str, Any]:
    """The status of a container that has been given what it asks for."""
    resources = container.resources
    return container_status(container, state, ready=ready) | _resources(resources, resources.requests)


def known_statuses(pod: Pod) -> dict[str, ContainerStatus]:
    return {each.name: each for each in (*pod.status.container_statuses, *pod.status.init_container_statuses)}


def running_statuses(
    pod: Pod, containers: Iterable[Container], now: datetime, given: Given, restarted: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Containers that run, some of them with other resources than before, some restarted for it."""
    known = known_statuses(pod)
    return [_running(pod, each, known.get(each.name), now, given, again=each.name in restarted) for each in containers]


def _running(
    pod: Pod, container: Container, known: ContainerStatus | None, now: datetime, given: Given, *, again: bool
) -> dict[str, Any]:
    since = _since(pod, known, now)
    told = _restarts(known)
    if again:
        told = {"restartCount": (known.restart_count if known is not None else 0) + 1}
        told["lastState"] = terminated(KILLED, since, now)
        since = timestamp(now)
    found = container_status(container, {"running": {"startedAt": since}}, ready=True) | told
    return found | (_resources(*given[container.name]) if container.name in given else _had(container, known))


def ended_statuses(pod: Pod, code: int, now: datetime) -> list[dict[str, Any]]:
    known = known_statuses(pod)
    return [
        container_status(each, terminated(code, _since(pod, known.get(each.name), now), now), ready=False)
        | _restarts(known.get(each.name))
        | _had(each, known.get(each.name))
        for each in pod.spec.containers or ()
    ]


def init_statuses(pod: Pod, now: datetime, given: Given, restarted: Collection[str] = ()) -> list[dict[str, Any]]:
    """Containers that prepared the pod have ended; those that accompany it run on."""
    known = known_statuses(pod)
    found = []
    for each in pod.spec.init_containers or ():
        status = known.get(each.name)
        if each.restart_policy == "Always":
            found.append(_running(pod, each, status, now, given, again=each.name in restarted))
            continue
        end = None if status is None else status.state.terminated
        moment = (end.finished_at if end is not None else None) or pod.status.start_time or timestamp(now)
        ended = {"exitCode": 0, "reason": "Completed", "startedAt": moment, "finishedAt": moment}
        found.append(started_status(each, {"terminated": ended}, ready=True) | {"started": False})
    return found


def ephemeral_statuses(pod: Pod, now: datetime, *, ended: bool = False) -> list[dict[str, Any]]:
    """Containers that were added to debug the pod: they run until it ends, and are never ready."""
    known = {each.name: each for each in pod.status.ephemeral_container_statuses}
    found = []
    for each in pod.spec.ephemeral_containers:
        since = _run(known.get(each.name)) or timestamp(now)
        state = terminated(KILLED, since, now) if ended else {"running": {"startedAt": since}}
        found.append(started_status(each, state, ready=False))
    return found


def terminated(code: int, started: str, now: datetime) -> dict[str, Any]:
    reason = "Error" if code else "Completed"
    return {"terminated": {"exitCode": code, "reason": reason, "startedAt": started, "finishedAt": timestamp(now)}}


def _run(known: EphemeralContainerStatus | None) -> str | None:
    return known.state.running.started_at if known is not None and known.state.running is not None else None


def _since(pod: Pod, known: ContainerStatus | None, now: datetime) -> str:
    """Since when a container runs: since its last restart, or as long as its pod."""
    last = None if known is None else known.last_state.terminated
    return (last.finished_at if last is not None else None) or pod.status.start_time or timestamp(now)


def _restarts(known: ContainerStatus | None) -> dict[str, Any]:
    """How often a container was restarted, and how the run before this one ended."""
    if known is None or not known.restart_count:
        return {}
    found: dict[str, Any] = {"restartCount": known.restart_count}
    if (last := known.last_state.terminated) is not None:
        moments = {"startedAt": last.started_at, "finishedAt": last.finished_at}
        found["lastState"] = {"terminated": {"exitCode": KILLED, "reason": "Error", **moments}}
    return found


def _had(container: Container, known: ContainerStatus | None) -> dict[str, Any]:
    """The resources that a container has: those that its status says, or what it asks for."""
    if known is None or known.resources is None:
        return _resources(container.resources, container.resources.requests)
    return _resources(known.resources, known.allocated_resources)


def _resources(has: ResourceRequirements, allocated: ResourceList | None) -> dict[str, Any]:
    found: dict[str, Any] = {"resources": requirements(has)}
    return found | {"allocatedResources": allocated} if allocated else found
