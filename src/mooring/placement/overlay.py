"""Pods held on nodes that nobody has seen them on yet.

Two of these lie on a cluster. While a scheduler decides, each pod that it places holds its resources for the next one;
at the end all of that is taken back, and the decision says what was assumed. Once it is decided, the same lies there
until it has been seen.
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
    def __init__(self, cluster: SchedulerCache) -> None:
        self._cluster = cluster
        # How each pod was held before it was assumed to be elsewhere, in the order of the assumptions.
        self._before: dict[str, Assumption] = {}

    def __contains__(self, pod: str) -> bool:
        return pod in self._before

    def bind(self, info: PodInfo, slot: int) -> None:
        """Hold a pod as bound to a node."""
        self._move(info, self._cluster.names[slot], info.nominated)

    def nominate(self, info: PodInfo, node: str) -> None:
        """Hold a pod as nominated to a node, or to none."""
        self._move(info, "", node)

    def _move(self, info: PodInfo, node: str, nominated: str) -> None:
        self._before.setdefault(info.key, Assumption(info.key, info.node_name, info.nominated))
        self._cluster.move(info, node, nominated)

    def assumed(self) -> tuple[Assumption, ...]:
        """What is held, to be handed on."""
        pods = self._cluster.pods
        return tuple(Assumption(key, pods[key].node_name, pods[key].nominated) for key in self._before)

    def assume(self, assumptions: Iterable[Assumption]) -> None:
        """Hold what was handed on."""
        for pod, node, nominated in assumptions:
            self._move(self._cluster.pods[pod], node, nominated)

    def confirm(self, pod: str) -> None:
        """A pod has been seen: from now on it is held as it was seen."""
        self._before.pop(pod, None)

    def take_back(self) -> None:
        """Hold every pod as it was seen, the last that moved first: the order of pods on a node is as it was, too."""
        for pod, node, nominated in reversed(self._before.values()):
            self._cluster.move(self._cluster.pods[pod], node, nominated)
        self._before.clear()
