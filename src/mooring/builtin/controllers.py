"""The controllers of a Kubernetes control plane, all together."""

from __future__ import annotations

from typing import Any

from mooring.api.kinds import Kind
from mooring.builtin.apps.daemonset import controller as daemonset
from mooring.builtin.apps.deployment import controller as deployment
from mooring.builtin.apps.replicaset import controller as replicaset
from mooring.builtin.apps.statefulset import controller as statefulset
from mooring.builtin.batch.job.controller import JOB_CONTROLLER
from mooring.builtin.batch.job.orphans import JOB_ORPHANS
from mooring.builtin.claims import CLAIMS
from mooring.builtin.disruption import DISRUPTION
from mooring.builtin.endpoints.endpoints import ENDPOINTS_CONTROLLER
from mooring.builtin.endpoints.slices import ENDPOINT_SLICES
from mooring.builtin.garbagecollector.controller import garbage_collector
from mooring.builtin.metadata_kinds import CUSTOM_KINDS, IN_NAMESPACES, OF_THE_CLUSTER
from mooring.builtin.namespaces import namespace_controller
from mooring.builtin.nodelifecycle.controller import NODE_LIFECYCLE
from mooring.builtin.nodelifecycle.ipam import NODE_IPAM
from mooring.builtin.nodelifecycle.outages import NODE_OUTAGES
from mooring.builtin.nodelifecycle.pod_gc import NODE_ORPHANS
from mooring.builtin.nodelifecycle.taint_eviction import TAINT_EVICTION
from mooring.builtin.scheduler.controller import SCHEDULER
from mooring.runtime.controller import Controller
from mooring.workloads.kinds import (
    CONTROLLER_REVISION,
    DAEMON_SET,
    DEPLOYMENT,
    ENDPOINT_SLICE,
    ENDPOINTS,
    JOB,
    NODE,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    POD_DISRUPTION_BUDGET,
    REPLICA_SET,
    SERVICE,
    STATEFUL_SET,
)

CONTENT: tuple[Kind[Any], ...] = (
    POD,
    REPLICA_SET,
    DEPLOYMENT,
    STATEFUL_SET,
    DAEMON_SET,
    CONTROLLER_REVISION,
    PERSISTENT_VOLUME_CLAIM,
    JOB,
    SERVICE,
    ENDPOINTS,
    ENDPOINT_SLICE,
    POD_DISRUPTION_BUDGET,
)


def control_plane() -> tuple[Controller, ...]:
    return (
        deployment.CONTROLLER,
        replicaset.CONTROLLER,
        statefulset.CONTROLLER,
        daemonset.CONTROLLER,
        CLAIMS,
        JOB_CONTROLLER,
        JOB_ORPHANS,
        DISRUPTION,
        ENDPOINTS_CONTROLLER,
        ENDPOINT_SLICES,
        SCHEDULER,
        NODE_IPAM,
        NODE_LIFECYCLE,
        NODE_OUTAGES,
        TAINT_EVICTION,
        NODE_ORPHANS,
        garbage_collector((*CONTENT, NODE, *IN_NAMESPACES, *OF_THE_CLUSTER), CUSTOM_KINDS),
        namespace_controller((*CONTENT, *IN_NAMESPACES), CUSTOM_KINDS),
    )
