"""What a preview of a deployment costs on a large cluster: CPU time, since others may use the machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from mooring.api.core.types import Node, Pod
from mooring.manifests.views import convert
from mooring.placement.snapshot import Snapshot
from mooring.runway.capacity import cluster_capacity
from mooring.runway.fit import deployment_fit
from mooring.runway.providers.registry import read_deployment
from mooring.runway.settings import DEFAULT_SETTINGS
from mooring.testing.builders import node, pod

NODES = 5_000
_GPUS = 8
_LABELS = {
    "kubernetes.io/os": "linux",
    "nvidia.com/gpu.present": "true",
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    "nvidia.com/gpu.count": str(_GPUS),
    "nvidia.com/gpu.memory": "81920",
}


def measured(nodes: int = NODES) -> dict[str, float]:
    """Seconds of CPU for a model that lands, for one that does not, with advice, and for the free GPUs."""
    small = {"name": "phi", "modelId": "phi-4"}
    large = {"name": "llama", "modelId": "llama-3.3-70b-instruct", "resources": {"gpu": _GPUS}, "replicas": 4}
    found = {}
    for what, body in (("lands", small), ("cannot", large)):
        config, cluster = read_deployment(body, embedded=True).config, _cluster(nodes)
        found[what] = _cpu(partial(deployment_fit, config, DEFAULT_SETTINGS, cluster))
    cluster = _cluster(nodes)
    found["capacity"] = _cpu(lambda: cluster_capacity(cluster.cluster))
    return found


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _cluster(nodes: int) -> Snapshot:
    """Every node has between none and seven GPUs free."""
    made = Snapshot(nodes)
    for number in range(nodes):
        name = f"gpu-{number:05}"
        made.add(convert(node(name, gpu=_GPUS, labels=_LABELS), Node))
        made.add(convert(pod(f"busy-{number:05}", gpu=1 + number % _GPUS, node=name), Pod))
    return made
