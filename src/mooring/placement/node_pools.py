"""Pools that bring nodes: a pod that no node suits may suit the nodes of a pool that waits for them.

Whether it does is decided by labels and taints alone, since what nodes to come will have is known of few pools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from msgspec import to_builtins

from mooring.api.core.types import Labels, Pod, Taint
from mooring.kube.nodeselectors import node_selector
from mooring.placement.plugins.taints import untolerated

__all__ = ["NodePool", "NodePoolKind", "pool_notes"]


class NodePool(NamedTuple):
    """Nodes that an object brings.

    `waiting` is what it waits for, in one sentence; empty when all are there. `growth` is how to get one node more.
    """

    name: str
    labels: Labels
    taints: tuple[Taint, ...]
    waiting: str
    growth: str = ""


class NodePoolKind(NamedTuple):
    """A kind whose objects bring nodes: how one is read, and what it brings."""

    api_version: str
    kind: str
    view: type[Any]
    pool_of: Callable[[Any], NodePool]


def pool_notes(pod: Pod, pools: Iterable[NodePool]) -> list[str]:
    """What to say of the pools that would bring nodes for a pod: what they wait for, or how they get one more."""
    return [note for pool in pools if _suits(pod, pool) and (note := _note(pod.metadata.name, pool))]


def _note(pod: str, pool: NodePool) -> str:
    if pool.waiting:
        return f"{pool.name} brings nodes that {pod} suits, and waits: {pool.waiting}"
    if pool.growth:
        return f"{pool.name} brings nodes whose labels and taints {pod} suits: {pool.growth}"
    return ""


def _suits(pod: Pod, pool: NodePool) -> bool:
    if not (pod.spec.node_selector or {}).items() <= pool.labels.items():
        return False
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = None if affinity is None else affinity.required
    if required is not None and not node_selector(to_builtins(required)).matches(pool.labels, ""):
        return False
    return not untolerated(pod.spec.tolerations or (), pool.taints)
