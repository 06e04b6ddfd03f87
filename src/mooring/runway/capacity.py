"""The GPUs of a cluster: how many are free, by node, pool and kind, and the largest pod that still fits.

Amounts are those of the placement engine, so that init containers, overhead and pods on their way count as the
scheduler counts them. GPUs of nodes that are not ready or cordoned are not free: no pod gets them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from mooring.placement.scheduler_cache import SchedulerCache
from mooring.runway.deployments.config import GPU_RESOURCE
from mooring.runway.node_facts import PRODUCT_LABEL, is_ready, labels_of, pool_of

__all__ = ["ClusterCapacity", "GpuKind", "GpuPool", "GpuTotals", "LargestPod", "NodeCapacity", "cluster_capacity"]

_UNKNOWN_PRODUCT = "unknown"


class NodeCapacity(msgspec.Struct, frozen=True):
    """`free` is what a pod can still get there; none on a node that takes no pods."""

    name: str
    pool: str
    product: str
    total: int
    free: int
    allocated: int
    ready: bool
    cordoned: bool


class GpuTotals(msgspec.Struct, frozen=True, rename="camel"):
    """`largest_free_block` is the most that one pod can get, since a pod's GPUs are all on one node."""

    total: int
    free: int
    allocated: int
    largest_free_block: int


class GpuKind(msgspec.Struct, frozen=True, rename="camel"):
    product: str
    total: int
    free: int
    largest_free_block: int
    nodes: int


class GpuPool(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    nodes: int
    ready: int
    total: int
    free: int
    largest_free_block: int


class LargestPod(msgspec.Struct, frozen=True):
    """The most that one pod can ask for and get: GPUs first, then memory. CPU in cores, memory in bytes."""

    gpus: int
    cpu: float
    memory: int
    node: str


class ClusterCapacity(msgspec.Struct, frozen=True, rename="camel"):
    gpus: GpuTotals
    kinds: tuple[GpuKind, ...]
    pools: tuple[GpuPool, ...]
    nodes: tuple[NodeCapacity, ...]
    largest_pod: LargestPod | None


def cluster_capacity(cluster: SchedulerCache) -> ClusterCapacity:
    nodes = tuple(sorted(_nodes(cluster), key=lambda node: node.name))
    with_gpus = [node for node in nodes if node.total]
    kinds = [
        GpuKind(product, _sum(alike, "total"), _sum(alike, "free"), _block(alike), len(alike))
        for product, alike in _grouped(with_gpus, lambda node: node.product)
    ]
    pools = [
        GpuPool(
            pool,
            len(alike),
            sum(node.ready for node in alike),
            _sum(alike, "total"),
            _sum(alike, "free"),
            _block(alike),
        )
        for pool, alike in _grouped(nodes, lambda node: node.pool)
    ]
    totals = GpuTotals(_sum(nodes, "total"), _sum(nodes, "free"), _sum(nodes, "allocated"), _block(nodes))
    return ClusterCapacity(totals, tuple(kinds), tuple(pools), nodes, _largest_pod(cluster, nodes))


def _nodes(cluster: SchedulerCache) -> Iterable[NodeCapacity]:
    allocatable, used = cluster.scalar(GPU_RESOURCE)
    for name, slot in cluster.slots.items():
        node = cluster.nodes[slot]
        assert node is not None, "a slot that has a name has a node"
        labels, ready = labels_of(node), is_ready(node)
        total, taken = int(allocatable[slot]), int(used[slot])
        has_room = (
            ready and not node.spec.unschedulable and int(cluster.pod_count[slot]) < int(cluster.alloc_pods[slot])
        )
        yield NodeCapacity(
            name=name,
            pool=pool_of(labels),
            product=labels.get(PRODUCT_LABEL) or (_UNKNOWN_PRODUCT if total else ""),
            total=total,
            free=max(total - taken, 0) if has_room else 0,
            allocated=taken,
            ready=ready,
            cordoned=node.spec.unschedulable,
        )


def _largest_pod(cluster: SchedulerCache, nodes: Sequence[NodeCapacity]) -> LargestPod | None:
    def room(node: NodeCapacity) -> tuple[int, int, int]:
        slot = cluster.slots[node.name]
        memory = max(int(cluster.alloc_memory[slot] - cluster.used_memory[slot]), 0)
        return node.free, memory, max(int(cluster.alloc_cpu[slot] - cluster.used_cpu[slot]), 0)

    usable = [node for node in nodes if node.ready and not node.cordoned]
    if not usable:
        return None
    best = max(usable, key=room)
    gpus, memory, cpu = room(best)
    return LargestPod(gpus, cpu / 1000, memory, best.name)


def _grouped(nodes: Iterable[NodeCapacity], key: Callable[[NodeCapacity], str]) -> list[tuple[str, list[NodeCapacity]]]:
    found: dict[str, list[NodeCapacity]] = {}
    for node in nodes:
        found.setdefault(key(node), []).append(node)
    return sorted(found.items())


def _sum(nodes: Iterable[NodeCapacity], field: str) -> int:
    return sum(getattr(node, field) for node in nodes)


def _block(nodes: Iterable[NodeCapacity]) -> int:
    return max((node.free for node in nodes), default=0)
