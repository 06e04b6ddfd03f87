"""A node taken away for a try: whether every pod on it finds room elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

import numpy as np

from mooring.features.autoscaler.scale_down.drain_rules import BlockingPod, DrainRules
from mooring.features.autoscaler.scale_down.unremovable import UnremovableNode
from mooring.features.autoscaler.scale_up.similar_pods import SimilarPods
from mooring.features.autoscaler.snapshot import AutoscalerSnapshot
from mooring.features.autoscaler.templates.node_taints import TO_BE_DELETED
from mooring.features.autoscaler.views import AutoscalerPod, AutoscalerTaint
from mooring.placement.labels import Mask
from mooring.placement.pods import PodInfo

__all__ = ["RemovableNode", "RemovalSimulator"]


class RemovableNode(NamedTuple):
    node: str
    pods: tuple[AutoscalerPod, ...]
    # Whether budgets forbid that all of its pods go at the same time.
    risky: bool = False


class RemovalSimulator:
    """What succeeds stays done in the snapshot: the next node must do without the ones before it."""

    def __init__(self, snapshot: AutoscalerSnapshot, hints: Mapping[str, str], now: datetime) -> None:
        self._snapshot = snapshot
        self._old_hints = hints
        self._taint = AutoscalerTaint(key=TO_BE_DELETED, value=str(int(now.timestamp())), effect="NoSchedule")
        # Where pods found room this time.
        self.hints: dict[str, str] = {}

    def remove(self, node: str, rules: DrainRules, destinations: Iterable[str]) -> RemovableNode | UnremovableNode:
        """`destinations` are the nodes that take pods from others."""
        snapshot = self._snapshot
        moving = rules.pods_to_move(snapshot.pods_on(node))
        if isinstance(moving, BlockingPod):
            return UnremovableNode(node, "BlockedByPod", moving)
        with snapshot.fork() as fork:
            infos = [snapshot.cluster.pods[pod.key] for pod in moving]
            # Nothing is left of the node but its labels, which may matter to constraints of the pods.
            for info in snapshot.infos_on(node):
                snapshot.unbind(info)
            snapshot.taint(node, self._taint)
            if not self._find_places(zip(moving, infos, strict=True), self._acceptable(node, destinations)):
                return UnremovableNode(node, "NoPlaceToMovePods")
            snapshot.remove_node(node)
            fork.kept = True
        return RemovableNode(node, tuple(moving))

    def _acceptable(self, removed: str, destinations: Iterable[str]) -> Mask:
        slots = self._snapshot.cluster.slots
        mask = np.zeros(self._snapshot.cluster.size, dtype=np.bool_)
        mask[[slots[name] for name in destinations if name != removed and name in slots]] = True
        return mask

    def _find_places(self, pods: Iterable[tuple[AutoscalerPod, PodInfo]], acceptable: Mask) -> bool:
        hopeless = SimilarPods()
        for pod, info in pods:
            if self._on_hinted_node(pod, info, acceptable):
                continue
            if hopeless.has_like(pod):
                return False
            slot = self._snapshot.schedule_anywhere(info, acceptable)
            if slot < 0:
                return False
            self.hints[_hint_key(pod)] = self._snapshot.cluster.names[slot]
        return True

    def _on_hinted_node(self, pod: AutoscalerPod, info: PodInfo, acceptable: Mask) -> bool:
        key = _hint_key(pod)
        name = self.hints.get(key) or self._old_hints.get(key, "")
        slot = self._snapshot.cluster.slots.get(name)
        if slot is None or not acceptable[slot] or not self._snapshot.schedule_on(info, slot):
            return False
        self.hints[key] = name
        return True


def _hint_key(pod: AutoscalerPod) -> str:
    return pod.metadata.uid or pod.key
