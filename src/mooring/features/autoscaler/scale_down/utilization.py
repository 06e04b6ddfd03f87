"""How much of a node is asked for by its pods: of cpu and memory, or of its GPUs alone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from mooring.features.autoscaler.pods import GPU_RESOURCES, allocatable_gpus, is_daemon_set_pod, is_mirror_pod
from mooring.features.autoscaler.scale_down.drain_rules import is_long_terminating
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.views import AutoscalerNode, AutoscalerPod
from mooring.kube.quantities import milli_value
from mooring.placement.pods import PodInfo

__all__ = ["NodeUtilization", "is_gpu_node", "node_utilization"]


class NodeUtilization(NamedTuple):
    """Shares of what can be allocated; `utilization` is that of the resource that is asked for most."""

    cpu: float
    memory: float
    gpu: float
    resource: str
    utilization: float


def is_gpu_node(node: AutoscalerNode, settings: AutoscalerSettings) -> bool:
    """Whether a node has GPUs, or will have them by what its label says."""
    return settings.gpu_label in (node.metadata.labels or {}) or allocatable_gpus(node)[1] > 0


def node_utilization(
    node: AutoscalerNode,
    pods: Iterable[tuple[AutoscalerPod, PodInfo]],
    ignore_daemon_sets: bool,
    now: datetime,
    settings: AutoscalerSettings,
) -> NodeUtilization | None:
    """None where a node does not say what it has."""
    counted, ignored = [], []
    for pod, info in pods:
        if (ignore_daemon_sets and is_daemon_set_pod(pod)) or (
            settings.ignore_mirror_pods_utilization and is_mirror_pod(pod)
        ):
            ignored.append(info)
        elif not is_long_terminating(pod, now):
            counted.append(info)

    def share(resource: str) -> float | None:
        allocatable = milli_value((node.status.allocatable or {}).get(resource, 0))
        left = allocatable - sum(_milli(info, resource) for info in ignored)
        return sum(_milli(info, resource) for info in counted) / left if allocatable and left else None

    if is_gpu_node(node, settings):
        # A node that shows no GPUs yet uses none of them.
        resource = allocatable_gpus(node)[0] or GPU_RESOURCES[0]
        gpu = share(resource) or 0.0
        return NodeUtilization(0.0, 0.0, gpu, resource, gpu)
    cpu, memory = share("cpu"), share("memory")
    if cpu is None or memory is None:
        return None
    resource, most = ("cpu", cpu) if cpu > memory else ("memory", memory)
    return NodeUtilization(cpu, memory, 0.0, resource, most)


def _milli(info: PodInfo, resource: str) -> int:
    """What a pod asks for, in thousandths."""
    asked = info.template.resources.node
    match resource:
        case "cpu":
            return asked.cpu
        case "memory":
            return 1000 * asked.memory
    return sum(1000 * amount for name, amount in asked.scalars if name == resource)
