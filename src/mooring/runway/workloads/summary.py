"""One workload for people: its state in a word, what holds it up in a sentence, its pods and where they are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Literal

from mooring.catalog import CATALOG
from mooring.runway.fleet.nodes import WorkloadReference
from mooring.runway.fleet.records import FleetPod, OwnerRecord
from mooring.runway.shown import Shown
from mooring.runway.workloads.records import ConditionShown, WorkloadRecord

__all__ = [
    "WorkloadGroup",
    "WorkloadPodCounts",
    "WorkloadState",
    "WorkloadSummary",
    "bare_pod_summary",
    "reference_of",
    "workload_summary",
]

WorkloadState = Literal["Ready", "Progressing", "Pending", "Failed", "Succeeded", "Terminating", "Unknown"]
# Conditions that tell why a workload waits, when they are False.
_TELLING: Final = ("Placeable", "ResourceReady", "Ready", "Available")
_BROKEN: Final = frozenset({"CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "CreateContainerConfigError"})


class WorkloadPodCounts(Shown, frozen=True):
    wanted: int
    ready: int
    pending: int


class WorkloadGroup(Shown, frozen=True):
    """Pods that land together or are of no use, such as a group of leader and workers."""

    name: str
    pods: WorkloadPodCounts
    nodes: tuple[str, ...]


class WorkloadSummary(Shown, frozen=True):
    kind: str
    namespace: str
    name: str
    state: WorkloadState
    message: str
    pods: WorkloadPodCounts
    gpus: int
    nodes: tuple[str, ...]
    created_at: str
    owner: WorkloadReference | None = None
    groups: tuple[WorkloadGroup, ...] | None = None


def workload_summary(record: WorkloadRecord, wanted: int, pods: Sequence[FleetPod]) -> WorkloadSummary:
    """`wanted` is how many pods there should be, of which `pods` are there."""
    counts = _counts(wanted, pods)
    state = _state(record, counts, pods)
    return WorkloadSummary(
        kind=record.kind,
        namespace=record.namespace,
        name=record.name,
        state=state,
        message=_message(record, state, pods),
        pods=counts,
        gpus=_gpus(pods),
        nodes=_nodes(pods),
        created_at=record.created,
        owner=_owner(record.owner, record.namespace),
        groups=_groups(record.kind, pods),
    )


def bare_pod_summary(pod: FleetPod) -> WorkloadSummary:
    """A pod that no workload we know makes."""
    ended = pod.phase in ("Succeeded", "Failed")
    counts = _counts(0 if ended else 1, [pod])
    state: WorkloadState = "Progressing"
    if pod.deleting:
        state = "Terminating"
    elif pod.phase == "Succeeded":
        state = "Succeeded"
    elif pod.phase == "Failed" or pod.reason in _BROKEN:
        state = "Failed"
    elif pod.ready:
        state = "Ready"
    elif not pod.node:
        state = "Pending"
    message = "" if state in ("Ready", "Succeeded") else pod.message or pod.reason
    owner = _owner(pod.owner, pod.namespace)
    return WorkloadSummary(
        "Pod", pod.namespace, pod.name, state, message, counts, _gpus([pod]), _nodes([pod]), pod.created, owner
    )


def reference_of(record: WorkloadRecord | FleetPod) -> WorkloadReference:
    kind = "Pod" if isinstance(record, FleetPod) else record.kind
    return WorkloadReference(kind, record.namespace, record.name)


def _owner(owner: OwnerRecord | None, namespace: str) -> WorkloadReference | None:
    return None if owner is None else WorkloadReference(owner.kind, namespace, owner.name)


def _counts(wanted: int, pods: Sequence[FleetPod]) -> WorkloadPodCounts:
    return WorkloadPodCounts(
        wanted,
        sum(pod.ready and not pod.deleting for pod in pods),
        sum(not pod.node and pod.phase == "Pending" for pod in pods),
    )


def _gpus(pods: Sequence[FleetPod]) -> int:
    return sum(sum(pod.gpus.values()) for pod in pods if pod.phase not in ("Succeeded", "Failed"))


def _nodes(pods: Sequence[FleetPod]) -> tuple[str, ...]:
    return tuple(sorted({pod.node for pod in pods if pod.holds_node}))


def _state(record: WorkloadRecord, counts: WorkloadPodCounts, pods: Sequence[FleetPod]) -> WorkloadState:
    if record.deleting:
        return "Terminating"
    if record.finished == "Succeeded":
        return "Succeeded"
    if record.finished == "Failed" or any(pod.reason in _BROKEN for pod in pods):
        return "Failed"
    if counts.pending or _held_up(record.conditions) or _refused(record.conditions):
        return "Pending"
    if counts.ready >= counts.wanted and not record.progress:
        return "Ready"
    return "Progressing"


def _held_up(conditions: Sequence[ConditionShown]) -> bool:
    return any(each.type == "Placeable" and each.status == "False" for each in conditions)


def _refused(conditions: Sequence[ConditionShown]) -> str:
    """Why the API refuses pods of the workload, a quota for one; empty where it does not."""
    found = (each.message for each in conditions if each.type == "ReplicaFailure" and each.status == "True")
    return next(found, "")


def _message(record: WorkloadRecord, state: WorkloadState, pods: Sequence[FleetPod]) -> str:
    if state in ("Ready", "Succeeded"):
        return ""
    said = {each.type: each.message for each in record.conditions if each.status == "False" and each.message}
    if state == "Failed":
        failed = (each.message for each in record.conditions if each.type == "Failed" and each.status == "True")
        told = next(failed, "")
        return told or next((pod.message or pod.reason for pod in pods if pod.reason in _BROKEN), "")
    if refused := _refused(record.conditions):
        return refused
    if "Placeable" in said:
        return said["Placeable"]
    if waiting := next((pod.message for pod in pods if pod.unschedulable and pod.message), ""):
        return waiting
    return record.progress or next((said[each] for each in _TELLING if each in said), "")


def _groups(kind: str, pods: Sequence[FleetPod]) -> tuple[WorkloadGroup, ...] | None:
    known = CATALOG.workloads().get(kind)
    if known is None or known.unit is None:
        return None
    members: dict[str, list[FleetPod]] = {}
    for pod in pods:
        # One that somebody else made for it, without the label of a group, is in none.
        with suppress(KeyError):
            members.setdefault(known.unit.of(pod.labels), []).append(pod)
    return tuple(
        WorkloadGroup(name, _counts(len(group), group), _nodes(group)) for name, group in sorted(members.items())
    )
