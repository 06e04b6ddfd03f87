"""Builders of Deployments and their ReplicaSets, and what a decision about them holds."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from mooring.api.kinds import Key
from mooring.builtin.apps.deployment.controller import reconcile
from mooring.builtin.apps.deployment.replicasets import DESIRED, MAXIMUM, REVISION
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Decision, Patch
from mooring.testing.views import NOON, view_of

KEY = Key("default", "web")
UID = "Deployment/default/web"
LABELS = {"app": "web"}


def template(image: str = "web:1", **labels: str) -> Object:
    return {"metadata": {"labels": {**LABELS, **labels}}, "spec": {"containers": [{"name": "main", "image": image}]}}


def deployment(replicas: int = 3, image: str = "web:1", status: Object | None = None, **spec: Any) -> Object:
    body = {
        "replicas": replicas,
        "selector": {"matchLabels": LABELS},
        "template": template(image),
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
        **spec,
    }
    metadata = {"name": "web", "namespace": "default", "generation": 1, "uid": UID, "annotations": {REVISION: "1"}}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": body, "status": status or {},
    }  # fmt: skip


def rolling(surge: int | str, unavailable: int | str) -> Object:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def replica_set(
    name: str,
    image: str,
    replicas: int,
    available: int | None = None,
    *,
    revision: int = 1,
    desired: int = 10,
    most: int = 13,
    age: int = 100,
    owned: bool = True,
    actual: int | None = None,
) -> Object:
    metadata: Object = {
        "name": f"web-{name}",
        "namespace": "default",
        "generation": 1,
        "labels": {**LABELS, "pod-template-hash": name},
        "creationTimestamp": timestamp(NOON - timedelta(seconds=age)),
        "annotations": {REVISION: str(revision), DESIRED: str(desired), MAXIMUM: str(most)},
    }
    if owned:
        metadata["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": UID, "controller": True}
        ]
    labels = {**LABELS, "pod-template-hash": name}
    ready = replicas if available is None else available
    count = replicas if actual is None else actual
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": metadata,
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": template(image, **{"pod-template-hash": name}),
        },
        "status": {
            "replicas": count,
            "readyReplicas": ready,
            "availableReplicas": ready,
            "terminatingReplicas": 0,
            "observedGeneration": 1,
        },
    }


def decide(*objects: Object) -> Decision:
    return reconcile(KEY, view_of(objects), NOON)


def said(decision: Decision) -> Object:
    (write,) = decision.status
    assert isinstance(write, Patch)
    status: Object = write.body["status"]
    return status


def reasons(obj: Object) -> dict[str, tuple[str, str]]:
    return {c["type"]: (c["status"], c["reason"]) for c in obj.get("conditions", ())}


COMPLETE = {
    "observedGeneration": 1,
    "replicas": 10,
    "updatedReplicas": 10,
    "readyReplicas": 10,
    "availableReplicas": 10,
    "terminatingReplicas": 0,
}
