"""What the pods of this node were given, by which a resize is admitted, and who waits for room."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mooring.api.core.types import Pod
from mooring.kube.objects import Object
from mooring.nodes.process.pods.resizes import pod_view
from mooring.nodes.resize.allocation import ResizeRefusal, refusal_of

__all__ = ["Allocations"]


class Allocations:
    """Pods by uid. `allocatable` is what the node has for all of them."""

    def __init__(self, allocatable: Mapping[str, str]) -> None:
        self._allocatable = allocatable
        self._held: dict[str, Pod] = {}
        self._waiting: dict[str, Callable[[], None]] = {}

    def hold(self, uid: str, allocated: Object) -> None:
        """Note what a pod has been given."""
        found = pod_view(allocated)
        if self._held.get(uid) != found:
            self._held[uid] = found
            self._wake()

    def release(self, uid: str) -> None:
        """A pod needs nothing any more."""
        self._waiting.pop(uid, None)
        if self._held.pop(uid, None) is not None:
            self._wake()

    def refusal(self, uid: str, pod: Object, wake: Callable[[], None]) -> ResizeRefusal | None:
        """Why a pod cannot have what it asks for; `wake` is called when that may have changed."""
        others = [each for other, each in self._held.items() if other != uid]
        found = refusal_of(pod_view(pod), others, dict(self._allocatable))
        if found is not None and found.reason == "Deferred":
            self._waiting[uid] = wake
        return found

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for wake in waiting.values():
            wake()
