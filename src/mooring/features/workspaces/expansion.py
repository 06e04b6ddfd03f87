"""The pods that a Workspace would make and the nodes that it chooses, without a cluster that runs its controller.

What admission would refuse is told in its words, beside the pods as far as they can be told: without a node that
matches, nobody knows how many GPUs a preset's pods would ask for.
"""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

import msgspec

from mooring.api.core.views import Node
from mooring.features.workspaces.api import KIND, Workspace
from mooring.features.workspaces.explained_cluster import ExplainedCluster
from mooring.features.workspaces.flags import settings_from
from mooring.features.workspaces.kinds import WORKSPACE, NodeClaim
from mooring.features.workspaces.node_claims import brought_nodes, node_claim, uncounted_because, usable_nodes
from mooring.features.workspaces.provisioning.simulated_node import simulated_node
from mooring.features.workspaces.selection import (
    NodeLabelsError,
    is_usable,
    matching_nodes,
    not_ready_reason,
    selector_labels,
)
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.sizing.instance_types import find_instance_type
from mooring.features.workspaces.validation.creation import validate_workspace, workspace_warnings
from mooring.features.workspaces.validation.nodes import required_with_reason
from mooring.features.workspaces.workload.serving import serving_stateful_set
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.placement.workloads.expansion import MAX_PODS, Expansion, WorkloadError, expand
from mooring.placement.workloads.known_cluster import KnownCluster, NodeSelection, UncountedNode
from mooring.runtime.settings import Configuration
from mooring.workloads.ownerrefs import controller_reference

__all__ = ["expand_workspace", "select_nodes"]

_NOBODY: Final = "00000000-0000-0000-0000-000000000000"


class _Question(NamedTuple):
    """One Workspace and everything that its answer depends on."""

    workspace: Workspace
    settings: Settings
    cluster: ExplainedCluster
    labels: dict[str, str]
    matching: tuple[Node, ...] = ()
    usable: tuple[Node, ...] = ()


def expand_workspace(value: Object, namespace: str, known: KnownCluster) -> Expansion:
    """Raises WorkloadError, or msgspec.ValidationError for a value of the wrong type."""
    asked = _question(value, namespace, known)
    workspace, settings, cluster = asked.workspace, asked.settings, asked.cluster
    checked, notes = _with_known_config(workspace, cluster)
    errors = validate_workspace(checked, settings, cluster)
    pods = Expansion(KIND, workspace.metadata.namespace, workspace.metadata.name, [])
    try:
        pods = _pods(asked, known)
    except MooringError as error:
        pods = pods._replace(waits=str(error))
    is_template = workspace.inference is not None and workspace.inference.template is not None
    return pods._replace(
        kind=KIND,
        errors=tuple(errors),
        notes=(*notes, *workspace_warnings(workspace, settings, cluster), *pods.notes),
        template_path="inference.template" if is_template else "",
        new_nodes=_new_nodes(asked, len(pods.pods)),
    )


def select_nodes(value: Object, namespace: str, known: KnownCluster) -> NodeSelection:
    asked = _question(value, namespace, known)
    workspace, settings = asked.workspace, asked.settings
    try:
        required, reason = required_with_reason(workspace, asked.matching, settings, asked.cluster)
    except MooringError:
        required, reason = 0, "cannot be told"
    usable = {node.metadata.name for node in asked.usable}
    because = partial(uncounted_because, workspace) if settings.provisions else not_ready_reason
    return NodeSelection(
        ", ".join(f"{key}={value}" for key, value in sorted(asked.labels.items())),
        required,
        reason,
        tuple(node.metadata.name for node in asked.matching),
        tuple(node.metadata.name for node in asked.usable),
        tuple(
            UncountedNode(node.metadata.name, because(node))
            for node in asked.matching
            if node.metadata.name not in usable
        ),
        max(required - brought_nodes(asked.usable), 0) if settings.provisions else 0,
        workspace.resource.instance_type if settings.provisions else "",
    )


def _question(value: Object, namespace: str, known: KnownCluster) -> _Question:
    metadata = value.get("metadata") or {}
    name, home = metadata.get("name") or "", metadata.get("namespace") or namespace
    if not name:
        raise WorkloadError(f"a {KIND} needs a name", "metadata.name")
    identity = {**metadata, "namespace": home, "uid": metadata.get("uid") or _NOBODY}
    workspace = msgspec.convert({**value, "metadata": identity}, Workspace)
    settings = settings_from(Configuration(known.gates, known.settings))
    cluster = ExplainedCluster(known)
    try:
        labels = selector_labels(workspace.resource.label_selector)
    except NodeLabelsError:
        # Admission refuses it, and says why; until then it selects nothing.
        return _Question(workspace, settings, cluster, {})
    matching = matching_nodes(labels, cluster.nodes)
    usable = usable_nodes(workspace, matching) if settings.provisions else tuple(filter(is_usable, matching))
    return _Question(workspace, settings, cluster, labels, matching, usable)


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


def _new_nodes(asked: _Question, required: int) -> tuple[Object, ...]:
    """The nodes that claims would bring, by the names that a person would give them; none of a type nobody knows."""
    workspace, settings = asked.workspace, asked.settings
    known = find_instance_type(settings.cloud_provider, workspace.resource.instance_type)
    if not settings.provisions or known is None:
        return ()
    names = (f"{workspace.metadata.name}-new-{number}" for number in range(1, required - len(asked.usable) + 1))
    claims = (msgspec.convert(node_claim(workspace, name, settings), NodeClaim) for name in names)
    return tuple(simulated_node(claim, known) for claim in claims)


def _pods(asked: _Question, known: KnownCluster) -> Expansion:
    """Through the functions that the controller uses. The labels of a node that is not ready tell its GPUs, too."""
    workspace, settings = asked.workspace, asked.settings
    required, _ = required_with_reason(workspace, asked.matching, settings, asked.cluster)
    if required > MAX_PODS:
        raise WorkloadError(f"{required:,} pods are too many to be told; {MAX_PODS:,} is the limit", "resource.count")
    owner = controller_reference(WORKSPACE, workspace)
    nodes = asked.usable or asked.matching
    waits = ""
    if not settings.provisions and len(asked.usable) < required:
        waits = f"{len(asked.usable)} of {required} required nodes are ready"
    made = serving_stateful_set(workspace, nodes, required, asked.labels, settings, owner, has_nvme_class=False)
    if made is None:
        return Expansion(KIND, workspace.metadata.namespace, workspace.metadata.name, [])
    pods = expand({"apiVersion": "apps/v1", "kind": "StatefulSet", **made}, workspace.metadata.namespace, known)
    return pods._replace(waits=waits)
