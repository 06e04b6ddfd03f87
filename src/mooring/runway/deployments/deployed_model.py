"""A deployment as it is shown: its phase, its pods, and where it answers. Upstream names the fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from mooring.kube.objects import Object

__all__ = ["DeployedModel", "DeployedPod", "Phase", "ReplicaCounts", "deployed_pods", "trouble"]

Phase = Literal["Pending", "Deploying", "Running", "Failed", "Terminating"]

# What a container waits for in the ordinary course of things.
_STARTING: Final = frozenset({"ContainerCreating", "PodInitializing", ""})


class ReplicaCounts(msgspec.Struct, frozen=True):
    desired: int
    ready: int
    available: int


class DeployedPod(msgspec.Struct, frozen=True, omit_defaults=True):
    """`reason` and `message` say why it does not run; empty where it does."""

    name: str
    phase: str
    ready: bool
    restarts: int
    node: str = ""
    reason: str = ""
    message: str = ""


class DeployedModel(msgspec.Struct, frozen=True, rename="camel"):
    """`frontend_service` is `name:port` of the Service that answers."""

    name: str
    namespace: str
    provider: str
    model_id: str
    served_model_name: str
    engine: str
    mode: str
    phase: Phase
    message: str
    replicas: ReplicaCounts
    conditions: tuple[Object, ...]
    pods: tuple[DeployedPod, ...]
    created_at: str
    frontend_service: str


def deployed_pods(pods: Iterable[Object]) -> tuple[DeployedPod, ...]:
    """Pods by name, as far as a deployment shows them."""
    return tuple(sorted(map(_deployed_pod, pods), key=lambda pod: pod.name))


def trouble(pods: Iterable[DeployedPod]) -> str:
    """What is wrong with the first pod that does not run; empty where nothing is."""
    found = next((pod for pod in pods if pod.reason), None)
    return "" if found is None else f"pod {found.name}: {found.reason}{f': {found.message}' if found.message else ''}"


def _deployed_pod(pod: Object) -> DeployedPod:
    status = pod.get("status") or {}
    conditions = {each.get("type"): each for each in status.get("conditions") or ()}
    containers = status.get("containerStatuses") or ()
    reason, message = _trouble(status, conditions, containers)
    return DeployedPod(
        name=pod["metadata"]["name"],
        phase="Terminating" if pod["metadata"].get("deletionTimestamp") else status.get("phase") or "Pending",
        ready=(conditions.get("Ready") or {}).get("status") == "True",
        restarts=sum(each.get("restartCount") or 0 for each in containers),
        node=(pod.get("spec") or {}).get("nodeName") or "",
        reason=reason,
        message=message,
    )


def _trouble(status: Object, conditions: Object, containers: Iterable[Object]) -> tuple[str, str]:
    """What the scheduler, the kubelet or a container complains of."""
    scheduled = conditions.get("PodScheduled") or {}
    if scheduled.get("status") == "False":
        return scheduled.get("reason") or "Unschedulable", scheduled.get("message") or ""
    for each in (*(status.get("initContainerStatuses") or ()), *containers):
        waiting = (each.get("state") or {}).get("waiting") or {}
        if (waiting.get("reason") or "") not in _STARTING:
            return waiting["reason"], waiting.get("message") or ""
    if status.get("phase") == "Failed":
        return status.get("reason") or "Failed", status.get("message") or ""
    return "", ""
