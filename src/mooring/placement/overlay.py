"""Assumed pods: they hold their resources on a node before they are observed there.

A cache has two overlays of them. One lasts for a decision: each pod that is placed holds its resources for the next
one, and at the end all of them are forgotten, and the decision says what was assumed. The other holds what was decided
until it is observed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import SchedulerCache


class Assumption(NamedTuple):
    """A pod, by its key, on a node, or nominated to one."""

    pod: str
    node: str
    nominated: str


class Overlay:
    """Pods are put on their nodes when the cache is about to be read (`settle`); most are observed there earlier."""

    def __init__(self, cluster: SchedulerCache) -> None:
        self._cluster = cluster
        # How each pod was held before it was assumed to be elsewhere, in the order of the assumptions.
        self._before: dict[str, Assumption] = {}
        # What is assumed and not carried out in the cluster yet.
        self._coming: dict[str, Assumption] = {}

    def __contains__(self, pod: str) -> bool:
        return pod in self._before or pod in self._coming

    def bind(self, info: PodInfo, slot: int) -> None:
        """Hold a pod as bound to a node."""
        self._coming[info.key] = Assumption(info.key, self._cluster.names[slot], info.nominated)

    def nominate(self, info: PodInfo, node: str) -> None:
        """Hold a pod as nominated to a node, or to none."""
        self.settle()
        self._move(Assumption(info.key, "", node))

    def settle(self) -> None:
        """Carry out in the cluster what is assumed."""
        if self._coming:
            for assumption in self._coming.values():
                self._move(assumption)
            self._coming.clear()

    def _move(self, wanted: Assumption) -> None:
        info = self._cluster.pods[wanted.pod]
        self._before.setdefault(info.key, Assumption(info.key, info.node_name, info.nominated))
        self._cluster.move(info, wanted.node, wanted.nominated)

    def assumed(self) -> tuple[Assumption, ...]:
        """What is held, to be handed on."""
        pods = self._cluster.pods
        held = {key: Assumption(key, pods[key].node_name, pods[key].nominated) for key in self._before}
        return tuple((held | self._coming).values())

    def assume(self, assumptions: Iterable[Assumption]) -> None:
        """Hold what was handed on."""
        self._coming.update((assumption.pod, assumption) for assumption in assumptions)

    def confirm(self, pod: str, node: str = "") -> None:
        """A pod has been seen, bound to a node or to none: from now on it is held as it was seen."""
        coming = self._coming.get(pod)
        if coming is not None and (coming.node != node or coming.nominated):
            # It was not what was assumed, and what it gives up must be known to have been held.
            self.settle()
        self._coming.pop(pod, None)
        self._before.pop(pod, None)

    def take_back(self) -> None:
        """Hold every pod as it was seen, the last that moved first: the order of pods on a node is as it was, too."""
        self._coming.clear()
        for pod, node, nominated in reversed(self._before.values()):
            self._cluster.move(self._cluster.pods[pod], node, nominated)
        self._before.clear()
