"""One node for people: whether it is ready, what it has free, and which pod holds which of its GPUs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from mooring.runway.fleet.records import FleetPod, NodeRecord
from mooring.runway.node_facts import MEMORY_LABEL, PRODUCT_LABEL, pool_of
from mooring.runway.shown import Shown

__all__ = [
    "FleetGpus",
    "FleetNode",
    "FleetTaint",
    "GpuSlot",
    "NodeAmount",
    "WorkloadReference",
    "fleet_node",
    "pool_of",
]

_ZONE: Final = "topology.kubernetes.io/zone"
_MILLI: Final = 1000


class WorkloadReference(Shown, frozen=True):
    kind: str
    namespace: str
    name: str


class FleetTaint(Shown, frozen=True):
    key: str
    effect: str
    value: str = ""


class GpuSlot(Shown, frozen=True):
    """One of a node's GPUs. Kubernetes counts GPUs and does not number them, so which one a pod has is not told."""

    index: int
    pod: str | None = None
    namespace: str | None = None
    workload: WorkloadReference | None = None


class FleetGpus(Shown, frozen=True):
    """`kind` is the resource, such as nvidia.com/gpu; empty on a node without GPUs."""

    kind: str
    total: int
    free: int
    slots: tuple[GpuSlot, ...]
    product: str | None = None
    memory_mib: int | None = msgspec.field(default=None, name="memoryMiB")


class NodeAmount(Shown, frozen=True):
    """Cores of cpu, or bytes of memory."""

    total: float
    free: float


class FleetNode(Shown, frozen=True):
    name: str
    ready: bool
    cordoned: bool
    pool: str
    labels: dict[str, str]
    taints: tuple[FleetTaint, ...]
    gpu: FleetGpus
    cpu: NodeAmount
    memory: NodeAmount
    pods: int
    created_at: str
    zone: str | None = None
    not_ready_since: str | None = None


def fleet_node(
    node: NodeRecord, pods: Iterable[FleetPod], workload_of: Callable[[FleetPod], WorkloadReference | None]
) -> FleetNode:
    """`pods` are those on the node, `workload_of` the workload that a pod belongs to."""
    held = sorted((pod for pod in pods if pod.holds_node), key=lambda pod: (pod.created, pod.key))
    return FleetNode(
        name=node.name,
        ready=node.ready,
        cordoned=node.cordoned,
        pool=pool_of(node.labels),
        labels=node.labels,
        taints=tuple(FleetTaint(each.key, each.effect, each.value) for each in node.taints),
        gpu=_gpus(node, held, workload_of),
        cpu=NodeAmount(node.cpu / _MILLI, (node.cpu - sum(pod.cpu for pod in held)) / _MILLI),
        memory=NodeAmount(node.memory, node.memory - sum(pod.memory for pod in held)),
        pods=len(held),
        created_at=node.created,
        zone=node.labels.get(_ZONE),
        not_ready_since=node.not_ready_since or None,
    )


def _gpus(
    node: NodeRecord, held: list[FleetPod], workload_of: Callable[[FleetPod], WorkloadReference | None]
) -> FleetGpus:
    """GPUs of several kinds on one node (MIG) are counted together, and called by the kind that there is most of."""
    total = sum(node.gpus.values())
    slots: list[GpuSlot] = []
    for pod in held:
        for _ in range(sum(count for kind, count in pod.gpus.items() if kind in node.gpus)):
            slots.append(GpuSlot(len(slots), pod.name, pod.namespace, workload_of(pod)))
    free = max(total - len(slots), 0)
    slots += [GpuSlot(len(slots) + number) for number in range(free)]
    memory = node.labels.get(MEMORY_LABEL, "")
    return FleetGpus(
        kind=max(node.gpus, key=lambda kind: node.gpus[kind], default=""),
        total=total,
        free=free,
        slots=tuple(slots),
        product=node.labels.get(PRODUCT_LABEL),
        memory_mib=int(memory) if memory.isascii() and memory.isdigit() else None,
    )
