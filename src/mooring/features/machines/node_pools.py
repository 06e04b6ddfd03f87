"""MachineDeployments as pools: the labels and taints of the Nodes that they bring, and what that waits for."""

from __future__ import annotations

from msgspec import to_builtins

from mooring.api.core.types import Taint
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.names import API_VERSION
from mooring.features.machines.api.propagation import node_labels
from mooring.features.machines.feature import pool_progress
from mooring.placement.node_pools import NodePool, NodePoolKind


def _pool_of(pool: MachineDeployment) -> NodePool:
    template = pool.spec.template
    taints = tuple(Taint(each.key, each.value, each.effect) for each in template.spec.taints)
    name = f"MachineDeployment {pool.metadata.namespace}/{pool.metadata.name}"
    waiting = pool_progress(to_builtins(pool))
    if pool.spec.replicas == 0:
        waiting = "it is scaled to 0 Machines; raise spec.replicas"
    return NodePool(name, node_labels(template.metadata.labels), taints, waiting)


MACHINE_DEPLOYMENTS = NodePoolKind(API_VERSION, "MachineDeployment", MachineDeployment, _pool_of)
