"""MachineDeployments as pools: the labels and taints of the Nodes that they bring, and what that waits for."""

from __future__ import annotations

from msgspec import to_builtins

from mooring.api.core.types import Taint
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.names import API_VERSION, AUTOSCALER_MAX_SIZE
from mooring.features.machines.api.propagation import node_labels
from mooring.features.machines.feature import pool_progress
from mooring.placement.node_pools import NodePool, NodePoolKind


def _pool_of(pool: MachineDeployment) -> NodePool:
    template = pool.spec.template
    taints = tuple(Taint(each.key, each.value, each.effect) for each in template.spec.taints)
    name = f"MachineDeployment {pool.metadata.namespace}/{pool.metadata.name}"
    waiting = pool_progress(to_builtins(pool))
    if pool.spec.replicas == 0:
        waiting = f"it is scaled to 0 Machines; {_growth(pool)}"
    return NodePool(name, node_labels(template.metadata.labels), taints, waiting, _growth(pool))


def _growth(pool: MachineDeployment) -> str:
    """How to get one node more; an autoscaler goes no further than its bound either."""
    metadata, wanted = pool.metadata, pool.wanted
    most = metadata.annotations.get(AUTOSCALER_MAX_SIZE, "")
    if most.isdecimal() and wanted >= int(most):
        return f"it is at its maximum of {most}; raise the annotation {AUTOSCALER_MAX_SIZE}"
    scale = f"kubectl scale machinedeployment {metadata.name} -n {metadata.namespace} --replicas={wanted + 1}"
    return f"raise pool {metadata.name} from {wanted} to {wanted + 1} ({scale})"


MACHINE_DEPLOYMENTS = NodePoolKind(API_VERSION, "MachineDeployment", MachineDeployment, _pool_of)
