"""`mooring pools`: each pool with its bounds, its nodes and the hosts for more, and what was decided about one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from mooring.api.kinds import Key, key_of
from mooring.features.autoscaler.diagnosis import CLAIM, HOST, POOL, TEMPLATE, diagnose, matching_hosts
from mooring.features.autoscaler.pools import is_discovered
from mooring.features.autoscaler.replica_pools.findings import replica_findings
from mooring.features.autoscaler.replica_pools.pools import label_of_pool
from mooring.features.autoscaler.replica_pools.rows import (
    pod_notes,
    replica_notes,
    replica_pool_rows,
    replica_pool_story,
    waiting_story,
)
from mooring.features.autoscaler.reports.events import STATUS_CONFIG_MAP
from mooring.features.autoscaler.templates.annotations import scaling_bounds
from mooring.features.autoscaler.timeline.moments import pool_timeline
from mooring.features.hosts.api.hosts import HostClaim, is_claimable
from mooring.features.hosts.api.machines import ByoMachine, ByoMachineTemplate
from mooring.features.hosts.api.names import API_VERSION as HOSTS_VERSION
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.names import API_VERSION, AUTOSCALER_MAX_SIZE, AUTOSCALER_MIN_SIZE
from mooring.kube.errors import MooringError
from mooring.manifests.loader import load
from mooring.runtime.pool_report import Finding, PoolReport, PoolRow, PoolWorld

__all__ = ["REPORT"]

# How many lines of the log are told of one pool.
_LAST_LINES: Final = 20


def _rows(world: PoolWorld, decisions: Mapping[str, str]) -> Sequence[PoolRow]:
    pools = sorted(world[POOL], key=lambda each: key_of(each))
    statuses = _statuses(decisions)
    scaled = [_row(pool, world, statuses) for pool in pools if is_discovered(pool)]
    return [*scaled, *replica_pool_rows(pools, world)]


def _row(pool: MachineDeployment, world: PoolWorld, statuses: Mapping[str, Mapping[str, Any]]) -> PoolRow:
    annotations = pool.metadata.annotations
    return PoolRow(
        pool.metadata.namespace,
        pool.metadata.name,
        annotations.get(AUTOSCALER_MIN_SIZE, "-"),
        annotations.get(AUTOSCALER_MAX_SIZE, "-"),
        pool.wanted,
        pool.status.ready_replicas,
        len(_free_hosts(pool, world)),
        _state(pool, statuses.get(_group(pool))),
    )


def _group(pool: MachineDeployment) -> str:
    return f"{POOL}/{pool.metadata.namespace}/{pool.metadata.name}"


def _statuses(decisions: Mapping[str, str]) -> dict[str, Mapping[str, Any]]:
    """What the autoscaler has said of each group last."""
    text = decisions.get("status", "")
    found: Any = load(text) if text else {}
    return {each["name"]: each for each in found.get("nodeGroups") or ()}


def _state(pool: MachineDeployment, said: Mapping[str, Any] | None) -> str:
    try:
        bounds = scaling_bounds(pool.metadata.annotations)
    except MooringError as error:
        return f"not scaled: {error.message}"
    if bounds.max == 0:
        return f"not scaled: annotate it with {AUTOSCALER_MAX_SIZE}"
    if pool.spec.paused:
        return "not scaled: it is paused"
    if said is None:
        return "not scaled: the autoscaler does not know it; is it paused, or does no autoscaler run?"
    growth = str(said["scaleUp"]["status"])
    if growth != "NoActivity":
        return growth
    idle = said["scaleDown"].get("candidates", 0)
    return f"{idle} idle" if idle else str(said["health"]["status"])


def _free_hosts(pool: MachineDeployment, world: PoolWorld) -> list[str]:
    return sorted(host.metadata.name for host in matching_hosts(pool, world) if is_claimable(host))


def _explain(world: PoolWorld, decisions: Mapping[str, str], key: Key) -> Sequence[str]:
    """Nothing where there is no such pool."""
    found = [each for each in world[POOL] if key_of(each) == key]
    if not found:
        return waiting_story(decisions, key.name)
    if label_of_pool(found[0]) is not None:
        return [*replica_pool_story(found[0], world), *waiting_story(decisions, key.name)]
    return [*_story(found[0], world, decisions)]


def _story(pool: MachineDeployment, world: PoolWorld, decisions: Mapping[str, str]) -> Iterator[str]:
    row = _row(pool, world, _statuses(decisions))
    yield f"{_group(pool)}: {row.state}"
    if not is_discovered(pool):
        yield "  it has no label cluster-autoscaler-enabled=true, so no autoscaler scales it"
    yield f"  {row.target} wanted and {row.ready} ready, between {row.least} and {row.most}"
    hosts, free = matching_hosts(pool, world), _free_hosts(pool, world)
    named = f" ({', '.join(free[:5])})" if free else ""
    yield f"  {len(free)} of {len(hosts)} hosts that match are free{named}"
    if row.most.isdecimal() and int(row.most) > row.target + len(free):
        yield f"  its maximum is {row.most}, and hosts suffice for {row.target + len(free)}"
    lines = [line for line in decisions.get("log", "").splitlines() if _concerns(line, pool, hosts)]
    if lines:
        yield "Decided:"
        yield from (f"  {line}" for line in lines[-_LAST_LINES:])


def _concerns(line: str, pool: MachineDeployment, hosts: Sequence[HostClaim]) -> bool:
    """Whether a line of the log names the pool, or a node that it has or may have."""
    words = line.replace(":", " ").replace("{", " ").replace("[", " ").split()
    return _group(pool) in words or any(host.metadata.name in words for host in hosts)


def _diagnose(world: PoolWorld, decisions: Mapping[str, str]) -> Sequence[Finding]:
    """Pools of replicas have checks of their own: they ask for the same hosts on purpose."""
    others = {**world, POOL: [pool for pool in world[POOL] if label_of_pool(pool) is None]}
    return [*diagnose(others), *replica_findings(world, decisions)]


REPORT: Final = PoolReport(
    {
        (API_VERSION, POOL): MachineDeployment,
        (HOSTS_VERSION, HOST): HostClaim,
        (HOSTS_VERSION, TEMPLATE): ByoMachineTemplate,
        (HOSTS_VERSION, CLAIM): ByoMachine,
    },
    STATUS_CONFIG_MAP,
    _rows,
    _explain,
    _diagnose,
    replica_notes,
    pod_notes,
    pool_timeline,
)
