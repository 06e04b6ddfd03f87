"""The built-in controllers together, as a cluster in memory runs them."""

from __future__ import annotations

from typing import Any

from mooring.builtin import deployment, replicaset, statefulset
from mooring.builtin.claims import CLAIMS
from mooring.builtin.garbage import garbage_collector
from mooring.builtin.job import JOB_CONTROLLER
from mooring.builtin.job_orphans import JOB_ORPHANS
from mooring.builtin.kinds import (
    CONTROLLER_REVISION,
    DEPLOYMENT,
    JOB,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    REPLICA_SET,
    STATEFUL_SET,
)
from mooring.builtin.namespaces import namespace_controller
from mooring.builtin.nodes import simulated_nodes
from mooring.builtin.nodes_orphans import NODE_ORPHANS
from mooring.builtin.scheduler import SCHEDULER
from mooring.runtime.controller import Controller
from mooring.runtime.kinds import Kind

OWNED: tuple[Kind[Any], ...] = (
    POD,
    REPLICA_SET,
    DEPLOYMENT,
    STATEFUL_SET,
    CONTROLLER_REVISION,
    PERSISTENT_VOLUME_CLAIM,
    JOB,
)


def whole_crew() -> tuple[Controller, ...]:
    """Every built-in controller, with all nodes simulated."""
    return (
        deployment.CONTROLLER,
        replicaset.CONTROLLER,
        statefulset.CONTROLLER,
        CLAIMS,
        JOB_CONTROLLER,
        JOB_ORPHANS,
        SCHEDULER,
        simulated_nodes(every_node=True),
        NODE_ORPHANS,
        garbage_collector(OWNED),
        namespace_controller(OWNED),
    )
