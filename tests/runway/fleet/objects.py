"""Nodes, pods and workloads as an API server sends them, and the records made of them."""

from __future__ import annotations

from typing import Any

import msgspec

from mooring.runway.fleet.records import FleetPod, NodeRecord, node_record, pod_record
from mooring.runway.workloads.records import WorkloadRecord, workload_record

__all__ = ["node", "pod", "raw", "workload"]


def raw(obj: dict[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(obj))


def node(name: str = "n1", *, gpus: int = 8, ready: bool = True, **labels: str) -> NodeRecord:
    allocatable = {"cpu": "16", "memory": "64Gi", "pods": "110", **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    condition = {"type": "Ready", "status": str(ready), "lastTransitionTime": "2026-01-01T00:00:00Z"}
    status = {"allocatable": allocatable, "conditions": [condition]}
    return node_record(raw({"metadata": {"name": name, "uid": name, "labels": labels}, "spec": {}, "status": status}))


def pod(
    name: str = "p1",
    on: str = "",
    *,
    gpus: int = 0,
    cpu: str = "1",
    owner: WorkloadRecord | FleetPod | None = None,
    status: dict[str, Any] | None = None,
    labels: dict[str, str] | None = None,
) -> FleetPod:
    limits = {"cpu": cpu, **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    metadata: dict[str, Any] = {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": labels or {}}
    if owner is not None:
        kind = owner.kind if isinstance(owner, WorkloadRecord) else "Pod"
        metadata["ownerReferences"] = [{"kind": kind, "name": owner.name, "uid": owner.uid, "controller": True}]
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]} if on else {"phase": "Pending"}
    spec = {"nodeName": on, "containers": [{"name": "main", "resources": {"requests": limits, "limits": limits}}]}
    return pod_record(raw({"metadata": metadata, "spec": spec, "status": status or running}))


def workload(
    kind: str, name: str, owner: WorkloadRecord | FleetPod | None = None, *, api_version: str = "apps/v1", **parts: Any
) -> WorkloadRecord:
    metadata: dict[str, Any] = {"name": name, "namespace": "default", "uid": f"uid-{kind}-{name}"}
    if owner is not None:
        above = owner.kind if isinstance(owner, WorkloadRecord) else "Pod"
        metadata["ownerReferences"] = [{"kind": above, "name": owner.name, "uid": owner.uid, "controller": True}]
    return workload_record({"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts})
