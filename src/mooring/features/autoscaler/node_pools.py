"""Pools as `explain` and `plan` tell of them: what their nodes are like, what they wait for, how they get one more.

The next node of a pool is as large as the autoscaler takes it to be: by annotations, by the template, or as the
smallest free host that matches. Where no such host is free, a free one that would match with other labels is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from mooring.api.core.types import Taint
from mooring.api.kinds import key_of
from mooring.features.autoscaler.diagnosis import CLAIM, HOST, POOL, TEMPLATE, matching_hosts, template_of
from mooring.features.autoscaler.discovery import FreeHost, PoolObjects, read_scalable
from mooring.features.autoscaler.pools import host_capacity
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.templates.pool_template import ScalablePool
from mooring.features.hosts.api.hosts import HostClaim, is_claimable
from mooring.features.hosts.api.machines import ByoMachine, ByoMachineSpec, ByoMachineTemplate
from mooring.features.hosts.api.matching import suits
from mooring.features.hosts.api.names import API_VERSION as HOSTS_VERSION
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.names import API_VERSION, AUTOSCALER_MAX_SIZE, DEPLOYMENT_NAME
from mooring.features.machines.api.progress import pool_progress
from mooring.features.machines.api.propagation import node_labels
from mooring.kube.errors import MooringError
from mooring.placement.node_pools import Growth, NodePool, NodePoolKinds, Replicated
from mooring.runtime.pool_report import PoolWorld

__all__ = ["MACHINE_DEPLOYMENTS"]

_SETTINGS: Final = AutoscalerSettings()
# How many nodes more are counted up to, where nothing bounds a pool.
_MOST_NODES: Final = 1_000


def _pools_of(world: PoolWorld) -> list[NodePool]:
    return [_pool_of(each, world) for each in sorted(world[POOL], key=lambda each: key_of(each))]


def _pool_of(pool: MachineDeployment, world: PoolWorld) -> NodePool:
    template = pool.spec.template
    taints = tuple(Taint(each.key, each.value, each.effect) for each in template.spec.taints)
    name = f"{POOL} {pool.metadata.namespace}/{pool.metadata.name}"
    waiting = pool_progress(msgspec.to_builtins(pool))
    labels = node_labels(template.metadata.labels)
    growths = tuple(_growths(pool, world))
    is_known = not waiting and bool(growths) and growths[0].capacity is not None
    raisable = _raisable(pool, world) if is_known else None
    return NodePool(name, labels, taints, waiting, growths, _otherwise(pool, world), raisable)


def _raisable(pool: MachineDeployment, world: PoolWorld) -> Replicated | None:
    """How far the pool can be raised: to the bound of its autoscaler, and as far as there are hosts to spare."""
    most = pool.wanted + _MOST_NODES
    bound = pool.metadata.annotations.get(AUTOSCALER_MAX_SIZE, "")
    if bound.isdecimal():
        most = min(most, int(bound))
    if template_of(pool, world) is not None:
        most = min(most, pool.wanted + len(_free(pool, world)) - _awaited(pool, world))
    place = pool.metadata.namespace, pool.metadata.name
    return Replicated(API_VERSION, POOL, *place, pool.wanted, most) if most > pool.wanted else None


def _growths(pool: MachineDeployment, world: PoolWorld) -> Iterator[Growth]:
    wanted, free = template_of(pool, world), _free(pool, world)
    next_node = _next_node(pool, wanted, free)
    capacity = next_node.capacity if next_node is not None and next_node.can_scale_from_zero else None
    if most := _maximum(pool):
        yield Growth(f"it is at its maximum of {most}; raise the annotation {AUTOSCALER_MAX_SIZE}", capacity)
        return
    if wanted is None or _is_to_spare(pool, world):
        yield Growth(_raise(pool), capacity)
        return
    for host in _others(wanted.spec.template.spec, pool, world):
        yield Growth(f"{_relabel(host, wanted.spec.template.spec)}, and {_raise(pool)}", host_capacity(host))


def _next_node(
    pool: MachineDeployment, wanted: ByoMachineTemplate | None, free: Sequence[HostClaim]
) -> ScalablePool | None:
    objects = PoolObjects(
        {"kind": POOL, **msgspec.to_builtins(pool)},
        None if wanted is None else msgspec.to_builtins(wanted),
        hosts=[FreeHost(host.metadata.name, host_capacity(host)) for host in free],
    )
    try:
        return read_scalable(objects, _SETTINGS)
    except MooringError:
        return None


def _free(pool: MachineDeployment, world: PoolWorld) -> list[HostClaim]:
    return [host for host in matching_hosts(pool, world) if is_claimable(host)]


def _is_to_spare(pool: MachineDeployment, world: PoolWorld) -> bool:
    return len(_free(pool, world)) > _awaited(pool, world)


def _awaited(pool: MachineDeployment, world: PoolWorld) -> int:
    """How many hosts the Machines of a pool will take that have none yet."""
    claims = [each for each in world[CLAIM] if each.metadata.namespace == pool.metadata.namespace]
    own = [each for each in claims if each.metadata.labels.get(DEPLOYMENT_NAME) == pool.metadata.name]
    return max(0, pool.wanted - sum(each.status.host_ref is not None for each in own))


def _maximum(pool: MachineDeployment) -> str:
    """The bound of a pool that has reached it: an autoscaler goes no further either."""
    most = pool.metadata.annotations.get(AUTOSCALER_MAX_SIZE, "")
    return most if most.isdecimal() and pool.wanted >= int(most) else ""


def _raise(pool: MachineDeployment) -> str:
    metadata, wanted = pool.metadata, pool.wanted
    scale = f"kubectl scale machinedeployment {metadata.name} -n {metadata.namespace} --replicas={wanted + 1}"
    return f"raise pool {metadata.name} from {wanted} to {wanted + 1} ({scale})"


def _others(wanted: ByoMachineSpec, pool: MachineDeployment, world: PoolWorld) -> list[HostClaim]:
    """Free hosts that would match with other labels; those that no other pool matches come first."""
    matched = {host.metadata.name for each in world[POOL] for host in matching_hosts(each, world)}
    labels = _labels(wanted)
    hosts = [
        host
        for host in world[HOST]
        if host.metadata.namespace == pool.metadata.namespace and is_claimable(host) and not suits(host, wanted)
    ]
    found = [host for host in hosts if labels and suits(_labelled(host, labels), wanted)]
    return sorted(found, key=lambda host: (host.metadata.name in matched, host.metadata.name))


def _labelled(host: HostClaim, labels: dict[str, str]) -> HostClaim:
    metadata = msgspec.structs.replace(host.metadata, labels={**host.metadata.labels, **labels})
    return msgspec.structs.replace(host, metadata=metadata)


def _labels(wanted: ByoMachineSpec) -> dict[str, str]:
    return dict((wanted.selector.match_labels if wanted.selector is not None else None) or {})


def _relabel(host: HostClaim, wanted: ByoMachineSpec) -> str:
    text = " ".join(f"{key}={value}" for key, value in sorted(_labels(wanted).items()))
    name, namespace = host.metadata.name, host.metadata.namespace
    return f"label host {name} (kubectl label byohost {name} -n {namespace} {text} --overwrite)"


def _otherwise(pool: MachineDeployment, world: PoolWorld) -> str:
    wanted, hosts = template_of(pool, world), matching_hosts(pool, world)
    if wanted is None or _is_to_spare(pool, world):
        return ""
    text = ",".join(f"{key}={value}" for key, value in sorted(_labels(wanted.spec.template.spec).items()))
    labelled = f" with the labels {text}" if text else ""
    state = f"none of the {len(hosts)} hosts that match is to spare" if hosts else "no host matches"
    return f"{state}; register a host{labelled} (mooring agent)"


MACHINE_DEPLOYMENTS: Final = NodePoolKinds(
    POOL,
    {
        (API_VERSION, POOL): MachineDeployment,
        (HOSTS_VERSION, HOST): HostClaim,
        (HOSTS_VERSION, TEMPLATE): ByoMachineTemplate,
        (HOSTS_VERSION, CLAIM): ByoMachine,
    },
    _pools_of,
)
