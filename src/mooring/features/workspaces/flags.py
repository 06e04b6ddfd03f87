"""The feature gate and the flags of Workspaces, and what they mean together.

`--node-provisioner` is the newer spelling of the gate: where it is given it decides, and a gate that says otherwise is
a mistake.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, cast

from mooring.features.workspaces.settings import NodeProvisioner, Settings
from mooring.runtime.settings import Configuration, choice, duration

if TYPE_CHECKING:
    from mooring.runtime.view import View

__all__ = ["GATE", "NODE_CLAIM_DELAY", "NODE_PROVISIONER", "NOT_READY_NODES", "contradiction", "settings_of"]

GATE: Final = "disableNodeAutoProvisioning"

NODE_PROVISIONER: Final = choice(
    "node-provisioner",
    ("byo", "karpenter", "azure-gpu-provisioner"),
    "",
    "Where nodes of Workspaces come from: brought (byo, the default) or asked for with NodeClaims.",
)
NOT_READY_NODES: Final = choice(
    "not-ready-nodes",
    ("reject", "pending"),
    "reject",
    "What becomes of a Workspace whose nodes are there and not ready: refused (the default) or left waiting.",
)
NODE_CLAIM_DELAY: Final = duration(
    "node-claim-delay",
    timedelta(seconds=5),
    "How long a NodeClaim takes to become a simulated node on the embedded cluster.",
)


def settings_of(view: View) -> Settings:
    """The settings of a controller or webhook that declares the gate and both flags."""
    provisioner = view.settings[NODE_PROVISIONER]
    if not provisioner:
        provisioner = "byo" if view.gates.enabled(GATE) else "azure-gpu-provisioner"
    pending = view.settings[NOT_READY_NODES] == "pending"
    return Settings(cast(NodeProvisioner, provisioner), not_ready_pending=pending)


def contradiction(configuration: Configuration) -> str:
    provisioner, is_off = configuration.settings.get(NODE_PROVISIONER.name), configuration.gates.get(GATE)
    if provisioner is None or is_off is None or (provisioner == "byo") == is_off:
        return ""
    wanted = "true" if provisioner == "byo" else "false"
    return (
        f"--node-provisioner {provisioner} and --feature-gates {GATE}={str(is_off).lower()} contradict each other; "
        f"drop one of them, or set {GATE}={wanted}"
    )
