"""Pools of replicas as the cluster has them, and what every pool claims of the hosts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from mooring.api.kinds import Key, key_of
from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.pools import instance_of, paused_by, template_of
from mooring.features.autoscaler.replica_pools.names import MADE_FOR, REPLICA_POOL, SELECTOR_KEY
from mooring.features.autoscaler.replica_pools.replicas import ReplicaLabel
from mooring.features.hosts.api.hosts import HostClaim, is_claimable
from mooring.features.hosts.api.kinds import BYO_HOST, BYO_MACHINE, BYO_MACHINE_TEMPLATE
from mooring.features.hosts.api.machines import ByoMachineSpec, ByoMachineTemplate
from mooring.features.hosts.api.matching import suits
from mooring.features.machines.api.kinds import MACHINE, MACHINE_DEPLOYMENT, MACHINE_SET
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.names import PAUSED
from mooring.runtime.reads import selected
from mooring.runtime.view import View

__all__ = [
    "MARKED_POOL",
    "PoolMachine",
    "ReplicaPool",
    "free_hosts",
    "held_hosts",
    "host_claims",
    "label_of_pool",
    "read_replica_pools",
    "stray_templates",
]

MARKED_POOL: Final = selected(MACHINE_DEPLOYMENT, REPLICA_POOL)
_NOTHING_WANTED: Final = ByoMachineSpec()


class PoolMachine(NamedTuple):
    """`node` is the name of the node that it is or will be; empty while it has no host."""

    machine: Machine
    node: str

    @property
    def staying(self) -> bool:
        return not self.machine.metadata.deleting


class ReplicaPool(msgspec.Struct, frozen=True):
    deployment: MachineDeployment
    label: ReplicaLabel
    # NAMESPACE/VALUE of the replica that it was made for.
    made_for: str
    # What it asks of hosts.
    wants: ByoMachineSpec
    machines: Sequence[PoolMachine]
    # Who has paused it; empty if nobody has.
    paused_by: str = ""

    @property
    def key(self) -> Key:
        return key_of(self.deployment)

    @property
    def name(self) -> str:
        """As a node group is named."""
        return f"MachineDeployment/{self.key.namespace}/{self.key.name}"

    @property
    def target(self) -> int:
        return self.deployment.wanted

    @property
    def going(self) -> bool:
        return self.deployment.metadata.deleting

    @property
    def hosts(self) -> int:
        """How many hosts it has or asks for."""
        return max(self.target if not self.going else 0, len(self.machines))


def label_of_pool(deployment: MachineDeployment) -> ReplicaLabel | None:
    """The label of the replica that a pool was made for; None of any other pool."""
    value = deployment.metadata.labels.get(REPLICA_POOL)
    key = deployment.metadata.annotations.get(SELECTOR_KEY)
    return ReplicaLabel(key, value) if key and value else None


def read_replica_pools(view: View) -> list[ReplicaPool]:
    """In the order of their names."""
    found = sorted(view.list(MACHINE_DEPLOYMENT), key=lambda each: key_of(each))
    return [_pool(view, each, label) for each in found if (label := label_of_pool(each)) is not None]


def _pool(view: View, deployment: MachineDeployment, label: ReplicaLabel) -> ReplicaPool:
    annotations = deployment.metadata.annotations
    paused = f"its annotation {PAUSED}" if PAUSED in annotations else paused_by(view, deployment)
    wants = template_of(view, deployment) or _NOTHING_WANTED
    return ReplicaPool(deployment, label, annotations.get(MADE_FOR, ""), wants, _machines(view, deployment), paused)


def _machines(view: View, deployment: MachineDeployment) -> list[PoolMachine]:
    owned = [each for one in view.owned(MACHINE_SET, deployment) for each in view.owned(MACHINE, one)]
    owned.sort(key=lambda each: each.metadata.name)
    return [PoolMachine(each, instance_of(view, each) or "") for each in owned]


def stray_templates(view: View) -> dict[Key, ByoMachineTemplate]:
    """Templates that were made for a pool which does not exist yet, or exists no more."""
    pools = {key_of(each) for each in view.list(MACHINE_DEPLOYMENT)}
    marked = (each for each in view.list(BYO_MACHINE_TEMPLATE) if REPLICA_POOL in each.metadata.labels)
    return {key_of(each): each for each in marked if key_of(each) not in pools and not each.metadata.deleting}


def free_hosts(view: View, hosts: Iterable[HostClaim]) -> list[HostClaim]:
    """Hosts that nobody has claimed or is about to, by name."""
    chosen = {
        Key(each.metadata.namespace, each.status.host_ref.name)
        for each in view.list(BYO_MACHINE)
        if each.status.host_ref is not None
    }
    free = (host for host in hosts if is_claimable(host) and key_of(host) not in chosen)
    return sorted(free, key=lambda host: host.metadata.name)


def held_hosts(view: View) -> frozenset[Key]:
    """Free hosts that pools of replicas wait for, for those who count free hosts without knowing these pools."""
    pools = sorted(view.list(MARKED_POOL), key=lambda each: key_of(each))
    free = free_hosts(view, view.list(BYO_HOST)) if pools else []
    held: set[Key] = set()
    for pool in pools:
        wants = template_of(view, pool)
        having = sum(each.staying and bool(each.node) for each in _machines(view, pool))
        missing = 0 if wants is None or pool.metadata.deleting else max(0, pool.wanted - having)
        suitable = [key_of(host) for host in free if wants is not None and suits(host, wants)]
        own = [key for key in suitable if key not in held and key.namespace == pool.metadata.namespace]
        held.update(own[:missing])
    return frozenset(held)


def host_claims(view: View, namespace: str) -> list[NodeGroup]:
    """Every pool of hosts with the hosts that are free for it: what it waits for is set aside."""
    free = free_hosts(view, view.list(BYO_HOST, "label", namespace))
    found = []
    for deployment in sorted(view.list(MACHINE_DEPLOYMENT), key=lambda each: key_of(each)):
        wants = template_of(view, deployment)
        if wants is None or deployment.metadata.namespace != namespace or deployment.metadata.deleting:
            continue
        having = tuple(each.node for each in _machines(view, deployment) if each.staying and each.node)
        name = f"MachineDeployment/{namespace}/{deployment.metadata.name}"
        hosts = frozenset(host.metadata.name for host in free if suits(host, wants))
        found.append(NodeGroup(name, 0, deployment.wanted, deployment.wanted, having, hosts=hosts))
    return found
