"""How many nodes a model needs: its weights and the cache of one request must fit into the memory of their GPUs.

vLLM takes a share of every GPU and keeps some of it for itself and for the cache; weights are spread over what is left.
The numbers are those of upstream's estimator.
"""

from __future__ import annotations

import math
from typing import Final

from mooring.features.workspaces.sizing.gpus import NodeGpus
from mooring.features.workspaces.sizing.models import GIB, Model
from mooring.kube.errors import MooringError

__all__ = ["DEFAULT_CONTEXT_TOKENS", "EstimateError", "estimate_nodes"]

DEFAULT_CONTEXT_TOKENS: Final = 2048
_MEMORY_UTILIZATION: Final = 0.84
_BASE_OVERHEAD_BYTES: Final = 2.3 * GIB
# Weights take a little more room in memory than on disk, and a GPU is never filled to the brim.
_WEIGHTS_IN_MEMORY: Final = 1.02
_FRAGMENTATION: Final = 1.05


class EstimateError(MooringError):
    """No number of such nodes is enough."""


def estimate_nodes(model: Model, node: NodeGpus, context_tokens: int = DEFAULT_CONTEXT_TOKENS) -> int:
    """The fewest nodes with these GPUs that hold the model."""
    available = _MEMORY_UTILIZATION * node.memory_gib * GIB / node.gpus
    cache = context_tokens * model.bytes_per_token / node.gpus
    overhead = _BASE_OVERHEAD_BYTES + cache
    if available <= overhead:
        raise EstimateError(
            f"GPU memory {node.memory_gib * GIB // node.gpus} bytes is too small, needs at least "
            f"{_gib(overhead)} GB overhead (base: {_gib(_BASE_OVERHEAD_BYTES)}GB + KV Cache: {_gib(cache)} GB)"
        )
    weights = _WEIGHTS_IN_MEMORY * float(model.weight_bytes)
    least = math.floor(weights / ((available - overhead) / _FRAGMENTATION)) + 1
    nodes = math.ceil(least / node.gpus)
    if node.sliced and nodes > 1:
        raise EstimateError(
            f"model needs {_gib(weights * _FRAGMENTATION + overhead)}GB but MIG profile {node.profile} only provides "
            f"{node.memory_gib}GB ({_gib(available)}GB available after vLLM gpu-memory-utilization)"
        )
    return nodes


def _gib(amount: float) -> str:
    return f"{amount / GIB:.1f}"
