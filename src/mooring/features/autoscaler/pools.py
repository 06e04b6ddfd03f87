"""Pools as the cluster has them: MachineDeployments that are to be scaled, with their Machines and the hosts for more.

The Machines of a pool are those that its MachineSets own, whatever its selector says. A Machine that has no host yet is
no instance: what it waits for is counted as the difference to the target, and a free host is set aside for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from mooring.api.conditions import is_true
from mooring.api.kinds import Key, key_of
from mooring.features.autoscaler.discovery import FreeHost, PoolObjects
from mooring.features.autoscaler.views import AutoscalerNode
from mooring.features.hosts.api.conditions import HOST_HEALTHY
from mooring.features.hosts.api.hosts import HostClaim, is_claimable
from mooring.features.hosts.api.kinds import BYO_HOST, BYO_MACHINE, BYO_MACHINE_TEMPLATE
from mooring.features.hosts.api.machines import ByoMachineSpec
from mooring.features.hosts.api.matching import suits
from mooring.features.machines.api.kinds import CLUSTER, MACHINE, MACHINE_DEPLOYMENT, MACHINE_SET
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.names import AUTOSCALER_MAX_SIZE, AUTOSCALER_MIN_SIZE, DELETE_MACHINE
from mooring.kube.errors import QuantityError
from mooring.kube.quantities import Quantity, parse_quantity
from mooring.runtime.reads import selected
from mooring.runtime.view import View

__all__ = [
    "MARK",
    "SCALED_POOL",
    "ScaledPool",
    "host_capacity",
    "instance_of",
    "is_discovered",
    "paused_by",
    "read_pools",
    "template_of",
]

_LABEL: Final = "cluster-autoscaler-enabled"
SCALED_POOL: Final = selected(MACHINE_DEPLOYMENT, f"{_LABEL}=true")
# What the autoscaler's own marks begin with, so that it acts on no mark of anybody else.
MARK: Final = "cluster-autoscaler"
_HOST_TEMPLATE: Final = "ByoMachineTemplate"


class ScaledPool(msgspec.Struct, frozen=True):
    """A pool with its Machines. Those that are on their way out are in `machines` no more."""

    deployment: MachineDeployment
    # By the names that their nodes have or will have.
    machines: Mapping[str, Machine]
    # Machines that the autoscaler has marked, and how many there are in all that are not going.
    marked: Sequence[Machine]
    staying: int
    objects: PoolObjects
    # Whether it has Machines of more than one template.
    rolling_out: bool
    # What people should know of its hosts, in one sentence.
    warning: str = ""

    @property
    def name(self) -> str:
        """As a node group is named."""
        metadata = self.deployment.metadata
        return f"MachineDeployment/{metadata.namespace}/{metadata.name}"

    @property
    def key(self) -> Key:
        return key_of(self.deployment)

    @property
    def target(self) -> int:
        return self.deployment.wanted

    @property
    def is_bounded(self) -> bool:
        """Whether anybody has said how far it may grow."""
        annotations = self.deployment.metadata.annotations
        return AUTOSCALER_MAX_SIZE in annotations or AUTOSCALER_MIN_SIZE in annotations

    @property
    def counted_marks(self) -> int:
        """How many of the marked Machines the target still counts."""
        return max(0, len(self.marked) - max(0, self.staying - self.target))


def is_discovered(deployment: MachineDeployment) -> bool:
    return deployment.metadata.labels.get(_LABEL) == "true"


def read_pools(view: View, nodes: Mapping[str, AutoscalerNode], held: Collection[Key] = ()) -> list[ScaledPool]:
    """In the order of their names, so that deciding again gives the same. `held` are hosts that others wait for."""
    deployments = sorted(view.list(SCALED_POOL), key=lambda each: key_of(each))
    return [_pool(view, each, nodes, held) for each in deployments if not each.metadata.deleting]


def _pool(
    view: View, deployment: MachineDeployment, nodes: Mapping[str, AutoscalerNode], held: Collection[Key]
) -> ScaledPool:
    sets = [view.owned(MACHINE, each) for each in view.owned(MACHINE_SET, deployment)]
    owned = [machine for machines in sets for machine in machines if not machine.metadata.deleting]
    owned.sort(key=lambda each: each.metadata.name)
    template = template_of(view, deployment)
    marked = [each for each in owned if each.metadata.annotations.get(DELETE_MACHINE, "").startswith(MARK)]
    gone = {each.metadata.uid for each in marked} if len(owned) - len(marked) >= deployment.wanted else set()
    machines = {
        name: machine
        for machine in owned
        if machine.metadata.uid not in gone and (name := instance_of(view, machine)) is not None
    }
    hosts = None if template is None else _hosts(view, deployment.metadata.namespace, template)
    free = None if hosts is None else [host for host in hosts if _is_free(view, host) and key_of(host) not in held]
    objects = PoolObjects(
        scalable={"kind": "MachineDeployment", **msgspec.to_builtins(deployment)},
        infrastructure=None if template is None else _plain_template(view, deployment),
        problem="" if template is not None else _missing_template(deployment),
        instances=tuple(machines),
        example=next((nodes[name] for name in machines if name in nodes), None),
        hosts=None if free is None else [FreeHost(host.metadata.name, host_capacity(host)) for host in free],
        paused_by=paused_by(view, deployment),
    )
    rolling_out = sum(map(bool, sets)) > 1
    return ScaledPool(deployment, machines, marked, len(owned), objects, rolling_out, _silence(hosts or ()))


def template_of(view: View, deployment: MachineDeployment) -> ByoMachineSpec | None:
    """What a pool of hosts asks for; None where its machines come from elsewhere, or its template is missing."""
    reference = deployment.spec.template.spec.infrastructure_ref
    if reference.kind != _HOST_TEMPLATE:
        return None
    found = view.get(BYO_MACHINE_TEMPLATE, deployment.metadata.namespace, reference.name)
    return None if found is None else found.spec.template.spec


def _plain_template(view: View, deployment: MachineDeployment) -> dict[str, object]:
    name = deployment.spec.template.spec.infrastructure_ref.name
    found: dict[str, object] = msgspec.to_builtins(view.get(BYO_MACHINE_TEMPLATE, deployment.metadata.namespace, name))
    return found


def _missing_template(deployment: MachineDeployment) -> str:
    reference = deployment.spec.template.spec.infrastructure_ref
    return f"there is no {reference.kind} {reference.name} in namespace {deployment.metadata.namespace}"


def instance_of(view: View, machine: Machine) -> str | None:
    """The name of the node that a Machine is or will be; None while it has no host."""
    if machine.status.node_ref.name:
        return machine.status.node_ref.name
    reference = machine.spec.infrastructure_ref
    if reference.kind != "ByoMachine":
        return f"pending-machine-{machine.metadata.namespace}_{machine.metadata.name}"
    claim = view.get(BYO_MACHINE, machine.metadata.namespace, reference.name)
    return None if claim is None or claim.status.host_ref is None else claim.status.host_ref.name


def _hosts(view: View, namespace: str, wanted: ByoMachineSpec) -> list[HostClaim]:
    found = [host for host in view.list(BYO_HOST, "label", namespace) if suits(host, wanted)]
    return sorted(found, key=lambda host: host.metadata.name)


def _is_free(view: View, host: HostClaim) -> bool:
    """Whether nobody has claimed a host or is about to."""
    chosen = view.list(BYO_MACHINE, "host", f"{host.metadata.namespace}/{host.metadata.name}")
    return is_claimable(host) and not chosen


def host_capacity(host: HostClaim) -> Mapping[str, Quantity]:
    found = {}
    for name, amount in host.spec.capacity.items():
        try:
            found[name] = parse_quantity(str(amount))
        except QuantityError:
            continue
    return found


def paused_by(view: View, deployment: MachineDeployment) -> str:
    if deployment.spec.paused:
        return "its spec.paused"
    cluster = view.get(CLUSTER, deployment.metadata.namespace, deployment.spec.cluster_name)
    if cluster is not None and cluster.spec.paused:
        return f"spec.paused of Cluster {cluster.metadata.name}"
    return ""


def _silence(hosts: Iterable[HostClaim]) -> str:
    """What to say where hosts match and none of them is heard of."""
    names = [host.metadata.name for host in hosts]
    if not names or any(is_true(host.status.conditions, HOST_HEALTHY) for host in hosts):
        return ""
    return (
        f"none of the {len(names)} hosts that match is heard of ({', '.join(names[:3])}), so the pool cannot grow; "
        "start their agents"
    )
