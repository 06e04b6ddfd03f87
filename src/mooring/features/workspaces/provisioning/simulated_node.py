"""The simulated node that a NodeClaim becomes: of its instance type, with the labels and taints that it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from mooring.features.workspaces.kinds import NODE_CLAIM
from mooring.features.workspaces.provisioning.api import NodeClaim
from mooring.features.workspaces.selection import INSTANCE_TYPE_LABEL
from mooring.features.workspaces.sizing.gpus import COUNT_LABEL, MEMORY_LABEL, PRODUCT_LABEL
from mooring.features.workspaces.sizing.instance_types import InstanceType
from mooring.kube.objects import Object
from mooring.workloads.ownerrefs import controller_reference

__all__ = ["claimed_type", "provider_id", "simulated_node"]

# The first word of a GPU's model is its maker, whose device plugin names the resource.
_RESOURCES: Final[Mapping[str, str]] = {
    "NVIDIA": "nvidia.com/gpu",
    "AMD": "amd.com/gpu",
    "AWS": "aws.amazon.com/neuron",
}
# What instance types have beside their GPUs is not known here; this is what clouds usually give with one.
_CPUS_PER_GPU: Final = 24
_MEMORY_GIB_PER_GPU: Final = 220
_PODS: Final = "110"
_DEFAULT_DISK: Final = "1Ti"
_MIB_PER_GIB: Final = 1024


def claimed_type(claim: NodeClaim) -> str:
    """The instance type that a claim asks for; empty where it leaves a choice."""
    return _required_labels(claim).get(INSTANCE_TYPE_LABEL, "")


def provider_id(claim: NodeClaim) -> str:
    return f"mooring://{claim.metadata.name}"


def simulated_node(claim: NodeClaim, known: InstanceType) -> Object:
    """The instance type is written as the claim writes it: it is by that label that the node is found."""
    name = claim.metadata.name
    disk = claim.spec.resources.requests.get("storage", _DEFAULT_DISK)
    maker, _, _ = known.gpu_model.partition(" ")
    capacity = {
        "cpu": str(_CPUS_PER_GPU * known.gpus),
        "memory": f"{_MEMORY_GIB_PER_GPU * known.gpus}Gi",
        "ephemeral-storage": disk,
        "pods": _PODS,
        _RESOURCES[maker]: str(known.gpus),
    }
    return {
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/arch": "amd64",
                **_required_labels(claim),
                **claim.metadata.labels,
                **(_gpu_labels(known) if maker == "NVIDIA" else {}),
            },
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "ownerReferences": [controller_reference(NODE_CLAIM, claim)],
        },
        "spec": {
            "providerID": provider_id(claim),
            "taints": [{k: v for k, v in msgspec.to_builtins(each).items() if v} for each in claim.spec.taints],
        },
        "status": {"capacity": capacity, "allocatable": dict(capacity)},
    }


def _required_labels(claim: NodeClaim) -> dict[str, str]:
    """The labels of which the claim allows one value only."""
    return {
        each.key: each.values[0] for each in claim.spec.requirements if each.operator == "In" and len(each.values) == 1
    }


def _gpu_labels(known: InstanceType) -> dict[str, str]:
    """As GPU feature discovery writes them. The memory is one GPU's, in MiB."""
    return {
        "accelerator": "nvidia",
        PRODUCT_LABEL: known.gpu_model.replace(" ", "-"),
        COUNT_LABEL: str(known.gpus),
        MEMORY_LABEL: str(known.memory_gib * _MIB_PER_GIB // known.gpus),
    }
