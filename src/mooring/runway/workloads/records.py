"""What is kept of an object that makes pods: who owns it, how many pods it wants, and what it says of itself."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.runway.fleet.records import OwnerRecord
from mooring.runway.shown import Shown

__all__ = ["ConditionShown", "WorkloadRecord", "workload_record"]

_PODS_OF: Final = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"})


class ConditionShown(Shown, frozen=True):
    type: str
    status: str
    reason: str
    message: str


class WorkloadRecord(msgspec.Struct, frozen=True):
    """`wanted` is None where only the objects that it makes know how many pods it wants."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    owner: OwnerRecord | None
    created: str
    deleting: bool
    wanted: int | None
    finished: str
    progress: str
    conditions: tuple[ConditionShown, ...]


def workload_record(obj: Object) -> WorkloadRecord:
    meta, kind = obj["metadata"], str(obj["kind"])
    owners = msgspec.convert(meta.get("ownerReferences") or (), tuple[OwnerRecord, ...])
    conditions = tuple(
        ConditionShown(*(str(each.get(field) or "") for field in ("type", "status", "reason", "message")))
        for each in _status(obj).get("conditions") or ()
    )
    return WorkloadRecord(
        str(obj["apiVersion"]),
        kind,
        meta.get("namespace", ""),
        meta["name"],
        meta.get("uid", ""),
        next((each for each in owners if each.controller), None),
        meta.get("creationTimestamp") or "",
        "deletionTimestamp" in meta,
        _wanted(kind, obj),
        _finished(kind, conditions),
        CATALOG.progress(obj),
        conditions,
    )


def _status(obj: Object) -> dict[str, Any]:
    return obj.get("status") or {}


def _wanted(kind: str, obj: Object) -> int | None:
    spec, status = obj.get("spec") or {}, _status(obj)
    if kind in _PODS_OF:
        return _count(spec.get("replicas"), 1)
    if kind == "DaemonSet":
        return _count(status.get("desiredNumberScheduled"), 0)
    if kind == "Job":
        parallel = _count(spec.get("parallelism"), 1)
        completions = spec.get("completions")
        left = parallel if completions is None else _count(completions, 1) - _count(status.get("succeeded"), 0)
        return max(min(parallel, left), 0)
    return None


def _count(value: object, default: int) -> int:
    return value if isinstance(value, int) else default


def _finished(kind: str, conditions: tuple[ConditionShown, ...]) -> str:
    """Succeeded or Failed for what ends by itself and has ended; empty otherwise."""
    true = {each.type for each in conditions if each.status == "True"}
    if kind == "Job":
        return "Succeeded" if "Complete" in true else "Failed" if "Failed" in true else ""
    return ""
