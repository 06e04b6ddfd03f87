"""How many nodes a Workspace needs: what its model needs, or what it says.

The answer is found once and kept in its status: a node that comes or goes later does not change the workload.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mooring.api.core.views import Node
from mooring.features.workspaces.api import RUNTIME, TRANSFORMERS, Workspace
from mooring.features.workspaces.condition_messages import listed
from mooring.features.workspaces.selection import INSTANCE_TYPE_LABEL, is_usable
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.sizing.estimator import DEFAULT_CONTEXT_TOKENS, EstimateError, estimate_nodes
from mooring.features.workspaces.sizing.gpus import NodeGpus, gpus_of_instance_type, gpus_of_labels, partitioned
from mooring.features.workspaces.sizing.instance_types import find_instance_type, instance_types
from mooring.features.workspaces.sizing.models import Model, find_model
from mooring.manifests.errors import ManifestError
from mooring.manifests.loader import load

__all__ = ["context_tokens", "estimated_nodes"]


def estimated_nodes(workspace: Workspace, settings: Settings, matching: Sequence[Node], config: str | None) -> int:
    """The nodes that the workload needs, by what upstream's estimator says. Raises where none can be told.

    `matching` are the nodes that the selector finds; `config` is the text of its inference configuration.
    """
    count = max(workspace.resource.count, 1)
    inference = workspace.inference
    if workspace.status.target_node_count:
        return workspace.status.target_node_count
    if inference is None:
        return 1
    if inference.preset is None:
        return count
    model = _model(inference.preset.name)
    if workspace.metadata.annotations.get(RUNTIME) == TRANSFORMERS:
        return count
    gpus = _gpus(workspace, settings, matching)
    return estimate_nodes(model, gpus, context_tokens(config)) if gpus.memory_gib else count


def context_tokens(config: str | None) -> int:
    """The longest context that a request may have: vLLM's `max-model-len`, if it is a number above zero."""
    try:
        found: Any = load(config or "")
    except ManifestError:
        return DEFAULT_CONTEXT_TOKENS
    vllm = found.get("vllm") if isinstance(found, dict) else None
    said = vllm.get("max-model-len") if isinstance(vllm, dict) else None
    text = "" if isinstance(said, bool) else str(said)
    return int(text) if text.isascii() and text.isdecimal() and int(text) else DEFAULT_CONTEXT_TOKENS


def _model(name: str) -> Model:
    found = find_model(name)
    if found is None:
        raise EstimateError(f"model is not registered: {name}")
    return found


def _gpus(workspace: Workspace, settings: Settings, matching: Sequence[Node]) -> NodeGpus:
    """The GPUs that one pod gets: of the named instance type, or of the first ready node."""
    found = _provisioned_gpus(workspace, settings, matching) if settings.provisions else _brought_gpus(matching)
    if found is None:
        raise EstimateError("no ready nodes found, unable to determine GPU configuration")
    partition = workspace.resource.partition
    if partition is None:
        return found
    return partitioned(found, count=partition.count, profile=partition.profile if partition.mode == "mig" else "")


def _provisioned_gpus(workspace: Workspace, settings: Settings, matching: Sequence[Node]) -> NodeGpus:
    """Of a type that is not known, a node that was brought tells the GPUs."""
    name, cloud = workspace.resource.instance_type, settings.cloud_provider
    known = find_instance_type(cloud, name)
    if known is not None:
        return gpus_of_instance_type(known)
    found = _brought_gpus([node for node in matching if node.metadata.labels.get(INSTANCE_TYPE_LABEL) == name])
    if found is None:
        raise EstimateError(
            f"the GPUs of instance type {name!r} are not known, and no node of it is ready; bring one, or choose a "
            f"type that is known on {cloud}: {listed(instance_types(cloud))}"
        )
    return found


def _brought_gpus(nodes: Sequence[Node]) -> NodeGpus | None:
    """The GPUs of the first ready node."""
    ready = next(filter(is_usable, nodes), None)
    return None if ready is None else gpus_of_labels(ready.metadata.name, ready.metadata.labels)
