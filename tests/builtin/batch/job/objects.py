"""Builders of Jobs and their pods, and what a decision about them holds."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from mooring.api.kinds import Key
from mooring.builtin.batch.job.controller import reconcile
from mooring.builtin.batch.job.pods import TRACKING
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Create, Decision, Patch
from mooring.testing.views import NOON, view_of

KEY = Key("default", "train")
UID = "Job/default/train"
INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"


def job(status: Object | None = None, deleting: bool = False, **spec: Any) -> Object:
    template = {"metadata": {"labels": {"job-name": "train"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    body = {"parallelism": 1, "completions": 1, "backoffLimit": 6, "template": template, **spec}
    metadata: Object = {"name": "train", "namespace": "default"}
    if deleting:
        metadata["deletionTimestamp"] = timestamp(NOON)
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": body, "status": status or {}}


def pod(
    name: str,
    phase: str = "Running",
    *,
    index: int | None = None,
    failures: int = 0,
    tracked: bool = True,
    deleting: bool = False,
    code: int | None = None,
    ended: datetime = NOON,
    conditions: list[Object] | None = None,
    ready: bool = False,
    restarts: int = 0,
) -> Object:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": UID, "controller": True}
    metadata: Object = {"name": name, "namespace": "default", "uid": name, "ownerReferences": [owner]}
    metadata["creationTimestamp"] = timestamp(NOON - timedelta(minutes=1))
    metadata["finalizers"] = [TRACKING] if tracked else []
    if index is not None:
        metadata["annotations"] = {INDEX: str(index), FAILURES: str(failures)}
    if deleting:
        metadata["deletionTimestamp"] = timestamp(NOON)
    state: Object = {}
    if phase in ("Succeeded", "Failed"):
        exit_code = code if code is not None else int(phase == "Failed")
        state = {"terminated": {"exitCode": exit_code, "finishedAt": timestamp(ended)}}
    containers = [{"name": "c", "state": state, "ready": ready, "restartCount": restarts}]
    said = [*(conditions or []), *([{"type": "Ready", "status": "True"}] if ready else [])]
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": {"nodeName": "n1", "containers": [{"name": "c"}]},
        "status": {"phase": phase, "containerStatuses": containers, "conditions": said},
    }  # fmt: skip


def decide(*objects: Object, now: datetime = NOON) -> Decision:
    return reconcile(KEY, view_of(objects, now), now)


def made(decision: Decision) -> list[Object]:
    return [write.object for write in decision.children if isinstance(write, Create)]


def let_go(decision: Decision) -> list[str]:
    """Pods that lose their finalizer."""
    return [w.key.name for w in (*decision.children, *decision.release) if isinstance(w, Patch)]


def said(decision: Decision) -> Object:
    return decision.status[0].body["status"] if decision.status and isinstance(decision.status[0], Patch) else {}


def conditions(decision: Decision) -> dict[str, str]:
    return {c["type"]: c["reason"] for c in said(decision).get("conditions", [])}
