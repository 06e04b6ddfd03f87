"""What `mooring doctor` finds: why pools get no nodes or the wrong ones, each with the command that mends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Final

from mooring.api.conditions import is_true
from mooring.api.kinds import Key, key_of
from mooring.features.autoscaler.pools import is_discovered
from mooring.features.autoscaler.templates.annotations import scaling_bounds
from mooring.features.hosts.api.conditions import HOST_HEALTHY
from mooring.features.hosts.api.hosts import HostClaim, is_claimable
from mooring.features.hosts.api.machines import ByoMachineSpec, ByoMachineTemplate
from mooring.features.hosts.api.matching import suits
from mooring.features.hosts.api.names import GPU
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.names import AUTOSCALER_MAX_SIZE, AUTOSCALER_MIN_SIZE, DEPLOYMENT_NAME
from mooring.kube.errors import MooringError
from mooring.kube.quantities import value
from mooring.runtime.pool_report import Finding, PoolWorld
from mooring.workloads.near_labels import nearest_labels

__all__ = ["CLAIM", "HOST", "POOL", "TEMPLATE", "diagnose", "matching_hosts"]

POOL: Final = "MachineDeployment"
HOST: Final = "ByoHost"
TEMPLATE: Final = "ByoMachineTemplate"
CLAIM: Final = "ByoMachine"
# Keys that pages on the web have and nobody reads.
_WRONG_KEYS: Final = {
    "cluster.x-k8s.io/cluster-autoscaler-min-size": AUTOSCALER_MIN_SIZE,
    "cluster.x-k8s.io/cluster-autoscaler-max-size": AUTOSCALER_MAX_SIZE,
}


def diagnose(world: PoolWorld) -> Sequence[Finding]:
    """By pool and by host, in the order of their names."""
    pools: list[MachineDeployment] = sorted(world[POOL], key=lambda each: key_of(each))
    of_pools = [found for pool in pools for check in _POOL_CHECKS for found in check(pool, world)]
    of_hosts = [found for host in sorted(world[HOST], key=lambda each: key_of(each)) for found in _host(host, world)]
    return [*of_pools, *_contests(pools, world), *of_hosts]


def matching_hosts(pool: MachineDeployment, world: PoolWorld) -> list[HostClaim]:
    wanted = _wanted(pool, world)
    namespace = pool.metadata.namespace
    hosts = (host for host in world[HOST] if host.metadata.namespace == namespace)
    return [] if wanted is None else [host for host in hosts if suits(host, wanted)]


def _wanted(pool: MachineDeployment, world: PoolWorld) -> ByoMachineSpec | None:
    reference = pool.spec.template.spec.infrastructure_ref
    key = Key(pool.metadata.namespace, reference.name)
    found: list[ByoMachineTemplate] = [each for each in world[TEMPLATE] if key_of(each) == key]
    return found[0].spec.template.spec if found and reference.kind == TEMPLATE else None


def _shortage(pool: MachineDeployment, world: PoolWorld) -> Iterator[Finding]:
    """Replicas that have no nodes: no host matches, or none is free."""
    reference, namespace = pool.spec.template.spec.infrastructure_ref, pool.metadata.namespace
    wanted = _wanted(pool, world)
    if reference.kind != TEMPLATE:
        return
    if wanted is None:
        problem = f"there is no {TEMPLATE} {reference.name}, so it gets no nodes"
        yield _of(pool, problem, f"kubectl get byomachinetemplate -n {namespace}")
        return
    hosts = matching_hosts(pool, world)
    if not hosts:
        labels = (wanted.selector.match_labels if wanted.selector is not None else None) or {}
        others = [host for host in world[HOST] if host.metadata.namespace == namespace]
        near = nearest_labels(labels, others)
        text = ",".join(f"{key}={text}" for key, text in sorted(labels.items())) or "its requirements"
        label = " ".join(f"{key}={text}" for key, text in sorted(labels.items()))
        mend = f"kubectl label byohost HOST -n {namespace} {label} --overwrite"
        yield _of(pool, f"no host matches {text} of {reference.name}{near}", mend)
        return
    missing = pool.wanted - pool.status.ready_replicas
    if missing > 0 and not any(map(is_claimable, hosts)):
        have = pool.status.ready_replicas
        problem = f"{pool.wanted} are wanted and {have} are ready: none of the {len(hosts)} hosts that match is free"
        mend = f"kubectl scale machinedeployment {pool.metadata.name} -n {namespace} --replicas={have}"
        yield _of(pool, f"{problem}; label another host, or scale down", mend)


def _selection(pool: MachineDeployment, world: PoolWorld) -> Iterator[Finding]:
    """Hosts that the pool should not have."""
    wanted, namespace = _wanted(pool, world), pool.metadata.namespace
    template = pool.spec.template.spec.infrastructure_ref.name
    if wanted is not None and wanted.selector is None:
        body = '{"spec":{"template":{"spec":{"selector":{"matchLabels":{"purpose":"PURPOSE"}}}}}}'
        mend = f"kubectl patch byomachinetemplate {template} -n {namespace} --type merge -p '{body}'"
        yield _of(pool, f"{template} has no selector, so the pool takes any host, also one with GPUs", mend)
    owners = {key_of(each): each.metadata.labels.get(DEPLOYMENT_NAME) for each in world[CLAIM]}
    for host in world[HOST]:
        ref = host.status.machine_ref
        owner = None if ref is None else owners.get(Key(ref.namespace or host.metadata.namespace, ref.name))
        if wanted is None or owner != pool.metadata.name or host.metadata.namespace != namespace:
            continue
        if ref is not None and not suits(host, wanted):
            problem = f"it has host {host.metadata.name}, which {template} does not match any more"
            yield _of(pool, problem, f"kubectl delete machine {ref.name} -n {namespace}")


def _bounds(pool: MachineDeployment, world: PoolWorld) -> Iterator[Finding]:
    """What an autoscaler cannot read, or cannot reach."""
    metadata = pool.metadata
    name = f"kubectl annotate machinedeployment {metadata.name} -n {metadata.namespace} --overwrite"
    for key, right in _WRONG_KEYS.items():
        if key in metadata.annotations:
            mend = f"{name} {key}- {right}={metadata.annotations[key]}"
            yield _of(pool, f"nobody reads the annotation {key}; it is {right}", mend)
    try:
        bounds = scaling_bounds(metadata.annotations)
    except MooringError as error:
        mend = f"{name} {AUTOSCALER_MIN_SIZE}=0 {AUTOSCALER_MAX_SIZE}={max(1, pool.wanted)}"
        yield _of(pool, f"it is not scaled: {error.message}", mend)
        return
    if bounds.max and not is_discovered(pool):
        mend = (
            f"kubectl label machinedeployment {metadata.name} -n {metadata.namespace} cluster-autoscaler-enabled=true"
        )
        yield _of(pool, "it has bounds, and no label by which an autoscaler finds it", mend)
    hosts = len(matching_hosts(pool, world))
    if hosts and bounds.max > hosts:
        mend = f"{name} {AUTOSCALER_MAX_SIZE}={hosts}"
        yield _of(pool, f"its maximum is {bounds.max}, and {hosts} hosts match", mend)


def _contests(pools: Sequence[MachineDeployment], world: PoolWorld) -> Iterator[Finding]:
    """Pools that match the same host: whichever asks first has it."""
    names = {key_of(pool): {host.metadata.name for host in matching_hosts(pool, world)} for pool in pools}
    for one, other in combinations(pools, 2):
        both = names[key_of(one)] & names[key_of(other)]
        if both and one.metadata.namespace == other.metadata.namespace:
            template = one.spec.template.spec.infrastructure_ref.name
            shared = ", ".join(sorted(both)[:3])
            problem = f"{one.metadata.name} and {other.metadata.name} both match {shared}; whoever asks first has it"
            yield _of(one, problem, f"kubectl edit byomachinetemplate {template} -n {one.metadata.namespace}")


def _host(host: HostClaim, world: PoolWorld) -> Iterator[Finding]:
    name, namespace = host.metadata.name, host.metadata.namespace
    about = f"{HOST} {namespace}/{name}"
    if not is_true(host.status.conditions, HOST_HEALTHY):
        problem = "nothing is heard of its agent, so it is not claimed; start `mooring agent` on it"
        yield Finding(about, problem, f"kubectl describe byohost {name} -n {namespace}")
    gpus, labelled = value(host.spec.capacity.get(GPU, 0)), host.metadata.labels.get("gpu") == "true"
    if gpus and not labelled:
        mend = f"kubectl label byohost {name} -n {namespace} gpu=true --overwrite"
        yield Finding(about, f"it has {gpus} GPUs and no label gpu=true", mend)
    if labelled and not gpus:
        mend = f"kubectl label byohost {name} -n {namespace} gpu-"
        yield Finding(about, "it has the label gpu=true and no GPUs", mend)


def _of(pool: MachineDeployment, problem: str, command: str) -> Finding:
    return Finding(f"{POOL} {pool.metadata.namespace}/{pool.metadata.name}", problem, command)


_POOL_CHECKS: Final[tuple[Callable[[MachineDeployment, PoolWorld], Iterator[Finding]], ...]] = (
    _shortage,
    _selection,
    _bounds,
)
