"""Builders of objects: a test names what matters to it and gets the rest as a usual cluster has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mooring.kube.objects import Object

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
GPU = "nvidia.com/gpu"


def taint(text: str) -> Object:
    """A taint as kubectl writes it: `key=value:Effect` or `key:Effect`."""
    head, _, effect = text.rpartition(":")
    key, _, value = head.partition("=")
    return {"key": key, "effect": effect} | ({"value": value} if value else {})


def toleration(text: str) -> Object:
    """A toleration of exactly one taint, written as the taint is."""
    found = taint(text)
    return found | {"operator": "Equal" if "value" in found else "Exists"}


def node(
    name: str,
    *,
    cpu: str = "8",
    memory: str = "32Gi",
    gpu: int = 0,
    pods: int = 110,
    labels: Mapping[str, str] | None = None,
    taints: Iterable[str] = (),
    zone: str | None = None,
    unschedulable: bool = False,
    hostname: bool = True,
) -> Object:
    """A node. A cordoned one carries the taint that comes with it, as nodes do."""
    allocatable = {"cpu": cpu, "memory": memory, "pods": str(pods), "ephemeral-storage": "100Gi"}
    if gpu:
        allocatable[GPU] = str(gpu)
    every = dict(labels or {})
    if hostname:
        every[HOSTNAME] = name
    if zone is not None:
        every[ZONE] = zone
    spec: Object = {"taints": [taint(text) for text in taints]}
    if unschedulable:
        spec["unschedulable"] = True
        spec["taints"].append(taint("node.kubernetes.io/unschedulable:NoSchedule"))
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": every},
        "spec": spec,
        "status": {"allocatable": allocatable, "capacity": dict(allocatable)},
    }


def pod(
    name: str,
    *,
    cpu: str | None = None,
    memory: str | None = None,
    gpu: int = 0,
    node: str | None = None,
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    priority: int | None = None,
    owner: str | None = None,
    host_port: int | None = None,
    tolerations: Iterable[str] = (),
    **spec: Any,
) -> Object:
    """A pod of one container. `owner` is `Kind/name`; what is left over goes into the spec as it is."""
    amounts = {name: amount for name, amount in (("cpu", cpu), ("memory", memory)) if amount is not None}
    limits: dict[str, str] = {}
    if gpu:
        amounts[GPU] = limits[GPU] = str(gpu)
    container: Object = {"name": "main", "image": "registry.example.com/main:1"}
    container["resources"] = {"requests": amounts, "limits": limits}
    if host_port is not None:
        container["ports"] = [{"containerPort": host_port, "hostPort": host_port, "protocol": "TCP"}]
    body: Object = {"containers": [container], "tolerations": [toleration(text) for text in tolerations], **spec}
    if node is not None:
        body["nodeName"] = node
    if priority is not None:
        body["priority"] = priority
    metadata: Object = {"name": name, "namespace": namespace, "labels": dict(labels or {})}
    if owner is not None:
        kind, _, owner_name = owner.partition("/")
        metadata["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": kind, "name": owner_name, "uid": owner_name, "controller": True}
        ]
    phase = "Pending" if node is None else "Running"
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": body, "status": {"phase": phase}}


def deployment(name: str, template: Object, *, replicas: int = 1) -> Object:
    """A Deployment of a pod."""
    metadata = template["metadata"]
    labels = metadata["labels"] or {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": metadata["namespace"]},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": template["spec"]},
        },
    }
