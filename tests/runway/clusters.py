"""Clusters of tests, as the placement engine has them."""

from __future__ import annotations

from mooring.api.core.types import Node, Pod
from mooring.kube.objects import Object
from mooring.manifests.views import convert
from mooring.placement.snapshot import Snapshot
from mooring.testing.builders import node

VIEWS = {"Node": Node, "Pod": Pod}
H100 = {
    "kubernetes.io/os": "linux",
    "nvidia.com/gpu.present": "true",
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    "nvidia.com/gpu.count": "8",
    "nvidia.com/gpu.memory": "81920",
}


def snapshot(*objects: Object) -> Snapshot:
    made = Snapshot()
    for each in objects:
        made.add(convert(each, VIEWS[each["kind"]]))
    return made


def gpu_node(name: str, **labels: str) -> Object:
    """A node with H100s that everything knows about."""
    return node(name, gpu=8, labels={**H100, **labels})


def not_ready(made: Object) -> Object:
    condition = {"type": "Ready", "status": "False", "reason": "KubeletNotReady"}
    return {**made, "status": {**made["status"], "conditions": [condition]}}
