"""NodeClaims, karpenter.sh/v1: its names, and typed views of it. One claim stands for one node that is asked for."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from mooring.api.core.types import View
from mooring.api.crds.markers import Markers, Quantity, Time, ValidationRule
from mooring.api.meta import AnnotatedMeta, Condition

GROUP: Final = "karpenter.sh"
API_VERSION: Final = f"{GROUP}/v1"
KIND: Final = "NodeClaim"
PLURAL: Final = "nodeclaims"

NODE_POOL_LABEL: Final = f"{GROUP}/nodepool"
FINALIZER: Final = f"{GROUP}/termination"
# The stages of a claim's life, each a condition; Ready says whether it is through all of them.
LAUNCHED: Final = "Launched"
REGISTERED: Final = "Registered"
INITIALIZED: Final = "Initialized"
READY: Final = "Ready"
STAGES: Final = (LAUNCHED, REGISTERED, INITIALIZED)
AWAITING: Final = "AwaitingReconciliation"

_DOMAIN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_LABEL: Final = rf"^({_DOMAIN}(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$"
_DURATIONS: Final = r"([0-9]+(s|m|h))+"


def _given(name: str) -> tuple[ValidationRule, ...]:
    return (ValidationRule("self != ''", f"{name} may not be empty"),)


class NodeClassRef(View, frozen=True):
    group: Annotated[str, Markers("The API group of the class.", pattern="^[^/]*$", validations=_given("group"))]
    kind: Annotated[str, Markers("The kind of the class.", validations=_given("kind"))]
    name: Annotated[str, Markers("The name of the class.", validations=_given("name"))]


class NodeRequirement(View, frozen=True):
    key: Annotated[str, Markers("The key of a label.", max_length=316, pattern=_LABEL)]
    operator: Annotated[
        str,
        Markers("How the label is compared.", enum=("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")),
    ]
    values: Annotated[
        tuple[str, ...],
        Markers(
            "What it is compared with: any number for In and NotIn, none for Exists and DoesNotExist, and one whole "
            "number for Gt and Lt.",
            list_type="atomic",
        ),
    ] = ()
    min_values: Annotated[
        int | None, Markers("How many different values must stay possible.", minimum=1, maximum=50)
    ] = None


class ClaimTaint(View, frozen=True):
    key: Annotated[str, Markers("The key of the taint.", min_length=1, pattern=_LABEL)]
    effect: Annotated[str, Markers("The effect of the taint.", enum=("NoSchedule", "PreferNoSchedule", "NoExecute"))]
    value: Annotated[str, Markers("The value of the taint.", pattern=_LABEL)] = ""
    time_added: Annotated[Time | None, Markers("When the taint was added.")] = None


class NodeClaimResources(View, frozen=True):
    requests: Annotated[dict[str, Quantity], Markers("The least that the node has.")] = msgspec.field(
        default_factory=dict
    )


class NodeClaimSpec(View, frozen=True):
    node_class_ref: Annotated[NodeClassRef, Markers("What the cloud must know of the node.")]
    requirements: Annotated[
        tuple[NodeRequirement, ...],
        Markers(
            "The labels that the node must have.",
            max_items=100,
            validations=(
                ValidationRule(
                    "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)",
                    "requirements with operator 'In' must have a value defined",
                ),
                ValidationRule(
                    "self.all(x, (x.operator == 'Gt' || x.operator == 'Lt') ? "
                    "(x.values.size() == 1 && int(x.values[0]) >= 0) : true)",
                    "requirements operator 'Gt' or 'Lt' must have a single positive integer value",
                ),
                ValidationRule(
                    "self.all(x, (x.operator == 'In' && has(x.minValues)) ? x.values.size() >= x.minValues : true)",
                    "requirements with 'minValues' must have at least that many values specified in the 'values' field",
                ),
            ),
        ),
    ]
    resources: Annotated[NodeClaimResources, Markers("What the node must have room for.")] = NodeClaimResources()
    taints: Annotated[tuple[ClaimTaint, ...], Markers("Taints of the node.")] = ()
    startup_taints: Annotated[
        tuple[ClaimTaint, ...], Markers("Taints that the node has until something takes them away.")
    ] = ()
    expire_after: Annotated[
        str, Markers("How long the node may live.", pattern=rf"^({_DURATIONS}|Never)$", defaulted=True)
    ] = "720h"
    termination_grace_period: Annotated[
        str, Markers("How long pods may hold up the end of the node.", pattern=rf"^{_DURATIONS}$")
    ] = ""


class NodeClaimStatus(View, frozen=True):
    node_name: Annotated[str, Markers("The node that came of the claim.")] = ""
    provider_id: Annotated[str, Markers("What the cloud calls the node.")] = msgspec.field(
        default="", name="providerID"
    )
    image_id: Annotated[str, Markers("The image that runs on the node.")] = msgspec.field(default="", name="imageID")
    capacity: Annotated[dict[str, Quantity], Markers("All that the node has.")] = msgspec.field(default_factory=dict)
    allocatable: Annotated[dict[str, Quantity], Markers("What the node has for pods.")] = msgspec.field(
        default_factory=dict
    )
    last_pod_event_time: Annotated[Time | None, Markers("When a pod last came to the node or left it.")] = None
    conditions: Annotated[
        tuple[Annotated[Condition, Markers(of="meta.v1.Condition")], ...],
        Markers(
            "Launched: the cloud gives a node. Registered: the node is there. Initialized: it is ready, with all that "
            "it should have. Ready: all of these."
        ),
    ] = ()


class NodeClaim(View, frozen=True):
    """A node that is asked for."""

    spec: Annotated[
        NodeClaimSpec,
        Markers("The node.", required=True, validations=(ValidationRule("self == oldSelf", "spec is immutable"),)),
    ] = NodeClaimSpec(NodeClassRef("", "", ""), ())
    metadata: AnnotatedMeta = AnnotatedMeta()
    status: Annotated[NodeClaimStatus, Markers("What came of it.")] = NodeClaimStatus()
