"""What is kept of a node and of a pod to tell about the fleet: a heartbeat makes no other record.

Amounts are summed when an object is read, as the scheduler sums them, and not again for every look at the node.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import msgspec

from mooring.api.core.types import Labels, Pod, ResourceList, Taint, View
from mooring.kube.quantities import parse_quantity
from mooring.placement.plugins.resources import pod_resources, to_requests
from mooring.runway.tolerant_decoder import TolerantDecoder

__all__ = ["FleetPod", "NodeRecord", "OwnerRecord", "gpus_among", "is_gpu", "node_record", "pod_record"]

# Resources that stand for whole GPUs; shares and partitions of one (MIG) are counted by their own names.
_GPU_RESOURCES: Final = frozenset({"gpu.intel.com/i915", "gpu.intel.com/xe", "aws.amazon.com/neuron", "google.com/tpu"})
_UNSCHEDULABLE: Final = "Unschedulable"


@lru_cache(maxsize=256)
def is_gpu(resource: str) -> bool:
    return resource.endswith("/gpu") or resource in _GPU_RESOURCES or resource.startswith("nvidia.com/mig-")


def gpus_among(amounts: Iterable[tuple[str, int]]) -> dict[str, int]:
    return {name: count for name, count in amounts if count and is_gpu(name)}


class OwnerRecord(View, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class _Meta(View, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: Labels | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    owner_references: tuple[OwnerRecord, ...] | None = None


class _Condition(View, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class _NodeSpec(View, frozen=True):
    unschedulable: bool = False
    taints: tuple[Taint, ...] | None = None


class _NodeStatus(View, frozen=True):
    allocatable: ResourceList | None = None
    conditions: tuple[_Condition, ...] | None = None


class _Node(View, frozen=True):
    metadata: _Meta = _Meta()
    spec: _NodeSpec = _NodeSpec()
    status: _NodeStatus = _NodeStatus()


class _Waiting(View, frozen=True):
    reason: str = ""
    message: str = ""


class _State(View, frozen=True):
    waiting: _Waiting | None = None
    terminated: _Waiting | None = None


class _ContainerStatus(View, frozen=True):
    restart_count: int = 0
    state: _State = _State()


class _PodSpec(View, frozen=True):
    node_name: str = ""


class _PodStatus(View, frozen=True):
    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: tuple[_Condition, ...] | None = None
    container_statuses: tuple[_ContainerStatus, ...] | None = None
    init_container_statuses: tuple[_ContainerStatus, ...] | None = None


class _Pod(View, frozen=True):
    metadata: _Meta = _Meta()
    spec: _PodSpec = _PodSpec()
    status: _PodStatus = _PodStatus()


class NodeRecord(msgspec.Struct, frozen=True, gc=False):
    """`cpu` in thousandths of a core, `memory` in bytes. `not_ready_since` is empty while the node is ready."""

    name: str
    uid: str
    created: str
    ready: bool
    not_ready_since: str
    cordoned: bool
    labels: Labels
    taints: tuple[Taint, ...]
    cpu: int
    memory: int
    gpus: dict[str, int]


class FleetPod(msgspec.Struct, frozen=True, gc=False):
    """The same units. `reason` and `message` say what is wrong, and are empty where nothing is."""

    namespace: str
    name: str
    uid: str
    created: str
    deleting: bool
    labels: Labels
    owner: OwnerRecord | None
    node: str
    phase: str
    ready: bool
    restarts: int
    reason: str
    message: str
    cpu: int
    memory: int
    gpus: dict[str, int]

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def holds_node(self) -> bool:
        """Whether it takes room on its node; a pod that has ended takes none."""
        return bool(self.node) and self.phase not in ("Succeeded", "Failed")

    @property
    def unschedulable(self) -> bool:
        return self.reason == _UNSCHEDULABLE


_read_node = TolerantDecoder(_Node)
_read_pod = TolerantDecoder(_Pod)
_read_placed_pod = TolerantDecoder(Pod)


def node_record(raw: msgspec.Raw) -> NodeRecord:
    node = _read_node(raw)
    ready = next((each for each in node.status.conditions or () if each.type == "Ready"), _Condition())
    is_ready = ready.status == "True"
    has = to_requests(
        {name: parse_quantity(amount) for name, amount in (node.status.allocatable or {}).items() if name != "pods"}
    )
    meta = node.metadata
    return NodeRecord(
        meta.name,
        meta.uid,
        meta.creation_timestamp or "",
        is_ready,
        "" if is_ready else ready.last_transition_time or meta.creation_timestamp or "",
        node.spec.unschedulable,
        meta.labels or {},
        node.spec.taints or (),
        has.cpu,
        has.memory,
        gpus_among(has.scalars),
    )


def pod_record(raw: msgspec.Raw) -> FleetPod:
    pod = _read_pod(raw)
    asked = pod_resources(_read_placed_pod(raw)).node
    meta, status = pod.metadata, pod.status
    reason, message = _trouble(status)
    return FleetPod(
        meta.namespace,
        meta.name,
        meta.uid,
        meta.creation_timestamp or "",
        meta.deletion_timestamp is not None,
        meta.labels or {},
        next((each for each in meta.owner_references or () if each.controller), None),
        pod.spec.node_name,
        status.phase or "Pending",
        any(each.type == "Ready" and each.status == "True" for each in status.conditions or ()),
        sum(each.restart_count for each in status.container_statuses or ()),
        reason,
        message,
        asked.cpu,
        asked.memory,
        gpus_among(asked.scalars),
    )


def _trouble(status: _PodStatus) -> tuple[str, str]:
    """Why a pod does not run, if it does not: what the scheduler, the kubelet or a container says."""
    if status.reason:
        return status.reason, status.message
    for each in (*(status.init_container_statuses or ()), *(status.container_statuses or ())):
        waiting = each.state.waiting
        if waiting is not None and waiting.reason not in ("", "ContainerCreating", "PodInitializing"):
            return waiting.reason, waiting.message
    for condition in status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.reason or _UNSCHEDULABLE, condition.message
    if status.phase == "Failed":
        for each in status.container_statuses or ():
            if each.state.terminated is not None and each.state.terminated.reason not in ("", "Completed"):
                return each.state.terminated.reason, each.state.terminated.message
    return "", ""
