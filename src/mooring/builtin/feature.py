"""The control plane of Kubernetes as a feature: what a bare API server lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mooring.builtin.progress import daemon_set_progress, job_progress, replicas_progress
from mooring.runtime.feature import Feature, Parts

if TYPE_CHECKING:
    from mooring.placement.workloads.kinds import WorkloadKind
    from mooring.runtime.controller import Controller


def _controllers() -> tuple[Controller, ...]:
    from mooring.builtin.controllers import control_plane

    return control_plane()


def _workloads() -> tuple[WorkloadKind, ...]:
    from mooring.builtin.apps.daemonset.workload import DAEMON_SET_PODS
    from mooring.placement.workloads.kinds import BUILT_IN

    return (*BUILT_IN, DAEMON_SET_PODS)


_NAMES: Final = (
    "deployment",
    "replicaset",
    "replicationcontroller",
    "statefulset",
    "daemonset",
    "claims",
    "volumes",
    "volume-matching",
    "ephemeral-volumes",
    "resource-claim-generation",
    "resource-claim",
    "job",
    "job-orphans",
    "cronjob",
    "disruption",
    "horizontal-pod-autoscaler",
    "endpoints",
    "endpointslices",
    "endpointslice-mirroring",
    "scheduler",
    "node-ipam",
    "node-lifecycle",
    "node-outages",
    "taint-eviction",
    "pod-gc",
    "clusterrole-aggregation",
    "csr-approver",
    "csr-signer",
    "csr-cleaner",
    "garbage-collector",
    "root-ca",
    "bootstrap-signer",
    "token-cleaner",
    "namespace",
)

_WORKLOADS: Final = (
    "Pod",
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "Job",
    "CronJob",
    "ReplicationController",
    "DaemonSet",
)

CONTROL_PLANE: Final = Feature(
    "control-plane",
    controllers=Parts(_NAMES, _controllers),
    workloads=Parts(_WORKLOADS, _workloads),
    progress={
        ("batch/v1", "Job"): job_progress,
        ("apps/v1", "DaemonSet"): daemon_set_progress,
        ("apps/v1", "Deployment"): replicas_progress,
        ("apps/v1", "ReplicaSet"): replicas_progress,
        ("apps/v1", "StatefulSet"): replicas_progress,
        ("v1", "ReplicationController"): replicas_progress,
    },
    # Closed by default in Kubernetes 1.35; open here, because features replace several pods at once by it.
    gates={"MaxUnavailableStatefulSet": True},
    conflicts={name: "kube-scheduler" if name == "scheduler" else "kube-controller-manager" for name in _NAMES},
)
