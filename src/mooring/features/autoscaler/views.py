"""Nodes and pods as the autoscaler reads them: what placement reads, and what decides whether they may go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from mooring.api.core import types as core
from mooring.api.core.types import Labels, ResourceList, View
from mooring.api.meta import Condition

__all__ = ["AutoscalerNode", "AutoscalerPod", "AutoscalerTaint", "ControllerRef", "controller_of"]


class ControllerRef(core.OwnerReference, frozen=True):
    uid: str = ""


class AutoscalerMeta(core.ObjectMeta, frozen=True):
    uid: str = ""
    annotations: Labels = msgspec.field(default_factory=dict)
    owner_references: tuple[ControllerRef, ...] | None = None

    @property
    def controller(self) -> ControllerRef | None:
        """The owner that manages the object."""
        for owner in self.owner_references or ():
            if owner.controller:
                return owner
        return None

    @property
    def deleting(self) -> bool:
        return self.deletion_timestamp is not None


class LocalVolume(core.Volume, frozen=True):
    """With the sources that live on the node."""

    empty_dir: Mapping[str, Any] | None = None
    host_path: Mapping[str, Any] | None = None


class AutoscalerPodSpec(core.PodSpec, frozen=True):
    volumes: tuple[LocalVolume, ...] | None = None
    restart_policy: str = ""
    priority_class_name: str = ""
    termination_grace_period_seconds: int | None = None


class AutoscalerPodStatus(core.PodStatus, frozen=True):
    conditions: tuple[Condition, ...] | None = None


class AutoscalerPod(core.Pod, frozen=True):
    metadata: AutoscalerMeta = AutoscalerMeta()
    spec: AutoscalerPodSpec = AutoscalerPodSpec()
    status: AutoscalerPodStatus = AutoscalerPodStatus()

    @property
    def key(self) -> str:
        return f"{self.metadata.namespace}/{self.metadata.name}"


class AutoscalerTaint(core.Taint, frozen=True):
    time_added: str | None = None


class AutoscalerNodeSpec(core.NodeSpec, frozen=True):
    taints: tuple[AutoscalerTaint, ...] | None = None
    provider_id: str = msgspec.field(default="", name="providerID")


class AutoscalerNodeStatus(core.NodeStatus, frozen=True):
    capacity: ResourceList | None = None
    conditions: tuple[Condition, ...] | None = None


class AutoscalerNode(core.Node, frozen=True):
    metadata: AutoscalerMeta = AutoscalerMeta()
    spec: AutoscalerNodeSpec = AutoscalerNodeSpec()
    status: AutoscalerNodeStatus = AutoscalerNodeStatus()

    @property
    def name(self) -> str:
        return self.metadata.name


class AutoscalerDaemonSetSpec(View, frozen=True):
    template: AutoscalerPod = AutoscalerPod()


class AutoscalerDaemonSet(View, frozen=True):
    metadata: AutoscalerMeta = AutoscalerMeta()
    spec: AutoscalerDaemonSetSpec = AutoscalerDaemonSetSpec()


def controller_of(pod: AutoscalerPod) -> ControllerRef | None:
    """The owner that manages a pod."""
    return pod.metadata.controller
