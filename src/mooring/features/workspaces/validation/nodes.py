"""Whether the nodes that a new Workspace selects can carry it: enough of them, ready, and with GPUs that are alike.

Without auto-provisioning a Workspace is refused at once when they cannot, with the numbers and the names of the nodes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from mooring.api.core.views import Node
from mooring.features.workspaces.api import BYPASS_RESOURCE_CHECKS, INFERENCE_CONFIG, RUNTIME, TRANSFORMERS, Workspace
from mooring.features.workspaces.condition_messages import listed
from mooring.features.workspaces.selection import INSTANCE_TYPE_LABEL, is_usable, matching_nodes, not_ready_reason
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.sizing.gpus import GpuError, NodeGpus, gpus_of_instance_type, gpus_of_labels
from mooring.features.workspaces.sizing.instance_types import find_instance_type
from mooring.features.workspaces.sizing.models import GIB, Model, find_model
from mooring.features.workspaces.sizing.target import estimated_nodes
from mooring.features.workspaces.validation.facts import ClusterFacts
from mooring.kube.errors import FieldError, MooringError, plainly
from mooring.workloads.near_labels import nearest_labels

__all__ = [
    "check_nodes",
    "estimate_warnings",
    "readiness_warnings",
    "required_nodes",
    "required_with_reason",
    "type_warnings",
]

# Upstream names no field for what these tell.
NODES_PATH: Final = "resource"
RUNTIME_PATH: Final = f"metadata.annotations[{RUNTIME}]"


def check_nodes(
    errors: list[FieldError], workspace: Workspace, labels: Mapping[str, str], settings: Settings, facts: ClusterFacts
) -> None:
    model = _model(workspace)
    if model is not None and _is_transformers(workspace) and not model.transformers:
        text = f"Runtime validation: model {model.id} does not support inference with Huggingface Transformers runtime"
        errors.append(plainly(RUNTIME_PATH, text))
    if settings.provisions:
        if model is not None and _is_transformers(workspace):
            _check_instance_memory(errors, workspace, settings, model)
        return
    matching = matching_nodes(labels, facts.nodes)
    if model is not None:
        if not matching:
            counts = f"0 nodes match, {max(workspace.resource.count, 1)} or more are required"
            text = f"No nodes found matching the specified label selector: {counts}{_more_nodes(labels, facts)}"
            errors.append(plainly(NODES_PATH, text))
            return
        if not _check_gpus(errors, workspace, matching, model):
            return
    _check_amounts(errors, workspace, labels, matching, settings, facts)


def required_nodes(workspace: Workspace, settings: Settings, matching: Sequence[Node], config: str | None) -> int:
    """The higher of `count` and what the model is estimated to need."""
    return max(workspace.resource.count, estimated_nodes(workspace, settings, matching, config), 1)


def type_warnings(workspace: Workspace, labels: Mapping[str, str], facts: ClusterFacts) -> tuple[str, ...]:
    """With auto-provisioning: nodes that match the selector and do not count, because they are of another type."""
    wanted = workspace.resource.instance_type
    other = [
        f"{node.metadata.name} ({node.metadata.labels.get(INSTANCE_TYPE_LABEL) or 'no type'})"
        for node in matching_nodes(labels, facts.nodes)
        if node.metadata.labels.get(INSTANCE_TYPE_LABEL) != wanted
    ]
    if not other or workspace.is_old:
        return ()
    return (f"nodes that match the selector do not count, as they are not of type {wanted}: {listed(other)}",)


def readiness_warnings(
    workspace: Workspace, labels: Mapping[str, str], settings: Settings, facts: ClusterFacts
) -> tuple[str, ...]:
    """Nodes that would count if they were ready: others are asked for in their place, or they are waited for."""
    matching = matching_nodes(labels, facts.nodes)
    if settings.provisions:
        wanted = workspace.resource.instance_type
        matching = tuple(node for node in matching if node.metadata.labels.get(INSTANCE_TYPE_LABEL) == wanted)
        needed = len(matching)
    else:
        needed = required_with_reason(workspace, matching, settings, facts).nodes
    if sum(map(is_usable, matching)) >= needed:
        return ()
    return (f"nodes that match the selector do not count until they are ready: {_not_ready(matching)}",)


def estimate_warnings(
    workspace: Workspace, labels: Mapping[str, str], settings: Settings, facts: ClusterFacts
) -> tuple[str, ...]:
    """Why no node can be asked for yet: how many the model needs cannot be told."""
    try:
        required_with_reason(workspace, matching_nodes(labels, facts.nodes), settings, facts)
    except MooringError as error:
        return (str(error),)
    return ()


def _more_nodes(labels: Mapping[str, str], facts: ClusterFacts) -> str:
    """What comes near, and what to do."""
    if not labels:
        return "; add nodes"
    asked = " ".join(f"{key}={value}" for key, value in sorted(labels.items()))
    return f"{nearest_labels(labels, facts.nodes)}; to add nodes: kubectl label node NAME {asked}"


def _not_ready(nodes: Sequence[Node]) -> str:
    return listed([f"{node.metadata.name} {not_ready_reason(node)}" for node in nodes if not is_usable(node)])


class RequiredNodes(NamedTuple):
    """How many nodes are needed, and why that many."""

    nodes: int
    why: str


def required_with_reason(
    workspace: Workspace, matching: Sequence[Node], settings: Settings, facts: ClusterFacts
) -> RequiredNodes:
    """Raises where the model's need cannot be told although a node is ready, or is yet to come."""
    count = max(workspace.resource.count, 1)
    estimate = count
    try:
        estimate = estimated_nodes(workspace, settings, matching, _config(workspace, facts))
    except MooringError:
        if settings.provisions or any(map(is_usable, matching)):
            raise
    why = f"count is {count}" + (f" and the model needs {estimate}" if estimate > count else "")
    return RequiredNodes(max(count, estimate), why)


def _check_amounts(
    errors: list[FieldError],
    workspace: Workspace,
    labels: Mapping[str, str],
    matching: Sequence[Node],
    settings: Settings,
    facts: ClusterFacts,
) -> None:
    ready = sum(map(is_usable, matching))
    try:
        needed, why = required_with_reason(workspace, matching, settings, facts)
    except MooringError as error:
        errors.append(plainly("resource.count", str(error)))
        return
    if len(matching) < needed:
        counts = f"{len(matching)} nodes match the label selector, {needed} are required ({why})"
        errors.append(plainly("resource.count", f"{counts}{_more_nodes(labels, facts)}"))
    elif ready < needed and not settings.not_ready_pending:
        counts = f"{ready} of {len(matching)} matching nodes are ready, {needed} are required ({why})"
        errors.append(plainly("resource.count", f"{counts}: {_not_ready(matching)}"))


def _check_gpus(errors: list[FieldError], workspace: Workspace, matching: Sequence[Node], model: Model) -> bool:
    """Whether all nodes have labels that tell their GPUs, and the same ones, with room for the model."""
    first: NodeGpus | None = None
    for node in matching:
        name = node.metadata.name
        try:
            gpus = gpus_of_labels(name, node.metadata.labels)
        except GpuError as error:
            errors.append(plainly(NODES_PATH, f"Failed to get GPU config from nvidia labels on node {name}: {error}"))
            return False
        if first is None:
            first = gpus
        elif odd := _difference(name, gpus, first):
            errors.append(plainly(NODES_PATH, odd))
            return False
    assert first is not None
    return _check_memory(errors, workspace, model, first.memory_gib, len(matching))


def _difference(name: str, gpus: NodeGpus, first: NodeGpus) -> str:
    if gpus.product != first.product:
        return (
            f"Non-uniform GPU product: node {name} has {gpus.product} GPUs, but previous node has {first.product} GPUs"
        )
    if gpus.gpus != first.gpus:
        return f"Non-uniform GPU count: node {name} has {gpus.gpus} GPUs, but previous node has {first.gpus} GPUs"
    if gpus.memory_gib != first.memory_gib:
        return (
            f"Non-uniform GPU memory: node {name} has {gpus.memory_gib}Gi memory, "
            f"but previous node has {first.memory_gib}Gi memory"
        )
    return ""


def _check_instance_memory(errors: list[FieldError], workspace: Workspace, settings: Settings, model: Model) -> None:
    known = find_instance_type(settings.cloud_provider, workspace.resource.instance_type)
    if known is not None:
        gib = gpus_of_instance_type(known).memory_gib
        _check_memory(errors, workspace, model, gib, max(workspace.resource.count, 1))


def _check_memory(errors: list[FieldError], workspace: Workspace, model: Model, gib: int, nodes: int) -> bool:
    """Whether the weights fit into the GPUs of all nodes together, and into one node where they cannot be spread."""
    fits = True
    if nodes * gib * GIB < model.weight_bytes and BYPASS_RESOURCE_CHECKS not in workspace.metadata.annotations:
        needed = math.ceil(model.weight_bytes / GIB)
        text = (
            f"Insufficient total GPU memory: {nodes} nodes have {nodes * gib}Gi together, "
            f"but preset {model.id} requires at least {needed}Gi"
        )
        errors.append(plainly("resource.instanceType", text))
        fits = False
    if gib * GIB < model.weight_bytes and _is_transformers(workspace):
        text = "Multi-node distributed inference is not supported with Huggingface Transformers runtime"
        errors.append(plainly(RUNTIME_PATH, text))
        fits = False
    return fits


def _model(workspace: Workspace) -> Model | None:
    inference = workspace.inference
    return None if inference is None or inference.preset is None else find_model(inference.preset.name)


def _is_transformers(workspace: Workspace) -> bool:
    return workspace.metadata.annotations.get(RUNTIME) == TRANSFORMERS


def _config(workspace: Workspace, facts: ClusterFacts) -> str | None:
    inference = workspace.inference
    if inference is None or not inference.config:
        return None
    data = facts.config_map(workspace.metadata.namespace, inference.config)
    return None if data is None else data.get(INFERENCE_CONFIG)
