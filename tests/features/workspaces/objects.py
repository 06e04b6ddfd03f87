"""Workspaces and nodes for them, as people write them."""

from __future__ import annotations

from typing import Any, Final

from mooring.features.workspaces.api import API_VERSION, KIND
from mooring.kube.objects import Object
from mooring.testing.builders import node

A100: Final = {
    "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
    "nvidia.com/gpu.count": "1",
    "nvidia.com/gpu.memory": "81920",
}
INSTANCE_TYPE_LABEL: Final = "node.kubernetes.io/instance-type"


def gpu_node(name: str, *, pool: str = "gpu-a", ready: bool = True, instance_type: str = "") -> Object:
    """A node with one A100; with an empty pool nothing selects it."""
    labels = {**A100, **({"pool": pool} if pool else {})}
    if instance_type:
        labels[INSTANCE_TYPE_LABEL] = instance_type
    made = node(name, gpu=1, labels=labels)
    condition = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    if not ready:
        condition |= {"status": "False", "reason": "KubeletNotReady"}
    return {**made, "status": {**made["status"], "conditions": [condition]}}


def workspace(
    name: str = "chat",
    *,
    preset: str = "phi-4",
    image: str = "",
    pool: str = "gpu-a",
    count: int = 1,
    metadata: Object | None = None,
    **resource: Any,
) -> Object:
    """A model of the catalogue, or a pod with this image in its place."""
    inference: Object = {"preset": {"name": preset}}
    if image:
        inference = {"template": {"spec": {"containers": [{"name": "model", "image": image}]}}}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "namespace": "default", **(metadata or {})},
        "resource": {"count": count, "labelSelector": {"matchLabels": {"pool": pool}}, **resource},
        "inference": inference,
    }
