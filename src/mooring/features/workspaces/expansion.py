"""The pods that a Workspace would make and the nodes that it chooses, without a cluster that runs its controller.

What admission would refuse is told in its words, beside the pods as far as they can be told: without a node that
matches, nobody knows how many GPUs a preset's pods would ask for.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from mooring.api.core.views import Node
from mooring.features.workspaces.api import KIND, Workspace
from mooring.features.workspaces.explained_cluster import ExplainedCluster
from mooring.features.workspaces.flags import settings_from
from mooring.features.workspaces.kinds import WORKSPACE
from mooring.features.workspaces.node_claims import brought_nodes, usable_nodes
from mooring.features.workspaces.selection import (
    NodeLabelsError,
    is_usable,
    matching_nodes,
    not_ready_reason,
    selector_labels,
)
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.validation.creation import validate_workspace, workspace_warnings
from mooring.features.workspaces.validation.nodes import INSTANCE_TYPE_LABEL, node_requirement
from mooring.features.workspaces.workload.serving import serving_stateful_set
from mooring.kube.errors import MooringError, plainly
from mooring.kube.objects import Object
from mooring.placement.workloads.expansion import MAX_PODS, Expansion, WorkloadError, expand
from mooring.placement.workloads.known_cluster import KnownCluster, NodeSelection, UncountedNode
from mooring.runtime.settings import Configuration
from mooring.workloads.ownerrefs import controller_reference

__all__ = ["expand_workspace"]

_NOBODY: Final = "00000000-0000-0000-0000-000000000000"


class _Nodes(NamedTuple):
    matching: tuple[Node, ...]
    usable: tuple[Node, ...]


def expand_workspace(value: Object, namespace: str, known: KnownCluster) -> Expansion:
    """Raises WorkloadError, or msgspec.ValidationError for a value of the wrong type."""
    metadata = value.get("metadata") or {}
    name, home = metadata.get("name") or "", metadata.get("namespace") or namespace
    if not name:
        raise WorkloadError(f"a {KIND} needs a name", "metadata.name")
    identity = {**metadata, "namespace": home, "uid": metadata.get("uid") or _NOBODY}
    workspace = msgspec.convert({**value, "metadata": identity}, Workspace)
    settings = settings_from(Configuration(known.gates, known.settings))
    cluster = ExplainedCluster(known)
    checked, notes = _with_known_config(workspace, cluster)
    errors = validate_workspace(checked, settings, cluster)
    is_template = workspace.inference is not None and workspace.inference.template is not None
    made = Expansion(KIND, home, name, [], template_path="inference.template" if is_template else "")
    try:
        labels = selector_labels(workspace.resource.label_selector)
    except NodeLabelsError as error:
        return made._replace(errors=tuple(errors or [plainly("resource.labelSelector", str(error))]))
    nodes = _nodes(workspace, labels, settings, cluster)
    selection = _selection(workspace, labels, settings, nodes, cluster)
    try:
        pods = _pods(workspace, labels, settings, nodes, selection.required, known) if selection.required else made
    except MooringError as error:
        errors = errors or [plainly("inference.preset", str(error))]
        pods = made
    if not selection.required:
        errors = errors or [plainly("resource.count", selection.reason)]
        selection = selection._replace(reason="cannot be told")
    return made._replace(
        pods=pods.pods,
        owner=pods.owner,
        errors=tuple(errors),
        notes=(*notes, *workspace_warnings(workspace, settings, cluster), *pods.notes),
        selection=selection,
    )


def _with_known_config(workspace: Workspace, cluster: ExplainedCluster) -> tuple[Workspace, tuple[str, ...]]:
    """The Workspace without its configuration where that is not known."""
    inference = workspace.inference
    if inference is None or not inference.config:
        return workspace, ()
    if cluster.config_map(workspace.metadata.namespace, inference.config) is not None:
        return workspace, ()
    note = (
        f"ConfigMap {inference.config} is not known here, so the number of nodes is that of the default context; "
        "give it with -f"
    )
    replace = msgspec.structs.replace
    return replace(workspace, inference=replace(inference, config="")), (note,)


def _nodes(workspace: Workspace, labels: dict[str, str], settings: Settings, cluster: ExplainedCluster) -> _Nodes:
    matching = matching_nodes(labels, cluster.nodes)
    if settings.provisions:
        return _Nodes(matching, usable_nodes(workspace, matching))
    return _Nodes(matching, tuple(filter(is_usable, matching)))


def _selection(
    workspace: Workspace, labels: dict[str, str], settings: Settings, nodes: _Nodes, cluster: ExplainedCluster
) -> NodeSelection:
    try:
        required, reason = node_requirement(workspace, nodes.matching, settings, cluster)
    except MooringError as error:
        required, reason = 0, str(error)
    usable = {node.metadata.name for node in nodes.usable}
    away = [node for node in nodes.matching if node.metadata.name not in usable]
    claims = max(required - brought_nodes(nodes.usable), 0) if settings.provisions else 0
    return NodeSelection(
        ", ".join(f"{key}={value}" for key, value in sorted(labels.items())),
        required,
        reason,
        tuple(node.metadata.name for node in nodes.matching),
        tuple(node.metadata.name for node in nodes.usable),
        tuple(UncountedNode(node.metadata.name, _uncounted_reason(workspace, node)) for node in away),
        claims,
        workspace.resource.instance_type if settings.provisions else "",
    )


def _uncounted_reason(workspace: Workspace, node: Node) -> str:
    if not is_usable(node):
        return not_ready_reason(node)
    found = node.metadata.labels.get(INSTANCE_TYPE_LABEL, "")
    if found != workspace.resource.instance_type:
        return f"is of type {found}" if found else f"has no label {INSTANCE_TYPE_LABEL}"
    return f"belongs to another {KIND}"


def _pods(
    workspace: Workspace,
    labels: dict[str, str],
    settings: Settings,
    nodes: _Nodes,
    required: int,
    known: KnownCluster,
) -> Expansion:
    """Through the functions that the controllers use. Labels tell the GPUs of a node that is not ready, too."""
    if required > MAX_PODS:
        raise WorkloadError(f"{required:,} pods are too many to be told; {MAX_PODS:,} is the limit", "resource.count")
    owner = controller_reference(WORKSPACE, workspace)
    candidates = nodes.usable or nodes.matching
    made = serving_stateful_set(workspace, candidates, required, labels, settings, owner, has_nvme_class=False)
    if made is None:
        return Expansion(KIND, workspace.metadata.namespace, workspace.metadata.name, [])
    return expand({"apiVersion": "apps/v1", "kind": "StatefulSet", **made}, workspace.metadata.namespace, known)
