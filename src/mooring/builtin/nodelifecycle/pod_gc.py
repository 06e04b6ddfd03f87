"""Removes pods whose node is gone, or that were deleted before they had one: no kubelet is there to stop them.

Absence may only mean that the watch of nodes is behind, so a node is given time to appear. A pod is marked as failed
first, because its owner may wait to see how it ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from mooring.api.core.views import Pod
from mooring.api.kinds import HasMeta, Indexers, Key, key_of
from mooring.builtin.orphans import dependence
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete, Write, status
from mooring.runtime.view import View
from mooring.workloads.conditions import disruption_mark
from mooring.workloads.kinds import NODE, POD

# As the pod garbage collector of Kubernetes waits.
QUARANTINE_TIME = timedelta(seconds=40)
MAX_WRITES_PER_PASS = 500


def _name(node: HasMeta) -> str:
    return node.metadata.name


def _node_of(pod: Pod) -> str | None:
    return pod.spec.node_name or None


PODS_BY_NODE = dependence("pods-by-node", NODE, _name, _node_of)


def _never_bound(pod: Pod) -> Iterable[str]:
    """Pods that are held by finalizers alone, of whom somebody may wait to hear how they ended."""
    return ("",) if pod.metadata.deleting and not pod.spec.node_name and not pod.finished else ()


NEVER_BOUND: Final = Indexers(POD, indexes={"never-bound": _never_bound}, placed_by=("spec", "status"))


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    known: Mapping[str, datetime] = view.memory(MappingProxyType) or {}
    missing_since = {}
    writes: list[Write] = []
    for node, pods in view.fold(PODS_BY_NODE).orphans.items():
        missing_since[node] = known.get(node, now)
        if view.reached(missing_since[node] + QUARANTINE_TIME):
            found = (view.get(POD, *pod) for pod in pods[: MAX_WRITES_PER_PASS - len(writes)])
            writes += [write for pod in found if pod is not None and (write := _remove(pod, now)) is not None]
    for pod in view.list(POD, "never-bound", "")[: MAX_WRITES_PER_PASS - len(writes)]:
        writes.append(status(POD, pod, {"phase": "Failed"}))
    return Decision(children=tuple(writes), memory=MappingProxyType(missing_since))


def _remove(pod: Pod, now: datetime) -> Write | None:
    if not pod.finished:
        return disruption_mark(pod, now, "DeletionByPodGC", "PodGC: node no longer exists", phase="Failed")
    if pod.metadata.deleting and not pod.metadata.deletion_grace_period_seconds:
        # Only its finalizers hold it.
        return None
    return Delete(POD, key_of(pod), grace=0)


CONTROLLER: Final = Controller(
    "pod-gc",
    reconcile,
    reads=(NODE, POD),
    writes={POD: ("delete", "status")},
    folds=(PODS_BY_NODE,),
    indexers=(NEVER_BOUND,),
    memory=MappingProxyType,
)
