"""The pods on some nodes as columns: which could leave, and how much room that would make."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mooring.placement.advise.search import Search
from mooring.placement.filters import ALONE, CROWDED, PORT_TAKEN, REPELLED, TOO_MANY_PODS, UNWELCOME, Need, insufficient
from mooring.placement.labels import Mask
from mooring.placement.pods import CompiledTemplate, PodInfo
from mooring.placement.verdicts import Reason
from mooring.placement.volumes.limits import TOO_MANY_VOLUMES

Column = NDArray[np.int64]

SYSTEM_NAMESPACE = "kube-system"


def is_system(pod: PodInfo) -> bool:
    return pod.namespace == SYSTEM_NAMESPACE


class Residents:
    """Pods on the nodes that only pods reject. `held` has a column for every resource that the incoming pod needs."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self.needs: list[Need] = search.filters.needs()
        self.near: Mask = search.only(*movable(search), ALONE)
        nodes = np.flatnonzero(self.near)
        on_nodes = [search.cluster.node_pods[slot] for slot in nodes.tolist()]
        self.pods: list[PodInfo] = [pod for pods in on_nodes for pod in pods.values()]
        self.slots: Column = np.repeat(nodes, [len(pods) for pods in on_nodes])
        self.priorities: Column = np.array([pod.priority for pod in self.pods], dtype=np.int64)
        templates = [pod.template for pod in self.pods]
        rows = {template: row for row, template in enumerate(dict.fromkeys(templates))}
        names = [need.name for need in self.needs]
        table = np.array([held(template, names) for template in rows], dtype=np.int64).reshape(len(rows), len(names))
        self.held: Column = table[[rows[template] for template in templates]] if rows else table

    @cached_property
    def leaving(self) -> Mask:
        """Which of the pods would be gone once they are deleted."""
        return np.array([not self._search.stays(pod) for pod in self.pods], dtype=np.bool_)

    def missing(self) -> Column:
        """What each node lacks of each resource, a column per need; negative where there is more than enough."""
        size = self._search.cluster.size
        if not self.needs:
            return np.zeros((size, 0), dtype=np.int64)
        return np.stack([need.amount - (need.allocatable - need.used) for need in self.needs], axis=1)

    def missing_places(self) -> Column:
        """How many pods too many each node has for one more."""
        cluster = self._search.cluster
        return cluster.pod_count + 1 - cluster.alloc_pods

    def room_without(self, leaving: Mask) -> Mask:
        """Nodes that have the resources once some of these pods have left."""
        size = self._search.cluster.size
        slots = self.slots[leaving]
        mask = np.bincount(slots, minlength=size) >= self.missing_places()
        missing = self.missing()
        for i in range(len(self.needs)):
            # Sums of bytes stay exact in floating point up to eight pebibytes.
            freed = np.bincount(slots, weights=self.held[leaving, i], minlength=size)
            mask &= freed >= missing[:, i]
        return mask


def held(template: CompiledTemplate, names: Iterable[str]) -> list[int]:
    """How much of some resources a pod on a node holds."""
    requests = template.resources.node
    known = {"cpu": requests.cpu, "memory": requests.memory, "ephemeral-storage": requests.ephemeral}
    known |= dict(requests.scalars)
    return [known.get(name, 0) for name in names]


def short_for_now(search: Search) -> list[Reason]:
    """The verdicts of resources that would suffice if fewer pods were there."""
    return [insufficient(need.name, False) for need in search.filters.needs()]


def movable(search: Search) -> list[Reason]:
    """The verdicts that may change when pods leave."""
    return [PORT_TAKEN, TOO_MANY_PODS, TOO_MANY_VOLUMES, CROWDED, REPELLED, UNWELCOME, *short_for_now(search)]
