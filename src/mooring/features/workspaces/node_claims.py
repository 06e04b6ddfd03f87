"""NodeClaims: the nodes that a Workspace asks for where those that are there are not enough."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Final, NamedTuple

from mooring.api.conditions import find_condition
from mooring.api.core.views import Node
from mooring.features.workspaces import api
from mooring.features.workspaces.api import Workspace
from mooring.features.workspaces.condition_messages import shortened
from mooring.features.workspaces.kinds import NodeClaim
from mooring.features.workspaces.provisioning.api import AWAITING, NODE_POOL_LABEL, STAGES
from mooring.features.workspaces.selection import INSTANCE_TYPE_LABEL, is_usable, not_ready_reason, selector_labels
from mooring.features.workspaces.settings import CloudProvider, Settings
from mooring.features.workspaces.sizing.instance_types import find_instance_type
from mooring.features.workspaces.sizing.models import find_model
from mooring.kube.objects import Object
from mooring.kube.quantities import value

__all__ = [
    "ClaimState",
    "brought_nodes",
    "claim_names",
    "claim_state",
    "has_plugins",
    "is_ready",
    "node_claim",
    "uncounted_because",
    "uncounted_nodes",
    "usable_nodes",
]

_NODE_POOL: Final = "kaito"
_PROVISIONED: Final = frozenset({NODE_POOL_LABEL, api.NAME_LABEL, api.KARPENTER_NAME_LABEL})
_NAME_HASH_CHARS: Final = 9
_DEFAULT_DISK: Final = "1Ti"
_NODE_CLASSES: Final[Mapping[CloudProvider, Object]] = {
    "azure": {"group": "kaito.sh", "kind": "KaitoNodeClass", "name": "default"},
    "aws": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
    "arc": {"group": "", "kind": "", "name": "default"},
}


class ClaimState(NamedTuple):
    """Why claims have not become nodes."""

    reason: str
    message: str


def usable_nodes(workspace: Workspace, matching: Iterable[Node]) -> tuple[Node, ...]:
    """Nodes that count: ready, of the right type, and not another Workspace's, wherever they came from."""
    return tuple(node for node in matching if not uncounted_because(workspace, node))


def uncounted_nodes(workspace: Workspace, matching: Iterable[Node]) -> list[str]:
    """The nodes that do not count, each with the reason."""
    reasons = ((node.metadata.name, uncounted_because(workspace, node)) for node in matching)
    return [f"{name} {reason}" for name, reason in reasons if reason]


def uncounted_because(workspace: Workspace, node: Node) -> str:
    labels, wanted = node.metadata.labels, workspace.resource.instance_type
    if not is_usable(node):
        return not_ready_reason(node)
    found = labels.get(INSTANCE_TYPE_LABEL)
    if found != wanted:
        return f"is of instance type {found} and not {wanted}" if found else "has no instance type"
    own = (workspace.metadata.name, workspace.metadata.namespace)
    for named, placed in api.OWNER_LABELS:
        if named in labels:
            owner = (labels[named], labels.get(placed, own[1]))
            return "" if owner == own else f"belongs to Workspace {owner[1]}/{owner[0]}"
    return ""


def brought_nodes(usable: Iterable[Node]) -> int:
    """How many of these nodes were not provisioned: they carry no mark of a provisioner."""
    return sum(not _PROVISIONED & node.metadata.labels.keys() for node in usable)


def is_ready(claim: NodeClaim) -> bool:
    if claim.metadata.deleting:
        return False
    ready = find_condition(claim.status.conditions, "Ready")
    return ready.status == "True" if ready is not None else bool(claim.status.node_name)


def claim_state(claims: Iterable[NodeClaim]) -> ClaimState | None:
    """The first stage of its life that a claim does not get through; a real error before mere waiting."""
    waiting = None
    living = sorted((each for each in claims if not each.metadata.deleting), key=lambda each: each.metadata.name)
    for kind, claim in product(STAGES, living):
        told = find_condition(claim.status.conditions, kind)
        if told is None or told.status == "True" or not told.message:
            continue
        found = ClaimState(told.reason, shortened(told.message))
        if told.reason != AWAITING:
            return found
        waiting = waiting or found
    return waiting


def has_plugins(
    workspace: Workspace, settings: Settings, claims: Iterable[NodeClaim], nodes: Mapping[str, Node]
) -> bool:
    """Whether the GPUs of all claimed nodes have been found. Types whose GPUs are not known are taken as they come."""
    wanted = workspace.resource.instance_type
    if find_instance_type(settings.cloud_provider, wanted) is None:
        return True
    for claim in filter(is_ready, claims) if settings.node_provisioner == "karpenter" else claims:
        node = nodes.get(claim.status.node_name)
        if node is None or not is_usable(node) or not value((node.status.capacity or {}).get("nvidia.com/gpu", "0")):
            return False
        if node.metadata.labels.get(INSTANCE_TYPE_LABEL) != wanted:
            return False
    return True


def claim_names(workspace: Workspace, claims: Iterable[NodeClaim], wanted: int) -> list[str]:
    """Names for this many more claims: the next ones that no claim has."""
    taken = {claim.metadata.name for claim in claims}
    names: list[str] = []
    number = 0
    while len(names) < wanted:
        key = f"{workspace.metadata.uid}/{number}"
        name = f"ws{hashlib.sha256(key.encode()).hexdigest()[:_NAME_HASH_CHARS]}"
        if name not in taken:
            names.append(name)
        number += 1
    return names


def node_claim(workspace: Workspace, name: str, settings: Settings) -> Object:
    """One claim. It has no owner reference: a cluster-wide object cannot be owned by one in a namespace."""
    metadata = workspace.metadata
    wanted = workspace.resource.instance_type
    requirements = [
        _one_of(NODE_POOL_LABEL, _NODE_POOL),
        _one_of(INSTANCE_TYPE_LABEL, wanted),
        _one_of("kubernetes.io/os", "linux"),
    ]
    if settings.cloud_provider == "azure":
        requirements.append(_one_of("karpenter.azure.com/sku-name", wanted))
    if settings.cloud_provider == "aws":
        requirements.append({"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "Gt", "values": ["0"]})
    family = metadata.annotations.get(api.NODE_IMAGE_FAMILY, settings.node_image_family)
    return {
        "metadata": {
            "name": name,
            "labels": {
                NODE_POOL_LABEL: _NODE_POOL,
                api.NAME_LABEL: metadata.name,
                api.NAMESPACE_LABEL: metadata.namespace,
                **_asked_labels(workspace, requirements),
            },
            "annotations": {
                "karpenter.sh/do-not-disrupt": "true",
                api.NODE_IMAGE_FAMILY: family.strip().lower(),
            },
        },
        "spec": {
            "nodeClassRef": _NODE_CLASSES[settings.cloud_provider],
            "taints": [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}],
            "requirements": requirements,
            "resources": {"requests": {"storage": _disk(workspace)}},
            "expireAfter": "Never",
        },
    }


def _asked_labels(workspace: Workspace, requirements: Iterable[Object]) -> dict[str, str]:
    """All that the selector asks for, or the node that comes would not be found; it has what is required anyway."""
    selector = workspace.resource.label_selector
    written, required = selector.match_labels or {}, {each["key"] for each in requirements}
    return {key: value for key, value in selector_labels(selector).items() if key in written or key not in required}


def _one_of(key: str, value: str) -> Object:
    return {"key": key, "operator": "In", "values": [value]}


def _disk(workspace: Workspace) -> str:
    preset = None if workspace.inference is None else workspace.inference.preset
    model = None if preset is None else find_model(preset.name)
    return _DEFAULT_DISK if model is None else f"{model.disk_gib}Gi"
