"""Builders of Workspaces, of the nodes that they select, and of NodeClaims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mooring.features.workspaces.api import API_VERSION, KIND
from mooring.features.workspaces.provisioning import api as provisioning
from mooring.kube.objects import Object
from mooring.testing.builders import node

A100 = "Standard_NC24ads_A100_v4"
LABELS = {"apps": "llm"}


def workspace(
    name: str = "llm",
    *,
    preset: str = "",
    image: str = "registry.example.com/llm:1",
    gpu: int = 0,
    count: int | None = None,
    labels: Mapping[str, str] | None = None,
    instance_type: str = "",
    namespace: str = "default",
    annotations: Mapping[str, str] | None = None,
    inference: Mapping[str, Any] | None = None,
    pod: Mapping[str, Any] | None = None,
    **resource: Any,
) -> Object:
    """A Workspace of a preset, or without one of a template with one container.

    `labels` are those of its nodes, {"apps": "llm"} unless others are named; `pod` goes into the template's pod,
    `inference` into that section, and what is left over into `resource`.
    """
    body: Object = {"labelSelector": {"matchLabels": dict(LABELS if labels is None else labels)}, **resource}
    if count is not None:
        body["count"] = count
    if instance_type:
        body["instanceType"] = instance_type
    metadata: Object = {"name": name, "namespace": namespace}
    if annotations:
        metadata["annotations"] = dict(annotations)
    container: Object = {"name": "llm", "image": image}
    if gpu:
        container["resources"] = {"limits": {"nvidia.com/gpu": str(gpu)}}
    template = {"spec": {"containers": [container], **(pod or {})}}
    served: Object = {"preset": {"name": preset}} if preset else {"template": template}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": metadata,
        "resource": body,
        "inference": {**served, **(inference or {})},
    }


def gpu_node(
    name: str,
    *,
    gpu: int = 1,
    memory_mib: int = 81920,
    product: str = "NVIDIA-A100-80GB",
    instance_type: str = "",
    labels: Mapping[str, str] | None = None,
    **parts: Any,
) -> Object:
    """A node with GPUs and the labels that GPU feature discovery writes; `workspace()` selects it by default."""
    found = {
        "nvidia.com/gpu.product": product,
        "nvidia.com/gpu.count": str(gpu),
        "nvidia.com/gpu.memory": str(memory_mib),
        **(LABELS if labels is None else labels),
    }
    if instance_type:
        found["node.kubernetes.io/instance-type"] = instance_type
    return node(name, gpu=gpu, labels=found, **parts)


def node_claim(
    name: str = "claim",
    *,
    instance_type: str = A100,
    storage: str = "100Gi",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> Object:
    """A NodeClaim for one node of an instance type."""
    metadata: Object = {"name": name, "labels": dict(LABELS if labels is None else labels)}
    if annotations:
        metadata["annotations"] = dict(annotations)
    wanted = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": [instance_type]}
    return {
        "apiVersion": provisioning.API_VERSION,
        "kind": provisioning.KIND,
        "metadata": metadata,
        "spec": {
            "nodeClassRef": {"group": "kaito.sh", "kind": "KaitoNodeClass", "name": "default"},
            "requirements": [wanted],
            "resources": {"requests": {"storage": storage}},
            "taints": [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}],
            "expireAfter": "Never",
        },
    }
