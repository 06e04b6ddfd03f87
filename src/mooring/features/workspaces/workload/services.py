"""The Services of a Workspace: one in front of its first pod, and one by which its pods find each other."""

from __future__ import annotations

from mooring.features.workspaces.api import LOAD_BALANCER, NAME_LABEL, RUNTIME, TRANSFORMERS, Workspace
from mooring.features.workspaces.workload.ports import CACHE_EVENTS_PORT, LEADER_PORT, SERVING_PORT
from mooring.kube.objects import Object

__all__ = ["headless_service", "service", "service_names"]


def service_names(workspace: Workspace) -> tuple[str, str]:
    return workspace.metadata.name, f"{workspace.metadata.name}-headless"


def service(workspace: Workspace, owner: Object) -> Object:
    name = workspace.metadata.name
    annotations = workspace.metadata.annotations
    kind = "LoadBalancer" if annotations.get(LOAD_BALANCER) == "True" else "ClusterIP"
    ports = [_port("http", 80, SERVING_PORT), _port("ray", LEADER_PORT), _port("dashboard", 8265)]
    # The events are not encrypted and need no password: they stay inside the cluster.
    if kind == "ClusterIP" and annotations.get(RUNTIME) != TRANSFORMERS:
        ports.append(_port("kv-events", CACHE_EVENTS_PORT))
    selector = {NAME_LABEL: name, "statefulset.kubernetes.io/pod-name": f"{name}-0"}
    spec = {"type": kind, "ports": ports, "selector": selector, "publishNotReadyAddresses": True}
    return {"metadata": _metadata(workspace, name, owner), "spec": spec}


def headless_service(workspace: Workspace, owner: Object) -> Object:
    name = workspace.metadata.name
    spec = {"clusterIP": "None", "selector": {NAME_LABEL: name}, "publishNotReadyAddresses": True}
    return {"metadata": _metadata(workspace, f"{name}-headless", owner), "spec": spec}


def _metadata(workspace: Workspace, name: str, owner: Object) -> Object:
    return {"name": name, "namespace": workspace.metadata.namespace, "ownerReferences": [owner]}


def _port(name: str, port: int, target: int = 0) -> Object:
    return {"name": name, "protocol": "TCP", "port": port, "targetPort": target or port}
