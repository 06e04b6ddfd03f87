"""Clusters for the stories of the autoscaler, at noon of one day."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.observation import ClusterObjects
from mooring.features.autoscaler.views import AutoscalerNode, AutoscalerPod
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.testing import builders

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
LONG_AGO = timestamp(NOON - timedelta(hours=5))


def ready_node(name: str, **parts: Any) -> AutoscalerNode:
    made = builders.node(name, **parts)
    made["metadata"]["creationTimestamp"] = LONG_AGO
    made["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": LONG_AGO}]
    return msgspec.convert(made, AutoscalerNode)


def aged_pod(name: str, **parts: Any) -> AutoscalerPod:
    made = builders.pod(name, **parts)
    made["metadata"] |= {"creationTimestamp": LONG_AGO, "uid": name}
    return msgspec.convert(made, AutoscalerPod)


def pods(count: int, prefix: str = "web", **parts: Any) -> list[AutoscalerPod]:
    """Pods of one ReplicaSet."""
    return [aged_pod(f"{prefix}-{i}", owner=f"ReplicaSet/{prefix}", **parts) for i in range(count)]


def pool(name: str, size: int = 0, *, most: int = 10, least: int = 0, **parts: Any) -> NodeGroup:
    """A group whose nodes are called after it; `parts` are those of its nodes."""
    names = tuple(f"{name}-{i}" for i in range(size))
    return NodeGroup(name, least, most, size, names, ready_node(f"{name}-template", **parts))


def nodes_of(*groups: NodeGroup, **parts: Any) -> list[AutoscalerNode]:
    return [ready_node(name, **parts) for group in groups for name in group.nodes]


def cluster(
    groups: Iterable[NodeGroup], nodes: Iterable[AutoscalerNode] = (), bound: Iterable[AutoscalerPod] = (), **parts: Any
) -> ClusterObjects:
    return ClusterObjects([*groups], [*nodes], [*bound], **parts)


def machine_deployment(name: str, *, replicas: int = 0, **annotations: str) -> Object:
    """A pool's object; annotations are written without their prefixes."""
    prefixes = {"min_size": "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"}
    prefixes["max_size"] = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
    named = {
        prefixes.get(key, f"capacity.cluster-autoscaler.kubernetes.io/{key}"): text for key, text in annotations.items()
    }
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta2",
        "kind": "MachineDeployment",
        "metadata": {"name": name, "namespace": "default", "annotations": named},
        "spec": {"replicas": replicas, "template": {"metadata": {}, "spec": {}}},
    }
