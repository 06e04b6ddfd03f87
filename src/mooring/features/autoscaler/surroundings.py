"""The cluster as the autoscaler reads it from a view: what one loop decides on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from mooring.api.core.types import Namespace
from mooring.api.kinds import Kind
from mooring.api.policy.budgets import PodDisruptionBudget
from mooring.features.autoscaler.kinds import SCALED_DAEMON_SET, SCALED_NODE, SCALED_POD
from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.observation import ClusterObjects, ControllerKey
from mooring.features.autoscaler.pods import has_ended, is_unschedulable
from mooring.features.autoscaler.views import AutoscalerNode, AutoscalerPod
from mooring.runtime.view import View
from mooring.workloads.cluster_state import STORAGE
from mooring.workloads.kinds import (
    DAEMON_SET,
    JOB,
    NAMESPACE,
    POD_DISRUPTION_BUDGET,
    REPLICA_SET,
    REPLICATION_CONTROLLER,
    STATEFUL_SET,
)

__all__ = ["CONTROLLERS_OF_PODS", "bound_pods", "cluster_objects", "nodes_of", "pending_pods"]

CONTROLLERS_OF_PODS: Final[Mapping[str, Kind[Any]]] = {
    each.kind: each for each in (REPLICA_SET, STATEFUL_SET, JOB, REPLICATION_CONTROLLER, DAEMON_SET)
}


class _ControllersOfPods:
    """The controllers of pods, asked for one by one: only those of nodes that may go matter."""

    def __init__(self, view: View) -> None:
        self._view = view

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and self._find(key) is not None

    def __getitem__(self, key: ControllerKey) -> int | None:
        replicas: int | None = getattr(self._find(key).spec, "replicas", None)
        return replicas

    def _find(self, key: ControllerKey) -> Any:
        kind, namespace, name = key
        return self._view.get(CONTROLLERS_OF_PODS[kind], namespace, name)


def nodes_of(view: View) -> dict[str, AutoscalerNode]:
    """By name, in the order of names."""
    return {node.name: node for node in sorted(view.list(SCALED_NODE), key=lambda node: str(node.name))}


def cluster_objects(
    view: View, groups: Sequence[NodeGroup], nodes: Iterable[AutoscalerNode], deleting: Mapping[str, bool]
) -> ClusterObjects:
    return ClusterObjects(
        groups,
        [*nodes],
        bound_pods(view),
        sorted(view.list(SCALED_DAEMON_SET), key=lambda each: (each.metadata.namespace, each.metadata.name)),
        cast(Sequence[Namespace], view.list(NAMESPACE)),
        _ControllersOfPods(view),
        cast(Sequence[PodDisruptionBudget], view.list(POD_DISRUPTION_BUDGET)),
        deleting,
        [each for kind in STORAGE for each in view.list(kind)],
    )


def bound_pods(view: View) -> list[AutoscalerPod]:
    """Pods that have a node and have not ended, by name."""
    found = (pod for pod in view.list(SCALED_POD) if pod.spec.node_name and not has_ended(pod))
    return sorted(found, key=lambda pod: str(pod.key))


def pending_pods(view: View) -> list[AutoscalerPod]:
    """Pods that a scheduler has found no node for, the oldest first."""
    found = [pod for pod in view.list(SCALED_POD) if is_unschedulable(pod)]
    return sorted(found, key=lambda pod: (pod.metadata.creation_timestamp or "", pod.key))
