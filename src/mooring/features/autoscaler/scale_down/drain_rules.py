"""Whether the pods of a node may be moved: the rules, in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple

from mooring.features.autoscaler.observation import Controllers
from mooring.features.autoscaler.pods import is_daemon_set_pod, is_mirror_pod
from mooring.features.autoscaler.scale_down.disruption_budgets import RemainingBudgets
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.views import AutoscalerPod, controller_of
from mooring.kube.times import moment

__all__ = ["BlockingPod", "BlockingReason", "DrainRules", "is_long_terminating"]

BlockingReason = Literal[
    "ControllerNotFound",
    "MinReplicasReached",
    "NotReplicated",
    "LocalStorageRequested",
    "NotSafeToEvictAnnotation",
    "UnmovableKubeSystemPod",
    "NotEnoughPdb",
]
Verdict = BlockingReason | Literal["skip", "move"]

_SAFE_TO_EVICT: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict"
_SAFE_VOLUMES: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
_REPLICATED: Final = frozenset({"ReplicationController", "Job", "ReplicaSet", "StatefulSet"})
# Kinds that are only known in the group apps.
_OF_APPS: Final = frozenset({"DaemonSet", "StatefulSet"})
_COUNTED: Final = frozenset({"ReplicationController", "ReplicaSet"})
_SYSTEM: Final = "kube-system"
_DEFAULT_GRACE_SECONDS: Final = 30
# How much longer than its grace period a pod may take to end before it counts for nothing.
_EXTRA_GRACE: Final = timedelta(seconds=30)


class BlockingPod(NamedTuple):
    pod: AutoscalerPod
    reason: BlockingReason


class DrainRules(NamedTuple):
    """`controllers` is None where nobody is to be asked whether controllers are there."""

    settings: AutoscalerSettings
    budgets: RemainingBudgets
    controllers: Controllers | None
    now: datetime

    def pods_to_move(self, pods: Iterable[AutoscalerPod]) -> list[AutoscalerPod] | BlockingPod:
        """The pods that go elsewhere, or the first one that keeps the node."""
        moving = []
        for pod in pods:
            verdict = self._verdict(pod)
            if verdict == "move":
                if not is_daemon_set_pod(pod):
                    moving.append(pod)
            elif verdict != "skip":
                return BlockingPod(pod, verdict)
        return moving

    def _verdict(self, pod: AutoscalerPod) -> Verdict:
        settings = self.settings
        if is_mirror_pod(pod) or is_long_terminating(pod, self.now):
            return "skip"
        if settings.skip_nodes_with_custom_controller_pods and (blocked := self._missing_controller(pod)):
            return blocked
        if is_daemon_set_pod(pod) or _safe_to_evict(pod) == "true" or _has_ended(pod):
            return "move"
        if not self._is_replicated(pod):
            return "NotReplicated"
        if settings.skip_nodes_with_system_pods and self._is_system_pod(pod):
            return "move" if self._is_old_enough(pod) else "UnmovableKubeSystemPod"
        if _safe_to_evict(pod) == "false":
            return "NotSafeToEvictAnnotation"
        if settings.skip_nodes_with_local_storage and _has_local_storage(pod):
            return "LocalStorageRequested"
        return "NotEnoughPdb" if self.budgets.forbid(pod) else "move"

    def _missing_controller(self, pod: AutoscalerPod) -> BlockingReason | None:
        """Whether nobody would make the pod again, or so few of them are wanted that none may be missing."""
        controller = controller_of(pod)
        if self.controllers is None or controller is None:
            return None
        kind = controller.kind
        if kind not in _REPLICATED and kind != "DaemonSet":
            return None
        if kind in _OF_APPS and controller.api_version.partition("/")[0] != "apps":
            return None
        key = (kind, pod.metadata.namespace, controller.name)
        if key not in self.controllers:
            return "ControllerNotFound"
        replicas = self.controllers[key]
        if kind in _COUNTED and replicas is not None and replicas < self.settings.min_replica_count:
            return "MinReplicasReached"
        return None

    def _is_replicated(self, pod: AutoscalerPod) -> bool:
        controller = controller_of(pod)
        if controller is None:
            return False
        return controller.kind in _REPLICATED or not self.settings.skip_nodes_with_custom_controller_pods

    def _is_system_pod(self, pod: AutoscalerPod) -> bool:
        return pod.metadata.namespace == _SYSTEM and not self.budgets.guard(pod)

    def _is_old_enough(self, pod: AutoscalerPod) -> bool:
        created = pod.metadata.creation_timestamp
        return created is not None and self.now - moment(created) > self.settings.system_pod_disruption_timeout


def is_long_terminating(pod: AutoscalerPod, now: datetime) -> bool:
    """Whether a pod should have ended long ago."""
    if pod.metadata.deletion_timestamp is None:
        return False
    grace = pod.spec.termination_grace_period_seconds
    seconds = _DEFAULT_GRACE_SECONDS if grace is None else grace
    return moment(pod.metadata.deletion_timestamp) + timedelta(seconds=seconds) + _EXTRA_GRACE < now


def _safe_to_evict(pod: AutoscalerPod) -> str:
    return pod.metadata.annotations.get(_SAFE_TO_EVICT, "")


def _has_ended(pod: AutoscalerPod) -> bool:
    phase, policy = pod.status.phase, pod.spec.restart_policy
    return phase == "Failed" or (phase == "Succeeded" and policy in ("Never", "OnFailure"))


def _has_local_storage(pod: AutoscalerPod) -> bool:
    """Whether something would be lost with the node; volumes in memory and those named as safe would not."""
    safe = pod.metadata.annotations.get(_SAFE_VOLUMES, "").split(",")
    return any(
        volume.host_path is not None or (volume.empty_dir is not None and volume.empty_dir.get("medium") != "Memory")
        for volume in pod.spec.volumes or ()
        if volume.name not in safe
    )
