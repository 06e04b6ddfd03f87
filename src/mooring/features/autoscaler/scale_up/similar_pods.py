"""Pods that are alike for placement: same controller, same labels, same spec."""

from __future__ import annotations

from typing import Final

from mooring.features.autoscaler.pods import is_daemon_set_pod
from mooring.features.autoscaler.views import AutoscalerPod, controller_of

__all__ = ["MAX_SHAPES", "SimilarPods", "are_alike"]

MAX_SHAPES: Final = 10
"""How many different shapes of pods of one controller are told apart."""


def are_alike(one: AutoscalerPod, other: AutoscalerPod) -> bool:
    return (one.metadata.labels or {}) == (other.metadata.labels or {}) and one.spec == other.spec


class SimilarPods:
    """Pods for which something was found out that holds for pods like them."""

    def __init__(self) -> None:
        self._known: dict[str, list[AutoscalerPod]] = {}

    def has_like(self, pod: AutoscalerPod) -> bool:
        controller = controller_of(pod)
        if controller is None:
            return False
        return any(are_alike(pod, known) for known in self._known.get(controller.uid, ()))

    def add(self, pod: AutoscalerPod) -> None:
        controller = controller_of(pod)
        if controller is None or is_daemon_set_pod(pod):
            return
        known = self._known.setdefault(controller.uid, [])
        if len(known) < MAX_SHAPES:
            known.append(pod)
