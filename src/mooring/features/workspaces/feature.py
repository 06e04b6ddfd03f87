"""Workspaces as a feature: what the product must know of them, and nothing that takes long to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mooring.features.workspaces.flags import GATE, NODE_CLAIM_DELAY, NODE_PROVISIONER, NOT_READY_NODES, contradiction
from mooring.kube.objects import Object
from mooring.runtime.feature import Feature, Parts

if TYPE_CHECKING:
    from mooring.api.crds.resource import CustomResource
    from mooring.placement.workloads.kinds import WorkloadKind
    from mooring.runtime.controller import Controller
    from mooring.runtime.webhooks.model import Webhook

_LATER: Final = "Mooring has no such part yet"


def _resources() -> tuple[CustomResource, ...]:
    from mooring.features.workspaces.definition import WORKSPACES

    return (WORKSPACES,)


def _controllers() -> tuple[Controller, ...]:
    from mooring.features.workspaces.controller import CONTROLLER

    return (CONTROLLER,)


def _workloads() -> tuple[WorkloadKind, ...]:
    from mooring.features.workspaces.placed_workspace import WORKSPACE_PODS

    return (WORKSPACE_PODS,)


def _progress(obj: Object) -> str:
    told = {each["type"]: each for each in obj.get("status", {}).get("conditions", ())}
    for kind in ("ResourceReady", "InferenceReady"):
        if kind not in told:
            return "nothing is known of its nodes yet"
        if told[kind]["status"] != "True":
            return str(told[kind]["message"])
    return ""


def _webhooks() -> tuple[Webhook, ...]:
    from mooring.features.workspaces.webhooks import WEBHOOKS

    return WEBHOOKS


def _claim_resources() -> tuple[CustomResource, ...]:
    from mooring.features.workspaces.provisioning.definition import NODE_CLAIMS

    return (NODE_CLAIMS,)


def _claim_controllers() -> tuple[Controller, ...]:
    from mooring.features.workspaces.provisioning.simulated_claims import CONTROLLER

    return (CONTROLLER,)


# A cloud for the embedded cluster: it comes with the definition of NodeClaims, which elsewhere is a provisioner's.
SIMULATED_CLAIMS: Final = Feature(
    "simulated-node-claims",
    resources=_claim_resources,
    controllers=Parts(("simulated-node-claims",), _claim_controllers),
    settings=(NODE_CLAIM_DELAY,),
    embedded_only=frozenset({"simulated-node-claims"}),
)

WORKSPACES: Final = Feature(
    "workspaces",
    resources=_resources,
    controllers=Parts(("workspaces",), _controllers),
    workloads=Parts(("Workspace",), _workloads),
    progress={("kaito.sh/v1beta1", "Workspace"): _progress},
    webhooks=Parts(("workspaces-webhook",), _webhooks),
    needs=(SIMULATED_CLAIMS,),
    gates={GATE: True},
    refused_gates={
        "vLLM": "a Workspace chooses its runtime with the annotation kaito.sh/runtime",
        "gatewayAPIInferenceExtension": _LATER,
        "enableInferenceSetController": _LATER,
        "enableMIG": _LATER,
        "enableAccelerator": _LATER,
        "enableMultiRoleInferenceController": _LATER,
        "ModelMirror": _LATER,
        "ModelStreaming": _LATER,
        "enableBaseImageAutoUpgrade": _LATER,
    },
    settings=(NODE_PROVISIONER, NOT_READY_NODES),
    workload_settings=(NODE_PROVISIONER, NOT_READY_NODES),
    contradiction=contradiction,
)
