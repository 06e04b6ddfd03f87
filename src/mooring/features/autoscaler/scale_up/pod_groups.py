"""Pods that would fit or fail together: one of each group is tried for all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mooring.features.autoscaler.pods import is_daemon_set_pod
from mooring.features.autoscaler.scale_up.pending_pods import PendingPod
from mooring.features.autoscaler.scale_up.similar_pods import MAX_SHAPES, are_alike
from mooring.features.autoscaler.views import controller_of

__all__ = ["PodGroup", "pod_groups"]


class PodGroup:
    """Pods that are alike, and what node groups said of the first of them."""

    __slots__ = ("fits", "pods", "rejected")

    def __init__(self, first: PendingPod) -> None:
        self.pods: list[PendingPod] = [first]
        self.fits: set[str] = set()
        # The words of the scheduler, by node group.
        self.rejected: dict[str, tuple[str, ...]] = {}

    @property
    def example(self) -> PendingPod:
        return self.pods[0]


def pod_groups(pods: Iterable[PendingPod]) -> Sequence[PodGroup]:
    """Pods without a controller, of DaemonSets, and of shapes beyond the tenth of a controller stand alone."""
    found: list[PodGroup] = []
    shapes: dict[str, list[PodGroup]] = {}
    for each in pods:
        controller = controller_of(each.pod)
        if controller is None or is_daemon_set_pod(each.pod):
            found.append(PodGroup(each))
            continue
        known = shapes.setdefault(controller.uid, [])
        same = next((group for group in known if are_alike(each.pod, group.example.pod)), None)
        if same is not None:
            same.pods.append(each)
            continue
        found.append(PodGroup(each))
        if len(known) < MAX_SHAPES:
            known.append(found[-1])
    return found
