"""Raise a pool: its next node is imagined from the labels, taints and size that the pool says it has.

Where more than the pool is in the way, the pool comes first in the set: its node is put into the cluster, and what is
left is searched for on this node alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mooring.placement.advise import commands
from mooring.placement.advise.model import Advice, AdviceKind, Edit
from mooring.placement.advise.nodes.changed_nodes import changed_nodes
from mooring.placement.advise.nodes.conditions import HOSTNAME
from mooring.placement.advise.nodes.new_node import copies, unused_name
from mooring.placement.advise.search import Search
from mooring.placement.node_pools import NodePool
from mooring.placement.scheduler_cache import SchedulerCache


def pools(search: Search) -> Iterator[Advice]:
    """Pools whose next node takes the pod as it is."""
    for advice in raisings(search):
        nodes, count = search.after(changed_nodes(search.cluster, advice.edits))
        if count:
            yield msgspec.structs.replace(advice, nodes=nodes, node_count=count)


def raisings(search: Search) -> list[Advice]:
    """Every pool with one node more, whether or not that helps."""
    return [_raised(search.cluster, pool) for pool in search.pools if pool.raisable is not None]


def raised_to(advice: Advice, count: int) -> Advice:
    """The same advice with so many new nodes instead of one."""
    assert advice.pool is not None
    assert advice.pool.raisable is not None
    pool, (added,) = advice.pool.raisable, (edit for edit in advice.edits if edit.op == "addNode")
    number = pool.replicas + count
    path = "/".join(("pool", pool.kind, pool.namespace, pool.name))
    scale = Edit(path, "scale", "/spec/replicas", pool.replicas, number)
    return msgspec.structs.replace(
        advice,
        title=f"Raise pool {pool.name} from {pool.replicas} to {number}",
        edits=(scale, *copies(added, count)),
        commands=commands.raise_pool(pool, number),
    )


def _raised(cluster: SchedulerCache, pool: NodePool) -> Advice:
    assert pool.raisable is not None
    name = unused_name(cluster, f"{pool.raisable.name}-next")
    node: dict[str, object] = {"metadata": {"name": name, "labels": {**pool.labels, HOSTNAME: name}}}
    if pool.taints:
        node["spec"] = {"taints": msgspec.to_builtins(pool.taints)}
    capacity = pool.growths[0].capacity or {}
    node["status"] = {"allocatable": {resource: str(amount) for resource, amount in capacity.items()}}
    edit = Edit("cluster", "addNode", "/nodes/-", None, node)
    return raised_to(Advice(AdviceKind.RAISE_POOL, "", (edit,), pool=pool), 1)
