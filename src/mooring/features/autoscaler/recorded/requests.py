"""Recorded requests read: objects as views, groups, and settings that are named like upstream's flags."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import msgspec

from mooring.api.core.types import Namespace, ObjectMeta
from mooring.api.policy.budgets import PodDisruptionBudget
from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.observation import ClusterObjects, Controllers
from mooring.features.autoscaler.settings import UPSTREAM, AutoscalerSettings, NodeGroupOptions
from mooring.features.autoscaler.views import AutoscalerDaemonSet, AutoscalerNode, AutoscalerPod
from mooring.kube.durations import parse_duration
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object

__all__ = ["read_objects", "read_pods", "read_settings"]

_GIB: Final = 2**30
_OPTIONS: Final = {
    "scaleDownUtilizationThreshold": "scale_down_utilization_threshold",
    "scaleDownGpuUtilizationThreshold": "scale_down_gpu_utilization_threshold",
    "scaleDownUnneededTime": "scale_down_unneeded_time",
    "scaleDownUnreadyTime": "scale_down_unready_time",
    "ignoreDaemonSetsUtilization": "ignore_daemon_sets_utilization",
    "zeroOrMaxNodeScaling": "zero_or_max",
}
_SETTINGS: Final = {
    "maxNodesTotal": "max_nodes_total",
    "maxNodesPerScaleUp": "max_nodes_per_scale_up",
    "balanceSimilarNodeGroups": "balance_similar_node_groups",
    "forceDaemonSets": "force_daemon_sets",
    "priorities": "priorities",
    "ignoreMirrorPodsUtilization": "ignore_mirror_pods_utilization",
    "scaleDownUnreadyEnabled": "scale_down_unready_enabled",
    "skipNodesWithSystemPods": "skip_nodes_with_system_pods",
    "skipNodesWithLocalStorage": "skip_nodes_with_local_storage",
    "skipNodesWithCustomControllerPods": "skip_nodes_with_custom_controller_pods",
    "minReplicaCount": "min_replica_count",
    "maxScaleDownParallelism": "max_scale_down_parallelism",
    "maxDrainParallelism": "max_drain_parallelism",
}
_LISTS: Final = {
    "expander": "expanders",
    "balancingIgnoredLabels": "balancing_ignored_labels",
    "startupTaints": "startup_taints",
}
_CONTROLLERS: Final = {
    "replicaSets": "ReplicaSet",
    "statefulSets": "StatefulSet",
    "jobs": "Job",
    "replicationControllers": "ReplicationController",
    "daemonSets": "DaemonSet",
}
# What the command that made the recordings knew itself, and does not tell in every request.
_NAMESPACES: Final = (
    Namespace(metadata=ObjectMeta(name="default")),
    Namespace(metadata=ObjectMeta(name="kube-system")),
    Namespace(metadata=ObjectMeta(name="other", labels={"team": "ml"})),
)
_NOT_SETTINGS: Final = frozenset({"coresTotal", "memoryTotal", "backoff", *_SETTINGS, *_LISTS, *_OPTIONS})


def read_settings(given: Mapping[str, Any]) -> AutoscalerSettings:
    unknown = given.keys() - _NOT_SETTINGS
    if unknown:
        raise MooringError(f"settings: {sorted(unknown)[0]!r} is not known")
    read: dict[str, Any] = {name: given[flag] for flag, name in _SETTINGS.items() if flag in given}
    read |= {name: tuple(given[flag]) for flag, name in _LISTS.items() if flag in given}
    if "coresTotal" in given:
        read["min_cores"], read["max_cores"] = given["coresTotal"]
    if "memoryTotal" in given:
        read["min_memory"], read["max_memory"] = (_GIB * amount for amount in given["memoryTotal"])
    return UPSTREAM._replace(**read, options=_options(given, NodeGroupOptions()))


def _options(given: Mapping[str, Any], defaults: NodeGroupOptions) -> NodeGroupOptions:
    read: dict[str, Any] = {name: given[flag] for flag, name in _OPTIONS.items() if flag in given}
    return defaults._replace(**{name: _duration(value) for name, value in read.items()})


def _duration(value: Any) -> Any:
    """A duration where it is one."""
    return (parse_duration(value) or timedelta()) if isinstance(value, str) else value


def read_objects(request: Object, settings: AutoscalerSettings) -> ClusterObjects:
    return ClusterObjects(
        [_group(each, settings) for each in request["nodeGroups"]],
        msgspec.convert(request.get("nodes") or [], list[AutoscalerNode]),
        read_pods(request.get("pods")),
        msgspec.convert(request.get("daemonSets") or [], list[AutoscalerDaemonSet]),
        _NAMESPACES,
        _controllers(request),
        msgspec.convert(request.get("podDisruptionBudgets") or [], list[PodDisruptionBudget]),
    )


def _controllers(request: Object) -> Controllers:
    return {
        (kind, each["metadata"]["namespace"], each["metadata"]["name"]): (each.get("spec") or {}).get("replicas")
        for field, kind in _CONTROLLERS.items()
        for each in request.get(field) or ()
    }


def read_pods(objects: list[Object] | None) -> list[AutoscalerPod]:
    return msgspec.convert(objects or [], list[AutoscalerPod])


def _group(given: Object, settings: AutoscalerSettings) -> NodeGroup:
    template = given.get("template")
    return NodeGroup(
        given["name"],
        given["min"],
        given["max"],
        given["target"],
        tuple(given.get("nodes") or ()),
        None if template is None else msgspec.convert(template, AutoscalerNode),
        _options(given.get("options") or {}, settings.options),
    )
