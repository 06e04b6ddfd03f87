"""The controllers of a Kubernetes control plane, all together."""

from __future__ import annotations

from typing import Any

from mooring.api.kinds import Kind
from mooring.builtin import disruption
from mooring.builtin.apps.daemonset import controller as daemonset
from mooring.builtin.apps.deployment import controller as deployment
from mooring.builtin.apps.replicaset import controller as replicaset
from mooring.builtin.apps.statefulset import controller as statefulset
from mooring.builtin.authentication import bootstrap_signer, root_ca, token_cleaner
from mooring.builtin.batch.cronjob import controller as cronjob
from mooring.builtin.batch.job import controller as job
from mooring.builtin.batch.job import orphans as job_orphans
from mooring.builtin.certificates import approver, cleaner, signer
from mooring.builtin.clusterroleaggregation import controller as clusterroleaggregation
from mooring.builtin.endpoints import endpoints, mirroring, slices
from mooring.builtin.garbagecollector.controller import garbage_collector
from mooring.builtin.metadata_kinds import CUSTOM_KINDS, IN_NAMESPACES, OF_THE_CLUSTER
from mooring.builtin.namespaces import namespace_controller
from mooring.builtin.nodelifecycle import controller as nodelifecycle
from mooring.builtin.nodelifecycle import ipam, outages, pod_gc, taint_eviction
from mooring.builtin.podautoscaler import controller as podautoscaler
from mooring.builtin.resourceclaim import generation, release
from mooring.builtin.scheduler import controller as scheduler
from mooring.builtin.volumes import claims, ephemeral, matching, phases
from mooring.runtime.controller import Controller
from mooring.workloads.kinds import (
    CONTROLLER_REVISION,
    CRON_JOB,
    DAEMON_SET,
    DEPLOYMENT,
    ENDPOINT_SLICE,
    ENDPOINTS,
    HORIZONTAL_POD_AUTOSCALER,
    JOB,
    NODE,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    POD_DISRUPTION_BUDGET,
    REPLICA_SET,
    REPLICATION_CONTROLLER,
    RESOURCE_CLAIM,
    SERVICE,
    STATEFUL_SET,
)

CONTENT: tuple[Kind[Any], ...] = (
    POD,
    REPLICA_SET,
    REPLICATION_CONTROLLER,
    DEPLOYMENT,
    STATEFUL_SET,
    DAEMON_SET,
    CONTROLLER_REVISION,
    PERSISTENT_VOLUME_CLAIM,
    JOB,
    CRON_JOB,
    SERVICE,
    ENDPOINTS,
    ENDPOINT_SLICE,
    POD_DISRUPTION_BUDGET,
    HORIZONTAL_POD_AUTOSCALER,
    RESOURCE_CLAIM,
)


def control_plane() -> tuple[Controller, ...]:
    return (
        deployment.CONTROLLER,
        replicaset.CONTROLLER,
        replicaset.REPLICATION,
        statefulset.CONTROLLER,
        daemonset.CONTROLLER,
        claims.CONTROLLER,
        phases.CONTROLLER,
        matching.CONTROLLER,
        ephemeral.CONTROLLER,
        generation.CONTROLLER,
        release.CONTROLLER,
        job.CONTROLLER,
        job_orphans.CONTROLLER,
        cronjob.CONTROLLER,
        disruption.CONTROLLER,
        podautoscaler.CONTROLLER,
        endpoints.CONTROLLER,
        slices.CONTROLLER,
        mirroring.CONTROLLER,
        scheduler.CONTROLLER,
        ipam.CONTROLLER,
        nodelifecycle.CONTROLLER,
        outages.CONTROLLER,
        taint_eviction.CONTROLLER,
        pod_gc.CONTROLLER,
        clusterroleaggregation.CONTROLLER,
        approver.CONTROLLER,
        signer.CONTROLLER,
        cleaner.CONTROLLER,
        garbage_collector((*CONTENT, NODE, *IN_NAMESPACES, *OF_THE_CLUSTER), CUSTOM_KINDS),
        root_ca.CONTROLLER,
        bootstrap_signer.CONTROLLER,
        token_cleaner.CONTROLLER,
        namespace_controller((*CONTENT, *IN_NAMESPACES), CUSTOM_KINDS),
    )
