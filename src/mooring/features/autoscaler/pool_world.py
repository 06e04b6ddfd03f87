"""Pools, templates, hosts and claims as they are read at once for people: which hosts a pool may have."""

from __future__ import annotations

from typing import Final

from mooring.api.kinds import Key, key_of
from mooring.features.hosts.api.hosts import HostClaim, is_claimable
from mooring.features.hosts.api.machines import ByoMachine, ByoMachineSpec, ByoMachineTemplate
from mooring.features.hosts.api.matching import suits
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.names import DEPLOYMENT_NAME
from mooring.runtime.pool_report import PoolWorld

__all__ = ["CLAIM", "HOST", "POOL", "TEMPLATE", "claims_of", "free_hosts_of", "matching_hosts", "wanted_hosts"]

POOL: Final = "MachineDeployment"
HOST: Final = "ByoHost"
TEMPLATE: Final = "ByoMachineTemplate"
CLAIM: Final = "ByoMachine"


def matching_hosts(pool: MachineDeployment, world: PoolWorld) -> list[HostClaim]:
    wanted = wanted_hosts(pool, world)
    namespace = pool.metadata.namespace
    hosts = (host for host in world[HOST] if host.metadata.namespace == namespace)
    return [] if wanted is None else [host for host in hosts if suits(host, wanted)]


def wanted_hosts(pool: MachineDeployment, world: PoolWorld) -> ByoMachineSpec | None:
    """What a pool asks of hosts; None where its machines come from elsewhere, or its template is missing."""
    reference = pool.spec.template.spec.infrastructure_ref
    key = Key(pool.metadata.namespace, reference.name)
    found: list[ByoMachineTemplate] = [each for each in world[TEMPLATE] if key_of(each) == key]
    return found[0].spec.template.spec if found and reference.kind == TEMPLATE else None


def free_hosts_of(pool: MachineDeployment, world: PoolWorld) -> list[str]:
    return sorted(host.metadata.name for host in matching_hosts(pool, world) if is_claimable(host))


def claims_of(pool: MachineDeployment, world: PoolWorld) -> list[ByoMachine]:
    """The claims of a pool's Machines, by name."""
    own = (
        each
        for each in world[CLAIM]
        if each.metadata.labels.get(DEPLOYMENT_NAME) == pool.metadata.name
        and each.metadata.namespace == pool.metadata.namespace
    )
    return sorted(own, key=lambda each: str(each.metadata.name))
