"""The GPU Operator: whether it runs and which GPUs pods can get, and its installation."""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.client.transport import Scope, plain
from mooring.kube.status import ForbiddenError, NotFoundError
from mooring.runway.feature_views.installations import InstallationShown, installation_shown
from mooring.runway.operations.installation import commands_by_hand, find_installation
from mooring.runway.providers.gpu_operator import GPU_OPERATOR, OPERATOR_PODS, POLICY_KIND
from mooring.runway.providers.operator_pods import running
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.rest.routes.fleet import fleet_nodes
from mooring.runway.rest.routes.installation.actions import installation_actions
from mooring.runway.shown import Shown

__all__ = ["GPU_OPERATOR_ROUTES"]


class GpuOperatorShown(Shown, frozen=True):
    """`helm_commands` are what a person types to install it; `installation` is one that was asked for here."""

    installed: bool
    crd_found: bool
    operator_running: bool
    gpus_available: bool
    total_gpus: int = msgspec.field(name="totalGPUs")
    gpu_nodes: tuple[str, ...]
    message: str
    helm_commands: tuple[str, ...]
    installation: InstallationShown | None = None


async def _status(call: RestCall) -> GpuOperatorShown:
    with_gpus = [node for node in await fleet_nodes(call) if node.gpu.total]
    crd, is_running = await _has_policies(call), await _has_pods(call)
    state = "runs" if is_running else "is installed and does not run" if crd else "is not installed"
    total = sum(node.gpu.total for node in with_gpus)
    wanted = GPU_OPERATOR.installation(call.service.facts.settings)
    assert wanted is not None
    return GpuOperatorShown(
        installed=crd and is_running,
        crd_found=crd,
        operator_running=is_running,
        gpus_available=bool(total),
        total_gpus=total,
        gpu_nodes=tuple(sorted(node.name for node in with_gpus)),
        message=f"the GPU Operator {state}; {total} GPUs on {len(with_gpus)} nodes can be given to pods",
        helm_commands=commands_by_hand(wanted),
        installation=await _installation(call),
    )


async def _installation(call: RestCall) -> InstallationShown | None:
    """Who may not read it is told the rest."""
    try:
        found = await find_installation(call.caller.transport, GPU_OPERATOR.id)
    except ForbiddenError:
        return None
    return None if found is None else installation_shown(found)


async def _runs(call: RestCall) -> bool:
    return await _has_policies(call) and await _has_pods(call)


async def _has_policies(call: RestCall) -> bool:
    try:
        await call.caller.transport.mapping(*POLICY_KIND)
    except NotFoundError:
        return False
    return True


async def _has_pods(call: RestCall) -> bool:
    """Who may not read its pods is not told that it runs."""
    try:
        pages = call.caller.transport.list("v1", "Pod", Scope(OPERATOR_PODS.namespace, OPERATOR_PODS.selector))
        return running([plain(item) async for page in pages for item in page.items])
    except ForbiddenError:
        return False


_ONE: Final = f"/api/installation/{GPU_OPERATOR.id}"
GPU_OPERATOR_ROUTES: Final = (
    Route("GET", f"{_ONE}/status", "Whether the GPU Operator runs.", _status, GpuOperatorShown),
    *installation_actions(_ONE, lambda call: GPU_OPERATOR, _runs),
)
