"""The cluster that a plan starts from: snapshot files, or a live cluster as it is now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from mooring.cli.sources.plan_objects import read_plan_objects
from mooring.cli.sources.snapshot_source import HOW_TO_TAKE_ONE
from mooring.client.http import HttpTransport
from mooring.kube.errors import InputError
from mooring.placement.node_pools import NodePool
from mooring.plan.simulated_cluster import SimulatedCluster
from mooring.plan.snapshot import Restored, read_snapshot
from mooring.runtime.settings import Configuration
from mooring.runway.sources.live_source import LiveSource

__all__ = ["PlanStart", "start_of_cluster", "start_of_snapshot"]

NOT_SIMULATED: Final = (
    "pods that run stay where they are, and only those with the annotation mooring.dev/duration end; pools of hosts, "
    "autoscalers and controllers that are not Mooring's do not act in a plan"
)


class PlanStart(NamedTuple):
    cluster: SimulatedCluster
    # The namespace of manifests that name none.
    namespace: str
    notes: Sequence[str] = ()
    # What was read of pools; None where the plan has those of its start.
    pools: list[NodePool] | None = None
    pool_decisions: Mapping[str, str] = {}


def start_of_snapshot(files: Sequence[str], configuration: Configuration) -> PlanStart:
    cluster = SimulatedCluster((obj for file in files for obj in read_snapshot(file)), configuration=configuration)
    if not cluster.objects("v1", "Node"):
        raise InputError(f"{', '.join(files)}: holds no nodes; {HOW_TO_TAKE_ONE}")
    return PlanStart(cluster, "default")


def start_of_cluster(transport: HttpTransport, namespace: str, configuration: Configuration) -> PlanStart:
    objects: list[Restored] = []
    source = LiveSource(transport, namespace)
    try:
        gaps = source.run(read_plan_objects(transport, objects.append))
        pools, decisions = source.pools(), source.pool_decisions()
    finally:
        source.close()
    now = datetime.now(UTC).replace(microsecond=0)
    cluster = SimulatedCluster(objects, configuration=configuration, live_at=now)
    notes = [NOT_SIMULATED, *(gap.text for gap in gaps)]
    return PlanStart(cluster, namespace, notes, pools, decisions)
