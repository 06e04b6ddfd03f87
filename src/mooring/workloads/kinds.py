"""The kinds that the built-in controllers read and write, with the questions they ask of them.

One declaration serves all of them: a kind is compared by identity, and a second declaration would be a second cache.
"""

from __future__ import annotations

from collections.abc import Iterable

from mooring.api.apps import daemonsets
from mooring.api.apps.views import ControllerRevision, Deployment, ReplicaSet, StatefulSet
from mooring.api.batch import views as jobs
from mooring.api.coordination.views import Lease
from mooring.api.core.views import (
    Endpoints,
    Namespace,
    Node,
    PersistentVolumeClaim,
    Pod,
    ReplicationController,
    Service,
)
from mooring.api.discovery.views import EndpointSlice
from mooring.api.kinds import HasMeta, Kind
from mooring.api.policy.views import PodDisruptionBudget

# Pods of a StatefulSet are counted in blocks of ordinals, large and small, so that a set of any size is looked at
# without listing it. Each size is a multiple of the next; the smallest block is what is listed.
BLOCKS = (1024, 64, 4)
BLOCK = BLOCKS[-1]
REVISION_LABEL = "controller-revision-hash"
INDEX_LABEL = "apps.kubernetes.io/pod-index"
NAME_LABEL = "statefulset.kubernetes.io/pod-name"
# Labels that tell one pod of a set from the next: its name, its number, and where it was bound.
_OF_ONE_POD = frozenset({INDEX_LABEL, NAME_LABEL, "topology.kubernetes.io/zone", "topology.kubernetes.io/region"})

# More than any ordinals add up to.
_SPOILT = 1 << 80


def owned_alike(uid: str, labels: dict[str, str]) -> str:
    """The beginning of a value of index `alike`: an owner's pods that carry these labels, their own names aside."""
    return uid + "".join([f"\n{name}={labels[name]}" for name in sorted(labels) if name not in _OF_ONE_POD]) + "\n"


def alike_in_block(start: str, size: int, ordinal: int) -> str:
    """A value of index `alike` for a StatefulSet: those in the block of this size that the ordinal falls into."""
    return f"{start}{size}/{ordinal // size}"


def owned_in_block(uid: str, block: int) -> str:
    """The value of index `block`: the pods of a StatefulSet whose ordinals fall into one block."""
    return f"{uid}/{block}"


def _by_node(pod: Pod) -> Iterable[str]:
    return (pod.spec.node_name,) if pod.spec.node_name else ()


def _ordinal(pod: Pod) -> int:
    """The number that a pod is labelled with; -1 if its name, which nobody can change, says another."""
    ordinal = pod.metadata.labels.get(INDEX_LABEL, "")
    return int(ordinal) if ordinal.isdecimal() and pod.metadata.name.endswith(f"-{ordinal}") else -1


def _healthy_ordinal(pod: Pod) -> int:
    """What a pod adds to the sum of ordinals. One without a number of its own spoils the sum."""
    if not pod.healthy:
        return 0
    ordinal = _ordinal(pod)
    return ordinal if ordinal >= 0 else _SPOILT


def _by_block(pod: Pod) -> Iterable[str]:
    owner = pod.metadata.controller
    if owner is None or owner.kind != "StatefulSet":
        return ()
    return (owned_in_block(owner.uid, _ordinal(pod) // BLOCK),)


def _alike(pod: Pod) -> Iterable[str]:
    owner = pod.metadata.controller
    if owner is None:
        return ()
    start = owned_alike(owner.uid, pod.metadata.labels)
    if owner.kind != "StatefulSet":
        return (start,)
    ordinal = _ordinal(pod)
    return (start, *[alike_in_block(start, size, ordinal) for size in BLOCKS])


def _orphans(obj: HasMeta) -> Iterable[str]:
    """By namespace, what nobody controls: asking for these does not wake for every owned object beside them."""
    meta = obj.metadata
    return (meta.namespace,) if meta.controller is None and not meta.deleting else ()


def _by_any_owner(obj: HasMeta) -> Iterable[str]:
    return dict.fromkeys(owner.uid for owner in obj.metadata.owner_references)


POD = Kind(
    "v1",
    "Pod",
    Pod,
    indexes={
        "node": _by_node,
        "orphan": _orphans,
        "alike": _alike,
        "block": _by_block,
    },
    counters={
        "any": lambda pod: True,
        "active": lambda pod: pod.active,
        "ready": lambda pod: pod.active and pod.ready,
        "terminating": lambda pod: pod.terminating,
        "healthy": lambda pod: pod.healthy,
        "healthy-ordinals": _healthy_ordinal,
        "unschedulable": lambda pod: pod.unschedulable is not None,
    },
    placed_by=("spec",),
)
REPLICA_SET = Kind("apps/v1", "ReplicaSet", ReplicaSet, indexes={"orphan": _orphans}, placed_by=())
DEPLOYMENT = Kind("apps/v1", "Deployment", Deployment)
STATEFUL_SET = Kind("apps/v1", "StatefulSet", StatefulSet)
DAEMON_SET = Kind("apps/v1", "DaemonSet", daemonsets.DaemonSet)
CONTROLLER_REVISION = Kind(
    "apps/v1", "ControllerRevision", ControllerRevision, indexes={"orphan": _orphans}, placed_by=()
)
PERSISTENT_VOLUME_CLAIM = Kind(
    "v1", "PersistentVolumeClaim", PersistentVolumeClaim, indexes={"any-owner": _by_any_owner}, placed_by=()
)
JOB = Kind("batch/v1", "Job", jobs.Job)
NODE = Kind("v1", "Node", Node)
NAMESPACE = Kind("v1", "Namespace", Namespace)
SERVICE = Kind("v1", "Service", Service)
ENDPOINTS = Kind("v1", "Endpoints", Endpoints)
ENDPOINT_SLICE = Kind("discovery.k8s.io/v1", "EndpointSlice", EndpointSlice)
REPLICATION_CONTROLLER = Kind("v1", "ReplicationController", ReplicationController)
POD_DISRUPTION_BUDGET = Kind("policy/v1", "PodDisruptionBudget", PodDisruptionBudget)
LEASE = Kind("coordination.k8s.io/v1", "Lease", Lease)
