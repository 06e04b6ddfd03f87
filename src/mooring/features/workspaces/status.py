"""The status of a Workspace: what its nodes, its claims and its pods say, in upstream's conditions and reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from mooring.api.apps.views import StatefulSet
from mooring.api.conditions import find_condition
from mooring.api.core.views import Node
from mooring.api.meta import Condition
from mooring.features.workspaces.api import Workspace
from mooring.features.workspaces.condition_messages import listed
from mooring.features.workspaces.kinds import NodeClaim, ServingPod
from mooring.features.workspaces.node_claims import claim_state, is_ready
from mooring.features.workspaces.pod_failures import find_failure
from mooring.features.workspaces.selection import is_usable, not_ready_reason

__all__ = [
    "NodeFacts",
    "claims_condition",
    "deleting_condition",
    "inference_conditions",
    "is_workload_ready",
    "nodes_condition",
    "resource_condition",
    "state_of",
    "taken_conditions",
    "unclaimable_conditions",
]

NODES_READY: Final = "NodesReady"
CLAIMS_READY: Final = "NodeClaimReady"
RESOURCE_READY: Final = "ResourceReady"
INFERENCE_READY: Final = "InferenceReady"
SUCCEEDED: Final = "WorkspaceSucceeded"
DELETING: Final = "WorkspaceDeleting"
_PRESSURES: Final = ("DiskPressure", "MemoryPressure", "PIDPressure")
_PENDING: Final = "workspacePending"


class NodeFacts(NamedTuple):
    """Nodes that match the selector, those of them that count, and how many are needed; 0 while that is not known.

    `uncounted` says of each node that does not count why; where it is None, it is because the node is not ready.
    """

    matching: Sequence[Node]
    usable: Sequence[Node]
    target: int
    uncounted: Sequence[str] | None = None

    @property
    def reasons(self) -> list[str]:
        if self.uncounted is not None:
            return list(self.uncounted)
        return [f"{node.metadata.name} {not_ready_reason(node)}" for node in self.matching if not is_usable(node)]


def nodes_condition(facts: NodeFacts, *, plugins: bool, problem: str) -> Condition:
    """Whether enough nodes are ready, with numbers, and with the names of those that are not."""
    ready, target = len(facts.usable), facts.target
    if not target:
        return Condition(NODES_READY, "False", "NodeNotReady", problem or "The number of nodes is not known yet")
    word = "are ready" if facts.uncounted is None else "count"
    counts = f"{ready} of {len(facts.matching)} matching nodes {word}, {target} are required"
    if facts.reasons:
        counts = f"{counts}; not counted: {listed(facts.reasons)}"
    if ready < target:
        found = Condition(NODES_READY, "False", "NodeNotReady", f"Not enough Nodes are ready: {counts}")
    elif not plugins:
        text = "waiting all node plugins to be ready"
        found = Condition(NODES_READY, "False", "NodePluginsNotReady", text)
    else:
        found = Condition(NODES_READY, "True", "NodesReady", f"Enough Nodes are ready: {counts}")
    warning = _pressure(facts.matching)
    return Condition(found.type, found.status, found.reason, f"{found.message}{warning}")


def claims_condition(claims: Sequence[NodeClaim], needed: int, target: int) -> Condition:
    """Whether as many claims have become nodes as are needed; if not, why."""
    ready = sum(map(is_ready, claims))
    if target and ready >= needed:
        return Condition(CLAIMS_READY, "True", "NodeClaimsReady", "Enough NodeClaims are ready")
    found = claim_state(claims)
    if found is not None:
        return Condition(CLAIMS_READY, "False", found.reason, found.message)
    text = f"Ready NodeClaims are not enough: {ready} of {needed} are ready"
    return Condition(CLAIMS_READY, "False", "NodeClaimNotReady", text)


def resource_condition(nodes: Condition, claims: Condition | None) -> Condition:
    if nodes.status == "True" and (claims is None or claims.status == "True"):
        return Condition(RESOURCE_READY, "True", "workspaceResourceStatusSuccess", "workspace resource is ready")
    if claims is None:
        return Condition(RESOURCE_READY, "False", "workspaceResourceStatusNotReady", nodes.message)
    blocking = nodes if claims.status == "True" else claims
    return Condition(RESOURCE_READY, "False", blocking.reason, blocking.message)


def is_workload_ready(stateful_set: StatefulSet | None) -> bool:
    return stateful_set is not None and stateful_set.status.ready_replicas == stateful_set.spec.replicas


def inference_conditions(
    stateful_set: StatefulSet | None,
    pods: Iterable[ServingPod],
    *,
    resources_ready: bool,
    measured: bool,
    benchmark: Condition | None,
) -> tuple[Condition, Condition]:
    """InferenceReady and WorkspaceSucceeded. A workload that is measured has succeeded when there is a result."""
    ready = is_workload_ready(stateful_set)
    if ready and resources_ready:
        text = "Inference has been deployed successfully"
        serves = Condition(INFERENCE_READY, "True", "WorkspaceInferenceStatusSuccess", text)
        if not measured or (benchmark is not None and benchmark.status == "True"):
            return serves, Condition(SUCCEEDED, "True", "workspaceSucceeded", "workspace succeeds")
        if benchmark is not None:
            return serves, Condition(SUCCEEDED, "False", benchmark.reason, benchmark.message)
        text = "the result of the benchmark has not been read yet"
        return serves, Condition(SUCCEEDED, "False", _PENDING, text)
    failure = None if stateful_set is None or ready else find_failure(pods)
    reason, message = failure or ("WorkspaceInferenceStatusPending", "Inference workload is not ready")
    text = "workspace is waiting for inference workload readiness"
    return (
        Condition(INFERENCE_READY, "False", reason, message),
        Condition(SUCCEEDED, "False", _PENDING, text),
    )


def taken_conditions(workspace: Workspace, foreign: str) -> tuple[Condition, Condition]:
    """Somebody else's objects have the names of ours: nothing is done to them, and nothing is made beside them."""
    text = (
        f"{foreign} in namespace {workspace.metadata.namespace} exists and was not made for this Workspace; "
        "delete it, or give the Workspace another name"
    )
    return (
        Condition(INFERENCE_READY, "False", "NameTaken", text),
        Condition(SUCCEEDED, "False", _PENDING, text),
    )


def unclaimable_conditions(problem: str) -> tuple[Condition, Condition]:
    """Nodes can be asked for only where there are NodeClaims."""
    text = f"{problem}; install a provisioner, such as karpenter, or run with --node-provisioner byo"
    return (
        Condition(CLAIMS_READY, "False", "NodeClaimsUnavailable", text),
        Condition(RESOURCE_READY, "False", "NodeClaimsUnavailable", text),
    )


def deleting_condition() -> Condition:
    return Condition(DELETING, "True", "workspaceDeleted", "workspace is being deleted")


def state_of(workspace: Workspace, inference: tuple[Condition, Condition]) -> str:
    """Pending until it has served once; from then on Ready or NotReady. One whose benchmark failed has served."""
    serves, succeeded = inference
    if succeeded.status == "True":
        return "Ready"
    failed = serves.status == "True" and succeeded.reason != _PENDING
    return "NotReady" if failed or workspace.status.state in ("Ready", "NotReady") else "Pending"


def _pressure(nodes: Iterable[Node]) -> str:
    found = []
    for node in nodes:
        kinds = [kind for kind in _PRESSURES if _is_true(node, kind)]
        if kinds:
            found.append(f"{node.metadata.name} ({', '.join(kinds)})")
    return f"; warning: worker node(s) under resource pressure: {', '.join(found)}" if found else ""


def _is_true(node: Node, kind: str) -> bool:
    condition = find_condition(node.status.conditions, kind)
    return condition is not None and condition.status == "True"
