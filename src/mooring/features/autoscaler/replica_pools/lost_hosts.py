"""Hosts of a pool that are lost: nodes that are not heard of, and machines that never became nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from mooring.features.autoscaler.cluster_state.node_readiness import node_readiness
from mooring.features.autoscaler.replica_pools.pools import PoolMachine, ReplicaPool
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.views import AutoscalerNode
from mooring.features.machines.api.machines import Machine
from mooring.kube.times import moment

__all__ = ["LostHost", "lost_hosts"]


class LostHost(NamedTuple):
    """A Machine that is given up when it is `due`, and why, in a few words."""

    pool: ReplicaPool
    machine: Machine
    host: str
    due: datetime
    reason: str


def lost_hosts(
    pool: ReplicaPool, nodes: Mapping[str, AutoscalerNode], settings: AutoscalerSettings
) -> Iterator[LostHost]:
    for each in pool.machines:
        # One that waits for a host has lost none.
        if each.staying and each.node:
            found = _lost(pool, each, nodes, settings)
            if found is not None:
                yield found


def _lost(
    pool: ReplicaPool, each: PoolMachine, nodes: Mapping[str, AutoscalerNode], settings: AutoscalerSettings
) -> LostHost | None:
    machine, node = each.machine, nodes.get(each.node)
    created = machine.metadata.creation_timestamp
    if created is None:
        return None
    if machine.status.node_ref.name and node is not None:
        readiness = node_readiness(node)
        if readiness.ready:
            return None
        # A node that has said nothing yet is as old as its Machine.
        due = max(readiness.since, moment(created)) + settings.options.scale_down_unready_time
        return LostHost(pool, machine, each.node, due, f"node {each.node} is not ready")
    if machine.status.node_ref.name:
        return None
    due = moment(created) + settings.options.max_node_provision_time
    return LostHost(pool, machine, each.node, due, f"host {each.node} has not become a node")
