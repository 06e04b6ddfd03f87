"""Draining the Node of a Machine that goes: which pods have to leave it, and how.

Pods leave through the eviction API, so that their disruption budgets hold. Those of DaemonSets and the kubelet's own
stay, and so does what says so with the label `cluster.x-k8s.io/drain`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from mooring.api.core.views import Pod
from mooring.features.machines.api.names import DRAIN

__all__ = ["Drain", "drain_of"]

# Pods of a Node that is not heard of cannot end by themselves.
UNREACHABLE_GRACE_SECONDS: Final = 1
# Whose pods would come back to the Node at once: those of a DaemonSet, and mirrors of the kubelet's own.
_STAYING_OWNERS: Final = frozenset({"DaemonSet", "Node"})
# A sentence about pods names these many of them.
_NAMED: Final = 5


class Drain(NamedTuple):
    """Pods to be asked to leave, those on their way, and those whose end is waited for."""

    evicted: tuple[Pod, ...] = ()
    leaving: tuple[Pod, ...] = ()
    awaited: tuple[Pod, ...] = ()
    grace: int | None = None

    @property
    def done(self) -> bool:
        return not (self.evicted or self.leaving or self.awaited)

    @property
    def message(self) -> str:
        parts = ((self.evicted, "to be evicted"), (self.leaving, "on their way out"), (self.awaited, "to be awaited"))
        return "; ".join(f"{len(pods)} pods are {what}: {_names(pods)}" for pods, what in parts if pods)


def drain_of(pods: Iterable[Pod], *, unreachable: bool) -> Drain:
    evicted, leaving, awaited = [], [], []
    for pod in sorted(pods, key=lambda each: (each.metadata.namespace, each.metadata.name)):
        owner, choice = pod.metadata.controller, pod.metadata.labels.get(DRAIN, "").lower()
        if choice == "skip" or (owner is not None and owner.kind in _STAYING_OWNERS):
            continue
        if choice == "wait-completed":
            if not pod.finished and not (pod.metadata.deleting and unreachable):
                awaited.append(pod)
        elif not pod.metadata.deleting:
            evicted.append(pod)
        elif not unreachable:
            leaving.append(pod)
    grace = UNREACHABLE_GRACE_SECONDS if unreachable else None
    return Drain(tuple(evicted), tuple(leaving), tuple(awaited), grace)


def _names(pods: tuple[Pod, ...]) -> str:
    names = [f"{pod.metadata.namespace}/{pod.metadata.name}" for pod in pods[:_NAMED]]
    return ", ".join(names) + (" and more" if len(pods) > _NAMED else "")
