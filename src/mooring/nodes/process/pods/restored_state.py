"""The state of a pod that was on this node before the node's process started, restored from its status.

No container outlives the node's process, so every container that ran has ended. It is started again as its restart
policy says, and counted as a restart.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.kube.conditions import find_condition
from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.nodes.process.pods.model import ContainerRecord, End, PendingResize, PodRecord
from mooring.nodes.process.pods.resizes import resizable_containers, resources_of
from mooring.nodes.process.pods.specs import all_containers
from mooring.nodes.process.pods.statuses import RUNTIME

__all__ = ["LOST", "restored_state"]


LOST: Final = "ended together with the process node that ran it"
_KILLED_EXIT_CODE: Final = 137


def restored_state(spec: Object, now: datetime) -> PodRecord:
    status = spec.get("status") or {}
    phase = status.get("phase")
    lists = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
    known = {each["name"]: each for place in lists for each in status.get(place) or ()}
    return PodRecord(
        begun=moment(status["startTime"]) if status.get("startTime") else now,
        containers={
            each["name"]: _container(known[each["name"]], now) for each in all_containers(spec) if each["name"] in known
        },
        failure=_failure(status) if phase == "Failed" else None,
        over=phase in ("Succeeded", "Failed"),
        prepared="yes" if phase in ("Succeeded", "Failed") else "no",
        allocated={
            each["name"]: _allocated(known.get(each["name"]) or {}, each) for each in resizable_containers(spec)
        },
        pending=_pending(status),
    )


def _allocated(status: Object, container: Object) -> Object:
    """What a container was given: what its status says, where it says something."""
    if status.get("resources") is None:
        return resources_of(container)
    given = {"requests": status.get("allocatedResources"), "limits": status["resources"].get("limits")}
    return resources_of({"resources": given})


def _pending(status: Object) -> PendingResize | None:
    found = find_condition(status.get("conditions") or [], "PodResizePending")
    if found is None:
        return None
    return PendingResize(found.get("reason", ""), found.get("message", ""), found.get("observedGeneration", 0))


def _failure(status: Object) -> tuple[str, str] | None:
    return (status["reason"], status.get("message", "")) if status.get("reason") else None


def _container(status: Object, now: datetime) -> ContainerRecord:
    state, last = status.get("state") or {}, (status.get("lastState") or {}).get("terminated")
    attempt = int(status.get("restartCount") or 0)
    identity = _id(status.get("containerID"))
    if "running" in state:
        started = _moment(state["running"].get("startedAt"))
        end = End(_KILLED_EXIT_CODE, "Error", LOST, started, now, identity)
        return ContainerRecord("ended", attempt, identity, end=end, last=_end(last))
    if "terminated" in state:
        return ContainerRecord("ended", attempt, identity, end=_end(state["terminated"]), last=_end(last))
    if last is not None:
        return ContainerRecord("ended", attempt, identity, end=_end(last))
    return ContainerRecord()


def _end(terminated: Object | None) -> End | None:
    if terminated is None:
        return None
    return End(
        int(terminated.get("exitCode") or 0),
        terminated.get("reason", ""),
        terminated.get("message", ""),
        _moment(terminated.get("startedAt")),
        _moment(terminated.get("finishedAt")) or datetime.fromisoformat("1970-01-01T00:00:00Z"),
        _id(terminated.get("containerID")),
    )


def _moment(text: str | None) -> datetime | None:
    return moment(text) if text else None


def _id(text: str | None) -> str:
    return (text or "").removeprefix(f"{RUNTIME}://")
