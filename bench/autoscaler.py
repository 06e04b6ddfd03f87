"""One loop of the autoscaler over a large cluster: pods to help, pools to choose from, and idle nodes to try.

It is the CPU of deciding, from typed objects to the decision; what reads and writes is measured with the controllers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import msgspec

from bench.rows import Row
from mooring.features.autoscaler.loop import LoopDecision, LoopMemory, decide
from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.observation import ClusterObjects
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.views import AutoscalerNode, AutoscalerPod
from mooring.testing import builders

NODES = 1000
PODS = 30_000
PENDING = 500
POOLS = 10
_NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
_LONG_AGO = "2026-06-01T00:00:00Z"
# One node in so many is idle enough to be tried.
_IDLE = 10


def rows(quick: bool) -> list[Row]:
    nodes, pods, pending = (count // 10 if quick else count for count in (NODES, PODS, PENDING))
    what = f"a loop of the autoscaler, {nodes:,} nodes, {pods:,} pods, {pending} of them waiting, CPU"
    return [Row(what, measured(nodes, pods, pending), "ms", 2000)]


def measured(nodes: int = NODES, pods: int = PODS, pending: int = PENDING) -> float:
    """Milliseconds of CPU of the third loop, when what was found before is remembered."""
    objects = _objects(nodes, pods)
    waiting = [_pod(f"new-{i}", "new", "31", "64Gi") for i in range(pending)]
    memory, spent = LoopMemory(), 0.0
    for i in range(3):
        started = time.process_time()
        decision = decide(objects, waiting, memory, _NOW + timedelta(minutes=i), AutoscalerSettings())
        spent = (time.process_time() - started) * 1000
        _check(decision)
        memory = msgspec.structs.replace(decision.memory, state=memory.state)
    return spent


def _check(decision: LoopDecision) -> None:
    """A loop that has found nothing to do would be no measure."""
    grows, idle = decision.scale_up.result == "Successful", decision.unneeded
    if not grows or idle is None or not idle.removable:
        raise SystemExit(f"the loop has decided too little: {decision.scale_up.result}")


def _objects(nodes: int, pods: int) -> ClusterObjects:
    each = nodes // POOLS
    groups = [
        NodeGroup(f"pool-{i}", 0, 2 * each, each, tuple(f"pool-{i}-{n}" for n in range(each)), _node(f"pool-{i}-next"))
        for i in range(POOLS)
    ]
    names = [name for group in groups for name in group.nodes]
    bound = [*_bound(names, pods // nodes)]
    controllers = {("ReplicaSet", "default", f"app-{i}"): nodes for i in range(pods // nodes)}
    return ClusterObjects(groups, [_node(name) for name in names], bound, controllers=controllers)


def _bound(names: list[str], each: int) -> Iterator[AutoscalerPod]:
    for number, name in enumerate(names):
        cpu = "100m" if number % _IDLE == 0 else "1"
        for i in range(each):
            yield _pod(f"{name}-{i}", f"app-{i}", cpu, "1Gi", name)


def _node(name: str) -> AutoscalerNode:
    made = builders.node(name, cpu="32", memory="128Gi")
    made["metadata"]["creationTimestamp"] = _LONG_AGO
    made["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": _LONG_AGO}]
    return msgspec.convert(made, AutoscalerNode)


def _pod(name: str, app: str, cpu: str, memory: str, node: str | None = None) -> AutoscalerPod:
    made = builders.pod(name, cpu=cpu, memory=memory, node=node, owner=f"ReplicaSet/{app}", labels={"app": app})
    made["metadata"] |= {"creationTimestamp": _LONG_AGO, "uid": name}
    return msgspec.convert(made, AutoscalerPod)
