"""What people ask of a node: whether it is ready, which pool it is of, and which GPUs it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mooring.api.core.types import Node
from mooring.features.workspaces.sizing.gpus import COUNT_LABEL, MEMORY_LABEL, PRODUCT_LABEL
from mooring.kube.quantities import value
from mooring.runway.deployments.config import GPU_RESOURCE

__all__ = [
    "COUNT_LABEL",
    "MEMORY_LABEL",
    "PRODUCT_LABEL",
    "gpu_memory_gib",
    "gpus_of",
    "is_ready",
    "labels_of",
    "pool_of",
]

# By which clouds and people say to which pool a node belongs, the most particular first.
POOL_LABELS: Final = (
    "node.kubernetes.io/pool",
    "karpenter.sh/nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
)
_NO_POOL: Final = "default"
_OUTAGES: Final = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
_MIB_PER_GIB: Final = 1024


def labels_of(node: Node) -> Mapping[str, str]:
    return node.metadata.labels or {}


def is_ready(node: Node) -> bool:
    """By its condition; a file that tells none has nodes that work, unless a taint says otherwise."""
    for condition in node.status.conditions or ():
        if condition.type == "Ready":
            return condition.status == "True"
    return not any(taint.key in _OUTAGES for taint in node.spec.taints or ())


def pool_of(labels: Mapping[str, str]) -> str:
    return next((labels[label] for label in POOL_LABELS if labels.get(label)), _NO_POOL)


def gpus_of(node: Node) -> int:
    """The GPUs that pods can be given."""
    return value((node.status.allocatable or {}).get(GPU_RESOURCE, 0))


def gpu_memory_gib(labels: Mapping[str, str]) -> int:
    """The memory of one GPU; 0 where no label tells it."""
    text = labels.get(MEMORY_LABEL) or ""
    return round(int(text) / _MIB_PER_GIB) if text.isascii() and text.isdecimal() else 0
