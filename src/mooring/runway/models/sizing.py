"""How many GPUs a model needs on given nodes, by the estimate that Workspaces use."""

from __future__ import annotations

import bisect
from typing import Final

import msgspec

from mooring.features.workspaces.sizing.estimator import EstimateError, estimate_nodes
from mooring.features.workspaces.sizing.gpus import NodeGpus
from mooring.features.workspaces.sizing.models import Model, find_model

__all__ = ["REFERENCE_NODE", "Recommended", "memory_gib", "recommended", "recommended_for"]

# What the catalogue goes by where no cluster is known: eight GPUs of 80 GiB.
REFERENCE_NODE: Final = NodeGpus(8, 640)
_MOST_MEMORY_GIB: Final = 16_384


class Recommended(msgspec.Struct, frozen=True):
    """GPUs of each pod, and pods of one replica: more than one where no node holds the model."""

    gpus: int
    nodes: int = 1


def recommended(model: Model, node: NodeGpus) -> Recommended:
    """The fewest GPUs of one such node that hold the model; where none do, the fewest such nodes."""
    each = node.memory_gib // node.gpus
    # Tensors are split evenly, so that GPUs come in powers of two.
    for gpus in (1 << power for power in range(node.gpus.bit_length())):
        if _nodes(model, NodeGpus(gpus, gpus * each)) == 1:
            return Recommended(gpus)
    return Recommended(node.gpus, max(_nodes(model, node), 1))


def recommended_for(name: str, node: NodeGpus) -> Recommended | None:
    """The same for a model by name; None for one whose size is not known."""
    model = find_model(name)
    return None if model is None else recommended(model, node)


def memory_gib(model: Model) -> int:
    """The memory that one GPU would need to hold the model and one request."""
    return 1 + bisect.bisect_left(
        range(1, _MOST_MEMORY_GIB), True, key=lambda gib: _nodes(model, NodeGpus(1, gib)) == 1
    )


def _nodes(model: Model, node: NodeGpus) -> int:
    """How many such nodes hold the model; none where a GPU is too small for anything."""
    try:
        return estimate_nodes(model, node)
    except EstimateError:
        return 0
