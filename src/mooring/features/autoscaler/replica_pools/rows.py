"""Pools of replicas in `mooring pools`: a row each, why one exists and for whom, and what there is no pool for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mooring.features.autoscaler.diagnosis import matching_hosts
from mooring.features.autoscaler.replica_pools.claims import claims_of, free_hosts_of
from mooring.features.autoscaler.replica_pools.names import MADE_FOR, REASON
from mooring.features.autoscaler.replica_pools.pools import label_of_pool
from mooring.features.autoscaler.replica_pools.report import read_report
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.runtime.pool_report import PoolRow, PoolWorld

__all__ = ["pod_notes", "replica_notes", "replica_pool_rows", "replica_pool_story", "waiting_story"]


def replica_pool_rows(pools: Iterable[MachineDeployment], world: PoolWorld) -> list[PoolRow]:
    return [_row(pool, world) for pool in pools if label_of_pool(pool) is not None]


def _row(pool: MachineDeployment, world: PoolWorld) -> PoolRow:
    metadata, ready = pool.metadata, pool.status.ready_replicas
    free = len(free_hosts_of(pool, world))
    return PoolRow(metadata.namespace, metadata.name, "-", "-", pool.wanted, ready, free, _state(pool))


def _state(pool: MachineDeployment) -> str:
    made_for = f"for {pool.metadata.annotations.get(MADE_FOR, '')}"
    if pool.metadata.deleting:
        return f"on its way out: it was {made_for}"
    missing = pool.wanted - pool.status.ready_replicas
    return f"{made_for}, {missing} nodes missing" if missing > 0 else made_for


def replica_pool_story(pool: MachineDeployment, world: PoolWorld) -> Iterator[str]:
    label, annotations = label_of_pool(pool), pool.metadata.annotations
    yield f"MachineDeployment/{pool.metadata.namespace}/{pool.metadata.name}: {_state(pool)}"
    yield f"  it was made because {annotations.get(REASON, 'pods asked for it')}"
    yield f"  it goes when no pod asks for nodes with {label} any more"
    hosts = [each.status.host_ref.name for each in claims_of(pool, world) if each.status.host_ref is not None]
    named = f" on {', '.join(hosts)}" if hosts else ""
    yield f"  {pool.wanted} wanted and {pool.status.ready_replicas} ready{named}"
    free = free_hosts_of(pool, world)
    others = f" ({', '.join(free[:5])})" if free else ""
    yield f"  {len(free)} of {len(matching_hosts(pool, world))} hosts that match are free{others}"


def replica_notes(decisions: Mapping[str, str]) -> Sequence[str]:
    report = read_report(decisions)
    problem = [f"No pools are made for replicas: {report.problem}"] if report.problem else []
    return [*problem, *(f"{each.told}: {each.reason}" for each in report.by_reason if each.reason != report.problem)]


def pod_notes(decisions: Mapping[str, str], selector: Mapping[str, str]) -> list[str]:
    """Why there are no nodes for a pod with this node selector, where it waits for those of its replica."""
    labels = {f"{key}={value}" for key, value in selector.items()}
    waiting = read_report(decisions).waiting
    return list(
        dict.fromkeys(f"no nodes are added for {each.label}: {each.reason}" for each in waiting if each.label in labels)
    )


def waiting_story(decisions: Mapping[str, str], value: str) -> list[str]:
    """What to say of a replica that waits, by the name that its pool has or would have."""
    waiting = read_report(decisions).waiting
    return [f"{each.told}: {each.reason}" for each in waiting if each.label.partition("=")[2] == value]
