"""What `mooring doctor` finds about pools of replicas: no policy, a wrong one, too few hosts, or a lost host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mooring.api.conditions import is_true
from mooring.api.kinds import key_of
from mooring.features.autoscaler.diagnosis import HOST, POOL
from mooring.features.autoscaler.replica_pools.claims import claims_of, free_hosts_of
from mooring.features.autoscaler.replica_pools.names import MADE_FOR
from mooring.features.autoscaler.replica_pools.policy import HOW_TO_ALLOW, POLICY_CONFIG_MAP
from mooring.features.autoscaler.replica_pools.pools import label_of_pool
from mooring.features.autoscaler.replica_pools.report import WaitingReplica, read_report
from mooring.features.hosts.api.conditions import HOST_HEALTHY
from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.runtime.pool_report import Finding, PoolWorld

__all__ = ["replica_findings"]

_POLICY = f"configmap {POLICY_CONFIG_MAP.name} -n {POLICY_CONFIG_MAP.namespace}"


def replica_findings(world: PoolWorld, decisions: Mapping[str, str]) -> Iterator[Finding]:
    report = read_report(decisions)
    about = f"ConfigMap {'/'.join(POLICY_CONFIG_MAP)}"
    if report.problem:
        yield Finding(about, report.problem.removeprefix(f"{about}: "), f"kubectl edit {_POLICY}")
    for waiting in report.by_reason:
        if waiting.reason != report.problem:
            yield Finding(waiting.told, waiting.reason, _mend(waiting))
    for pool in sorted(world[POOL], key=lambda each: key_of(each)):
        if label_of_pool(pool) is not None and not pool.metadata.deleting:
            yield from _lost(pool, world)
            yield from _missing(pool, world)


def _mend(waiting: WaitingReplica) -> str:
    if waiting.reason == HOW_TO_ALLOW:
        key = waiting.label.partition("=")[0]
        stated = {
            "labelKeys": key,
            "hostSelector": "LABEL=VALUE",
            "clusterName": "CLUSTER",
            "bootstrapConfigRef": "BootstrapKubeconfig/NAME",
            "maxPools": "4",
            "maxHosts": "8",
        }
        literals = " ".join(f"--from-literal={name}={text}" for name, text in stated.items())
        return f"kubectl create {_POLICY} {literals}"
    if waiting.where == "policy":
        return f"kubectl edit {_POLICY}"
    return "kubectl get byohost -A --show-labels" if waiting.where == "hosts" else "kubectl get machinedeployment -A"


def _missing(pool: MachineDeployment, world: PoolWorld) -> Iterator[Finding]:
    """Machines that have no host, and none that would do is free."""
    missing = sum(each.status.host_ref is None for each in claims_of(pool, world))
    if missing and not free_hosts_of(pool, world):
        about = f"MachineDeployment {pool.metadata.namespace}/{pool.metadata.name}"
        problem = (
            f"{missing} of its {pool.wanted} hosts are missing, and none that would do is free; free one, or add one"
        )
        yield Finding(about, problem, f"kubectl get byohost -n {pool.metadata.namespace} --show-labels")


def _lost(pool: MachineDeployment, world: PoolWorld) -> Iterator[Finding]:
    hosts: dict[str, HostClaim] = {
        each.metadata.name: each for each in world[HOST] if each.metadata.namespace == pool.metadata.namespace
    }
    about, made_for = f"MachineDeployment {pool.metadata.namespace}/{pool.metadata.name}", pool.metadata.annotations
    for claim in claims_of(pool, world):
        name = "" if claim.status.host_ref is None else claim.status.host_ref.name
        host = hosts.get(name)
        if not name or (host is not None and is_true(host.status.conditions, HOST_HEALTHY)):
            continue
        free = free_hosts_of(pool, world)
        way_out = f"{free[0]} is free in its place" if free else "no other host that would do is free"
        problem = f"its host {name} is lost, so {made_for.get(MADE_FOR)} lacks a node; {way_out}"
        mend = f"kubectl delete machine {claim.metadata.name} -n {pool.metadata.namespace}"
        yield Finding(about, problem, mend if free else f"kubectl describe byohost {name} -n {pool.metadata.namespace}")
