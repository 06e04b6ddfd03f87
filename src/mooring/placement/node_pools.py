"""Pools that bring nodes: a pod that no node suits may suit those of a pool, and is told how the pool gets one more.

Whether it does is decided by labels, taints, and the size of the next node as far as that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import to_builtins

from mooring.api.core.types import Labels, Pod, Taint
from mooring.kube.nodeselectors import node_selector
from mooring.kube.quantities import Quantity
from mooring.placement.causes.amounts import amount
from mooring.placement.plugins.resources import Requests, pod_resources, to_requests
from mooring.placement.plugins.taints import untolerated

__all__ = ["Growth", "NodePool", "NodePoolKinds", "Replicated", "pool_notes"]


class Growth(NamedTuple):
    """One way for a pool to get one more node. `capacity` is what the node would have; None where it is not known."""

    how: str
    capacity: Mapping[str, Quantity] | None = None


class Replicated(NamedTuple):
    """An object whose replicas are nodes, and the number up to which its bounds and its free hosts let it be raised."""

    api_version: str
    kind: str
    namespace: str
    name: str
    replicas: int
    most: int

    @property
    def to_spare(self) -> int:
        return self.most - self.replicas


class NodePool(NamedTuple):
    """Nodes that an object brings.

    `waiting` is what it waits for, in one sentence; empty when all are there. `growths` are ways to one node more, the
    best first, and `otherwise` is what to do where none of them helps a pod; without it, that says what the node lacks.
    `raisable` is there where a command is enough for one node more, and what that node has is known.
    """

    name: str
    labels: Labels
    taints: tuple[Taint, ...]
    waiting: str
    growths: tuple[Growth, ...] = ()
    otherwise: str = ""
    raisable: Replicated | None = None


class NodePoolKinds(NamedTuple):
    """A kind whose objects are pools, the views of all that tells of them, and the pools that objects of these are."""

    kind: str
    views: Mapping[tuple[str, str], type[Any]]
    pools_of: Callable[[Mapping[str, Sequence[Any]]], list[NodePool]]


def pool_notes(pod: Pod, pools: Iterable[NodePool]) -> list[str]:
    """What to say of the pools that would bring nodes for a pod: what they wait for, or how they get one more."""
    return [note for pool in pools if _suits(pod, pool) and (note := _note(pod, pool))]


def _note(pod: Pod, pool: NodePool) -> str:
    name, asked = pod.metadata.name, pod_resources(pod).fit
    if pool.waiting:
        return f"{pool.name} brings nodes that {name} suits, and waits: {pool.waiting}"
    for growth in pool.growths:
        if growth.capacity is None:
            return f"{pool.name} brings nodes whose labels and taints {name} suits: {growth.how}"
        if not _shortages(asked, growth.capacity):
            return f"{pool.name} brings nodes that {name} suits: {growth.how}"
    if pool.otherwise:
        return f"{pool.name} brings nodes whose labels and taints {name} suits: {pool.otherwise}"
    if pool.growths and pool.growths[0].capacity is not None:
        short = " and ".join(_shortages(asked, pool.growths[0].capacity))
        return f"{pool.name} brings nodes whose labels and taints {name} suits, and too small ones: {short}"
    return ""


def _shortages(asked: Requests, capacity: Mapping[str, Quantity]) -> list[str]:
    """What a node lacks for a pod, each in words."""
    has = to_requests(capacity)
    wanted = {"cpu": asked.cpu, "memory": asked.memory, **dict(asked.scalars)}
    found = {"cpu": has.cpu, "memory": has.memory, **dict(has.scalars)}
    return [
        f"it asks for {amount(name, number, up=True)} of {name}, and the next node has {amount(name, has_of_it)}"
        for name, number in wanted.items()
        if number > (has_of_it := found.get(name, 0))
    ]


def _suits(pod: Pod, pool: NodePool) -> bool:
    if not (pod.spec.node_selector or {}).items() <= pool.labels.items():
        return False
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = None if affinity is None else affinity.required
    if required is not None and not node_selector(to_builtins(required)).matches(pool.labels, ""):
        return False
    return not untolerated(pod.spec.tolerations or (), pool.taints)
