"""The GPUs of a node: from the labels that GPU feature discovery writes, or from what is known of an instance type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from mooring.features.workspaces.sizing.instance_types import InstanceType
from mooring.kube.errors import MooringError

__all__ = [
    "COUNT_LABEL",
    "MEMORY_LABEL",
    "PRODUCT_LABEL",
    "GpuError",
    "NodeGpus",
    "gpus_of_instance_type",
    "gpus_of_labels",
    "partitioned",
]

PRODUCT_LABEL: Final = "nvidia.com/gpu.product"
COUNT_LABEL: Final = "nvidia.com/gpu.count"
MEMORY_LABEL: Final = "nvidia.com/gpu.memory"
_MIG_PROFILE: Final = re.compile(r"\d+g\.(\d+)gb(?:\+\w+)?").fullmatch
_NUMBER: Final = re.compile(r"[+-]?\d+").fullmatch
_MIB_PER_GIB: Final = 1024


class GpuError(MooringError):
    """The GPUs of a node cannot be told from its labels."""


class NodeGpus(NamedTuple):
    """All GPUs of one node, or the part of them that a Workspace asks for.

    `sliced`: the node's GPUs are divided into MIG slices, which no model can span; `profile` names the slice.
    """

    gpus: int
    memory_gib: int
    product: str = ""
    sliced: bool = False
    profile: str = ""


def gpus_of_labels(node: str, labels: Mapping[str, str]) -> NodeGpus:
    """The GPUs of a node. Its memory label is one GPU's, in MiB, and is rounded to whole GiB."""
    missing = [key for key in (PRODUCT_LABEL, COUNT_LABEL, MEMORY_LABEL) if not labels.get(key)]
    if missing:
        raise GpuError(
            f"missing required nvidia.com labels on node {node}: {', '.join(missing)}; "
            "GPU feature discovery writes them, or label the node by hand"
        )
    count, memory = _number(node, labels, COUNT_LABEL), _number(node, labels, MEMORY_LABEL)
    gib = (memory + _MIB_PER_GIB // 2) // _MIB_PER_GIB
    return NodeGpus(count, gib * count, labels[PRODUCT_LABEL], _is_sliced(labels))


def gpus_of_instance_type(known: InstanceType) -> NodeGpus:
    return NodeGpus(known.gpus, known.memory_gib, known.gpu_model)


def partitioned(node: NodeGpus, *, count: int, profile: str) -> NodeGpus:
    """The part of a node's GPUs that one pod gets: `count` whole ones, or one slice of a MIG profile."""
    if profile:
        found = _MIG_PROFILE(profile)
        if found is None:
            raise GpuError(f"partition.profile {profile!r} is no MIG profile; one is written as 2g.24gb")
        return NodeGpus(1, int(found[1]), node.product, True, profile)
    if count > node.gpus:
        raise GpuError(f"partition.count ({count}) exceeds GPUs available on node ({node.gpus})")
    return node._replace(gpus=count, memory_gib=node.memory_gib // node.gpus * count)


def _is_sliced(labels: Mapping[str, str]) -> bool:
    config = labels.get("nvidia.com/mig.config")
    return bool(config) and config != "all-disabled" and labels.get("nvidia.com/mig.config.state") == "success"


def _number(node: str, labels: Mapping[str, str], key: str) -> int:
    if not _NUMBER(labels[key]):
        raise GpuError(f"invalid {key} value on node {node}: {labels[key]}; a whole number is expected")
    return int(labels[key])
