"""Workspaces and nodes of one pool, as stories about labels need them."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.testing import workspaces as builders


def gpu_node(name: str, *, pool: str = "gpu-a", ready: bool = True, instance_type: str = "") -> Object:
    """A node with one A100; with an empty pool nothing selects it."""
    made = builders.gpu_node(name, labels={"pool": pool} if pool else {}, instance_type=instance_type)
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
    served: Object = {"image": image} if image else {"preset": preset}
    made = builders.workspace(name, count=count, labels={"pool": pool}, **served, **resource)
    return {**made, "metadata": {**made["metadata"], **(metadata or {})}}
