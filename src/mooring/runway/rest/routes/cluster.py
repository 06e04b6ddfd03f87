"""The cluster in the words of upstream's clients: whether it answers, and its nodes."""

from __future__ import annotations

from typing import Final

from mooring.runway.providers.registry import PROVIDERS
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.rest.routes.fleet import fleet_nodes
from mooring.runway.shown import Shown

__all__ = ["CLUSTER_ROUTES"]


class ActiveProvider(Shown, frozen=True):
    id: str
    name: str


class ClusterStatusShown(Shown, frozen=True):
    connected: bool
    namespace: str
    cluster_name: str
    provider: ActiveProvider


class NodeGpuCount(Shown, frozen=True):
    name: str
    ready: bool
    gpu_count: int


class NodeGpuCounts(Shown, frozen=True):
    nodes: tuple[NodeGpuCount, ...]


async def _status(call: RestCall) -> ClusterStatusShown:
    """A server that does not answer is an error of its own, and not a cluster that is not connected."""
    facts = call.service.facts
    provider = PROVIDERS[facts.provider]
    return ClusterStatusShown(
        True, call.caller.access.namespace, facts.server, ActiveProvider(provider.id, provider.name)
    )


async def _nodes(call: RestCall) -> NodeGpuCounts:
    found = (node for node in await fleet_nodes(call) if not node.cordoned)
    counts = (NodeGpuCount(node.name, node.ready, node.gpu.total) for node in found)
    return NodeGpuCounts(tuple(sorted(counts, key=lambda each: each.name)))


CLUSTER_ROUTES: Final = (
    Route("GET", "/api/cluster/status", "Which cluster this is.", _status, ClusterStatusShown),
    Route("GET", "/api/cluster/nodes", "Nodes that take pods, with their GPUs.", _nodes, NodeGpuCounts),
)
