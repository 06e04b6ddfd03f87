"""The kinds that the built-in controllers read and write, with the questions they ask of them.

One declaration serves all of them: a kind is compared by identity, and a second declaration would be a second cache.
Questions that only one controller asks are that controller's own (`Indexers`).
"""

from __future__ import annotations

from collections.abc import Iterable

from mooring.api import daemonsets, jobs
from mooring.api import workloads as api
from mooring.runtime.kinds import HasMeta, Kind

REVISION_LABEL = "controller-revision-hash"


def _by_node(pod: api.Pod) -> Iterable[str]:
    return (pod.spec.node_name,) if pod.spec.node_name else ()


def _orphans(obj: HasMeta) -> Iterable[str]:
    """By namespace, what nobody controls: asking for these does not wake for every owned object beside them."""
    meta = obj.metadata
    return (meta.namespace,) if meta.controller is None and not meta.deleting else ()


def _by_any_owner(obj: HasMeta) -> Iterable[str]:
    return dict.fromkeys(owner.uid for owner in obj.metadata.owner_references)


POD = Kind(
    "v1",
    "Pod",
    api.Pod,
    indexes={
        "node": _by_node,
        "orphan": _orphans,
    },
    counters={
        "any": lambda pod: True,
        "active": lambda pod: pod.active,
        "ready": lambda pod: pod.active and pod.ready,
        "terminating": lambda pod: pod.terminating,
        "healthy": lambda pod: pod.healthy,
        "unschedulable": lambda pod: pod.unschedulable is not None,
    },
    placed_by=("spec",),
)
REPLICA_SET = Kind("apps/v1", "ReplicaSet", api.ReplicaSet, indexes={"orphan": _orphans}, placed_by=())
DEPLOYMENT = Kind("apps/v1", "Deployment", api.Deployment)
STATEFUL_SET = Kind("apps/v1", "StatefulSet", api.StatefulSet)
DAEMON_SET = Kind("apps/v1", "DaemonSet", daemonsets.DaemonSet)
CONTROLLER_REVISION = Kind(
    "apps/v1", "ControllerRevision", api.ControllerRevision, indexes={"orphan": _orphans}, placed_by=()
)
PERSISTENT_VOLUME_CLAIM = Kind(
    "v1", "PersistentVolumeClaim", api.PersistentVolumeClaim, indexes={"any-owner": _by_any_owner}, placed_by=()
)
JOB = Kind("batch/v1", "Job", jobs.Job)
NODE = Kind("v1", "Node", api.Node)
NAMESPACE = Kind("v1", "Namespace", api.Namespace)
SERVICE = Kind("v1", "Service", api.Service)
ENDPOINTS = Kind("v1", "Endpoints", api.Endpoints)
ENDPOINT_SLICE = Kind("discovery.k8s.io/v1", "EndpointSlice", api.EndpointSlice)
REPLICATION_CONTROLLER = Kind("v1", "ReplicationController", api.ReplicationController)
POD_DISRUPTION_BUDGET = Kind("policy/v1", "PodDisruptionBudget", api.PodDisruptionBudget)
LEASE = Kind("coordination.k8s.io/v1", "Lease", api.Lease)
