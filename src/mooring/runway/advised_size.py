"""The GPUs that a deployment gets where nobody says how many: as few as hold the model on the nodes it selects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from mooring.api.core.types import Node
from mooring.features.workspaces.sizing.gpus import NodeGpus
from mooring.runway.deployments.config import DeploymentConfig
from mooring.runway.models.sizing import Recommended, recommended_for
from mooring.runway.node_facts import gpu_memory_gib, gpus_of, labels_of

__all__ = ["advised_size", "with_advised_size"]


def advised_size(model: str, nodes: Iterable[Node], selector: Mapping[str, str]) -> Recommended | None:
    """The smallest size on any kind of node that is selected; None where model or nodes do not tell."""
    kinds = {
        NodeGpus(gpus, gpus * memory)
        for node in nodes
        if selector.items() <= labels_of(node).items()
        and (gpus := gpus_of(node))
        and (memory := gpu_memory_gib(labels_of(node)))
    }
    sizes = [size for kind in kinds if (size := recommended_for(model, kind)) is not None]
    return min(sizes, key=lambda size: (size.nodes, size.gpus), default=None)


def with_advised_size(config: DeploymentConfig, size: Recommended | None) -> DeploymentConfig:
    """A deployment of this size, unless it says how many GPUs or nodes it wants."""
    if size is None or config.model_source != "vllm" or config.resources.gpu is not None or config.nodes > 1:
        return config
    resources = msgspec.structs.replace(config.resources, gpu=size.gpus)
    return msgspec.structs.replace(config, resources=resources, nodes=size.nodes)
