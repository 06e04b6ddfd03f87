"""Hosts of one pool, as they are read at once for people: those that its Machines have claimed, and free ones."""

from __future__ import annotations

from mooring.features.autoscaler.diagnosis import CLAIM, matching_hosts
from mooring.features.hosts.api.hosts import is_claimable
from mooring.features.hosts.api.machines import ByoMachine
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.names import DEPLOYMENT_NAME
from mooring.runtime.pool_report import PoolWorld

__all__ = ["claims_of", "free_hosts_of"]


def claims_of(pool: MachineDeployment, world: PoolWorld) -> list[ByoMachine]:
    """The claims of a pool's Machines, by name."""
    own = (
        each
        for each in world[CLAIM]
        if each.metadata.labels.get(DEPLOYMENT_NAME) == pool.metadata.name
        and each.metadata.namespace == pool.metadata.namespace
    )
    return sorted(own, key=lambda each: str(each.metadata.name))


def free_hosts_of(pool: MachineDeployment, world: PoolWorld) -> list[str]:
    return sorted(host.metadata.name for host in matching_hosts(pool, world) if is_claimable(host))
