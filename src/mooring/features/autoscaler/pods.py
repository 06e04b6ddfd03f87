"""What kind of pod a pod is: of a DaemonSet, a mirror of a file on a node, one without a node, or with GPUs."""

from __future__ import annotations

from typing import Final

from mooring.features.autoscaler.views import AutoscalerNode, AutoscalerPod, controller_of
from mooring.kube.quantities import value

__all__ = [
    "GPU_RESOURCES",
    "allocatable_gpus",
    "has_ended",
    "is_daemon_set_pod",
    "is_expendable",
    "is_mirror_pod",
    "is_unschedulable",
]

GPU_RESOURCES: Final = (
    "nvidia.com/gpu",
    "habana.ai/gaudi",
    "gpu.intel.com/xe",
    "amd.com/gpu",
    "microsoft.com/directx",
)
_DAEMON_SET_POD: Final = "cluster-autoscaler.kubernetes.io/daemonset-pod"
_MIRROR: Final = "kubernetes.io/config.mirror"


def is_daemon_set_pod(pod: AutoscalerPod) -> bool:
    controller = controller_of(pod)
    if controller is not None and controller.kind == "DaemonSet":
        return True
    return pod.metadata.annotations.get(_DAEMON_SET_POD) == "true"


def is_mirror_pod(pod: AutoscalerPod) -> bool:
    return _MIRROR in pod.metadata.annotations


def is_expendable(pod: AutoscalerPod, cutoff: int) -> bool:
    return pod.spec.priority is not None and pod.spec.priority < cutoff


def has_ended(pod: AutoscalerPod) -> bool:
    return pod.status.phase in ("Succeeded", "Failed")


def is_unschedulable(pod: AutoscalerPod) -> bool:
    """Whether a scheduler has found no node for a pod that still waits for one."""
    if pod.spec.node_name or pod.metadata.deleting or has_ended(pod):
        return False
    return any(
        each.type == "PodScheduled" and each.status == "False" and each.reason == "Unschedulable"
        for each in pod.status.conditions or ()
    )


def allocatable_gpus(node: AutoscalerNode) -> tuple[str, int]:
    """The first kind of GPU that a node has to give, and how many; nothing and 0 without any."""
    amounts = node.status.allocatable or {}
    for name in GPU_RESOURCES:
        count = value(amounts.get(name, 0))
        if count:
            return name, count
    return "", 0
