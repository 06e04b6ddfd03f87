"""Removes pods whose node is gone: no kubelet is left to stop them.

Absence may only mean that the watch of nodes is behind, so a node is given time to appear. A pod is marked as failed
first, because its owner may wait to see how it ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from mooring.api.core.views import Pod
from mooring.api.kinds import HasMeta, Key, key_of
from mooring.builtin.orphans import dependence
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete, Write
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


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    known: Mapping[str, datetime] = view.memory(MappingProxyType) or {}
    missing_since = {}
    writes: list[Write] = []
    for node, pods in view.fold(PODS_BY_NODE).orphans.items():
        missing_since[node] = known.get(node, now)
        if view.reached(missing_since[node] + QUARANTINE_TIME):
            found = (view.get(POD, *pod) for pod in pods[: MAX_WRITES_PER_PASS - len(writes)])
            writes += [write for pod in found if pod is not None and (write := _remove(pod, now)) is not None]
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
    memory=MappingProxyType,
)
