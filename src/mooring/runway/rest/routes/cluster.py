"""The cluster in the words of upstream's clients: whether it answers, its nodes, and whether its GPU Operator runs."""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.client.transport import Scope, plain
from mooring.kube.status import ForbiddenError, NotFoundError
from mooring.runway.fleet.nodes import FleetNode
from mooring.runway.providers.registry import PROVIDERS
from mooring.runway.rest.mirror.fleet_topics import NODES
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.shown import Shown

__all__ = ["CLUSTER_ROUTES"]

_GPU_OPERATOR: Final = "gpu-operator"
_HELM_COMMANDS: Final = (
    "helm repo add nvidia https://helm.ngc.nvidia.com/nvidia",
    "helm repo update",
    f"helm upgrade --install {_GPU_OPERATOR} nvidia/gpu-operator -n {_GPU_OPERATOR} --create-namespace --wait",
)


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


class GpuOperatorShown(Shown, frozen=True):
    """`helm_commands` are what a person types; nothing here runs them."""

    installed: bool
    crd_found: bool
    operator_running: bool
    gpus_available: bool
    total_gpus: int = msgspec.field(name="totalGPUs")
    gpu_nodes: tuple[str, ...]
    message: str
    helm_commands: tuple[str, ...]


async def _status(call: RestCall) -> ClusterStatusShown:
    """A server that does not answer is an error of its own, and not a cluster that is not connected."""
    facts = call.service.facts
    provider = PROVIDERS[facts.provider]
    return ClusterStatusShown(
        True, call.caller.access.namespace, facts.server, ActiveProvider(provider.id, provider.name)
    )


async def _nodes(call: RestCall) -> NodeGpuCounts:
    found = (node for node in await _all_nodes(call) if not node.cordoned)
    counts = (NodeGpuCount(node.name, node.ready, node.gpu.total) for node in found)
    return NodeGpuCounts(tuple(sorted(counts, key=lambda each: each.name)))


async def _all_nodes(call: RestCall) -> list[FleetNode]:
    return [element.value for element in (await call.caller.topic(NODES)).elements.values()]


async def _gpu_operator(call: RestCall) -> GpuOperatorShown:
    with_gpus = [node for node in await _all_nodes(call) if node.gpu.total]
    crd, running = await _has_policies(call), await _runs(call)
    state = "runs" if running else "is installed and does not run" if crd else "is not installed"
    total = sum(node.gpu.total for node in with_gpus)
    return GpuOperatorShown(
        installed=crd and running,
        crd_found=crd,
        operator_running=running,
        gpus_available=bool(total),
        total_gpus=total,
        gpu_nodes=tuple(sorted(node.name for node in with_gpus)),
        message=f"the GPU Operator {state}; {total} GPUs on {len(with_gpus)} nodes can be given to pods",
        helm_commands=_HELM_COMMANDS,
    )


async def _has_policies(call: RestCall) -> bool:
    try:
        await call.caller.transport.mapping("nvidia.com/v1", "ClusterPolicy")
    except NotFoundError:
        return False
    return True


async def _runs(call: RestCall) -> bool:
    """Who may not read its pods is not told that it runs."""
    try:
        pages = call.caller.transport.list("v1", "Pod", Scope(_GPU_OPERATOR, f"app={_GPU_OPERATOR}"))
        pods = [plain(item) async for page in pages for item in page.items]
    except ForbiddenError:
        return False
    return any((pod.get("status") or {}).get("phase") == "Running" for pod in pods)


_OPERATOR: Final = "/api/installation/gpu-operator/status"
CLUSTER_ROUTES: Final = (
    Route("GET", "/api/cluster/status", "Which cluster this is.", _status, ClusterStatusShown),
    Route("GET", "/api/cluster/nodes", "Nodes that take pods, with their GPUs.", _nodes, NodeGpuCounts),
    Route("GET", _OPERATOR, "Whether the GPU Operator runs.", _gpu_operator, GpuOperatorShown),
)
