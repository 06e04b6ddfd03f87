"""What kind of pod a pod is: one of a DaemonSet, a mirror of a file on a node, or one that asks for GPUs."""

from __future__ import annotations

from typing import Final

from mooring.features.autoscaler.views import AutoscalerNode, AutoscalerPod, controller_of
from mooring.kube.quantities import value

__all__ = ["GPU_RESOURCES", "allocatable_gpus", "is_daemon_set_pod", "is_expendable", "is_mirror_pod"]

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


def allocatable_gpus(node: AutoscalerNode) -> tuple[str, int]:
    """The first kind of GPU that a node has to give, and how many; nothing and 0 without any."""
    amounts = node.status.allocatable or {}
    for name in GPU_RESOURCES:
        count = value(amounts.get(name, 0))
        if count:
            return name, count
    return "", 0
