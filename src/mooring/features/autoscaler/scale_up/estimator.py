"""How many nodes of a group some pods need: packed one after another, the largest first.

Pods of a group are tried on the nodes that were added before, then on the newest node, then a node is added. A node
that stays empty ends the group of pods that it was added for, and it counts for nothing.

Upstream begins a search after the node that it found last. Once it has placed a pod, though, it goes through the nodes
that it has added in a random order. The order in which they came stands for that here: it is one of those orders, and
nearly all of them need the same number of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from mooring.features.autoscaler.scale_up.pending_pods import PendingPod
from mooring.features.autoscaler.scale_up.pod_groups import PodGroup
from mooring.features.autoscaler.snapshot import HOSTNAME, AutoscalerSnapshot, NodeTemplate, fresh_node
from mooring.kube.quantities import milli_value, value
from mooring.placement.filters import CROWDED

__all__ = ["Estimate", "estimate"]


class Estimate(NamedTuple):
    nodes: int
    pods: tuple[PendingPod, ...]


def estimate(
    groups: Iterable[PodGroup], template: NodeTemplate, snapshot: AutoscalerSnapshot, most_nodes: int
) -> Estimate:
    """Nodes of a template that take as many of the pods as they can, at most so many nodes."""
    with snapshot.fork():
        packing = _Packing(template, snapshot, most_nodes)
        for group in _largest_first(groups, template):
            packing.pack(group.pods)
        return Estimate(len(packing.used), tuple(packing.placed))


def _largest_first(groups: Iterable[PodGroup], template: NodeTemplate) -> Sequence[PodGroup]:
    allocatable = template.node.status.allocatable or {}
    cpu, memory = milli_value(allocatable.get("cpu", 0)), value(allocatable.get("memory", 0))

    def size(group: PodGroup) -> float:
        asked = group.example.info.requests
        return (asked.cpu / cpu if cpu > 0 else 0.0) + (asked.memory / memory if memory > 0 else 0.0)

    return sorted(groups, key=size, reverse=True)


class _Packing:
    def __init__(self, template: NodeTemplate, snapshot: AutoscalerSnapshot, most_nodes: int) -> None:
        self._template = template
        self._snapshot = snapshot
        self._most_nodes = most_nodes
        self._added: list[int] = []
        self._full = False
        # Whether a pod was placed since nodes were last listed, after which upstream lists them in a random order.
        self._shuffled = True
        self.placed: list[PendingPod] = []
        # Nodes that took a pod; one that is there already is among them if a spread constraint led a pod to it.
        self.used: set[int] = set()

    def pack(self, pods: Sequence[PendingPod]) -> None:
        rest = self._on_added_nodes(pods)
        if not self._full:
            self._on_new_nodes(rest)

    def _on_added_nodes(self, pods: Sequence[PendingPod]) -> Sequence[PendingPod]:
        """The pods that are left when the first of them finds no room."""
        if not self._added:
            return pods
        acceptable = np.zeros(self._snapshot.cluster.size, dtype=np.bool_)
        acceptable[self._added] = True
        for i, each in enumerate(pods):
            slot = self._snapshot.schedule_anywhere(each.info, acceptable, afresh=self._shuffled)
            if slot < 0:
                self._shuffled = False
                return pods[i:]
            self._count(each, slot)
        return ()

    def _on_new_nodes(self, pods: Iterable[PendingPod]) -> None:
        snapshot = self._snapshot
        for each in pods:
            if self._added and self._on_newest(each):
                continue
            if self._added and self._added[-1] not in self.used:
                return
            if len(self._added) >= self._most_nodes:
                self._full = True
                return
            self._added.append(snapshot.add(fresh_node(self._template, f"e-{len(self._added)}")))
            if not snapshot.schedule_on(each.info, self._added[-1]):
                self._shuffled = False
                return
            self._count(each, self._added[-1])

    def _on_newest(self, each: PendingPod) -> bool:
        snapshot, newest = self._snapshot, self._added[-1]
        if snapshot.schedule_on(each.info, newest):
            self._count(each, newest)
            return True
        if not _spreads_over_nodes(each) or CROWDED not in (snapshot.rejections(each.info, newest) or ()):
            return False
        others = snapshot.cluster.valid.copy()
        others[newest] = False
        slot = snapshot.schedule_anywhere(each.info, others)
        if slot >= 0:
            self._count(each, slot)
        return slot >= 0

    def _count(self, each: PendingPod, slot: int) -> None:
        self._shuffled = True
        self.used.add(slot)
        self.placed.append(each)


def _spreads_over_nodes(each: PendingPod) -> bool:
    return any(constraint.topology_key == HOSTNAME for constraint in each.pod.spec.topology_spread_constraints or ())
