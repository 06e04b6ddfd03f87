"""The kinds that the built-in controllers read and write, with the questions they ask of them.

One declaration serves all of them: a kind is compared by identity, and a second declaration would be a second cache.
Questions that only one controller asks are that controller's own (`Indexers`).
"""

from __future__ import annotations

from collections.abc import Iterable

from mooring.api.apps import daemonsets
from mooring.api.apps.views import ControllerRevision, Deployment, ReplicaSet, StatefulSet
from mooring.api.autoscaling.views import HorizontalPodAutoscaler
from mooring.api.batch import views as jobs
from mooring.api.certificates.views import CertificateSigningRequest
from mooring.api.coordination.views import Lease
from mooring.api.core.views import (
    ConfigMap,
    Endpoints,
    Namespace,
    Node,
    PersistentVolumeClaim,
    Pod,
    ReplicationController,
    Secret,
    Service,
)
from mooring.api.discovery.views import EndpointSlice
from mooring.api.kinds import HasMeta, Kind
from mooring.api.policy.views import PodDisruptionBudget
from mooring.api.rbac.views import ClusterRole
from mooring.api.resource.views import DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from mooring.api.storage.views import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    StorageClass,
    VolumeAttachment,
)

REVISION_LABEL = "controller-revision-hash"


def _by_node(pod: Pod) -> Iterable[str]:
    return (pod.spec.node_name,) if pod.spec.node_name else ()


def _orphans(obj: HasMeta) -> Iterable[str]:
    """By namespace, objects without a controller: asking for these does not wake for every owned object beside them."""
    meta = obj.metadata
    return (meta.namespace,) if meta.controller is None and not meta.deleting else ()


def _by_claim(volume: PersistentVolume) -> Iterable[str]:
    reference = volume.spec.claim_ref
    return () if reference is None else (f"{reference.namespace}/{reference.name}",)


def _by_any_owner(obj: HasMeta) -> Iterable[str]:
    return dict.fromkeys(owner.uid for owner in obj.metadata.owner_references)


POD = Kind(
    "v1",
    "Pod",
    Pod,
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
# Clusters before 1.34 do not serve these.
DEVICE_CLASS = Kind("resource.k8s.io/v1", "DeviceClass", DeviceClass, optional=True)
RESOURCE_SLICE = Kind("resource.k8s.io/v1", "ResourceSlice", ResourceSlice, optional=True)
RESOURCE_CLAIM = Kind("resource.k8s.io/v1", "ResourceClaim", ResourceClaim, optional=True)
RESOURCE_CLAIM_TEMPLATE = Kind("resource.k8s.io/v1", "ResourceClaimTemplate", ResourceClaimTemplate, optional=True)
PERSISTENT_VOLUME = Kind("v1", "PersistentVolume", PersistentVolume, indexes={"claim": _by_claim})
STORAGE_CLASS = Kind("storage.k8s.io/v1", "StorageClass", StorageClass)
CSI_NODE = Kind("storage.k8s.io/v1", "CSINode", CSINode)
CSI_DRIVER = Kind("storage.k8s.io/v1", "CSIDriver", CSIDriver)
CSI_STORAGE_CAPACITY = Kind("storage.k8s.io/v1", "CSIStorageCapacity", CSIStorageCapacity)
VOLUME_ATTACHMENT = Kind("storage.k8s.io/v1", "VolumeAttachment", VolumeAttachment)
JOB = Kind("batch/v1", "Job", jobs.Job)
CRON_JOB = Kind("batch/v1", "CronJob", jobs.CronJob)
NODE = Kind("v1", "Node", Node)
NAMESPACE = Kind("v1", "Namespace", Namespace)
CONFIG_MAP = Kind("v1", "ConfigMap", ConfigMap)
SECRET = Kind("v1", "Secret", Secret)
SERVICE = Kind("v1", "Service", Service)
ENDPOINTS = Kind("v1", "Endpoints", Endpoints)
ENDPOINT_SLICE = Kind("discovery.k8s.io/v1", "EndpointSlice", EndpointSlice)
REPLICATION_CONTROLLER = Kind("v1", "ReplicationController", ReplicationController)
POD_DISRUPTION_BUDGET = Kind("policy/v1", "PodDisruptionBudget", PodDisruptionBudget)
HORIZONTAL_POD_AUTOSCALER = Kind("autoscaling/v2", "HorizontalPodAutoscaler", HorizontalPodAutoscaler)
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io/v1", "ClusterRole", ClusterRole)
LEASE = Kind("coordination.k8s.io/v1", "Lease", Lease)
CERTIFICATE_SIGNING_REQUEST = Kind("certificates.k8s.io/v1", "CertificateSigningRequest", CertificateSigningRequest)
