"""Builders of StatefulSets, their pods, claims and revisions, and what a decision about them holds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from mooring.api.kinds import Key
from mooring.builtin.apps.statefulset.controller import reconcile
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Create, Decision, Delete, Patch
from mooring.testing.views import NOON, view_of
from mooring.workloads.revisions import content_hash

KEY = Key("default", "web")
UID = "StatefulSet/default/web"
LABELS = {"app": "web"}


def template(image: str = "web:1") -> Object:
    return {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "main", "image": image}]}}


def name_of(image: str) -> str:
    return f"web-{content_hash(template(image), 0)}"


OLD, NEW = name_of("web:1"), name_of("web:2")


def stateful_set(replicas: int = 3, image: str = "web:1", status: Object | None = None, **spec: Any) -> Object:
    body = {
        "replicas": replicas,
        "serviceName": "web",
        "selector": {"matchLabels": LABELS},
        "template": template(image),
        "podManagementPolicy": "OrderedReady",
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "revisionHistoryLimit": 10,
        **spec,
    }
    metadata = {"name": "web", "namespace": "default", "generation": 1, "uid": UID}
    return {
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": body, "status": status or {},
    }  # fmt: skip


def owner(uid: str = UID) -> Object:
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": uid, "controller": True}


def revision(image: str = "web:1", number: int = 1, *, owned: bool = True) -> Object:
    metadata: Object = {"name": name_of(image), "namespace": "default", "labels": LABELS}
    if owned:
        metadata["ownerReferences"] = [owner()]
    data = {"spec": {"template": {**template(image), "$patch": "replace"}}}
    return {
        "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "data": data, "revision": number,
    }  # fmt: skip


def pod(
    ordinal: int, revision: str = OLD, *, phase: str = "Running", ready: int | None = 60, deleting: bool = False
) -> Object:
    name = f"web-{ordinal}"
    metadata: Object = {
        "name": name,
        "namespace": "default",
        "ownerReferences": [owner()],
        "labels": {
            **LABELS,
            "statefulset.kubernetes.io/pod-name": name,
            "apps.kubernetes.io/pod-index": str(ordinal),
            "controller-revision-hash": revision,
        },
    }
    if deleting:
        metadata["deletionTimestamp"] = timestamp(NOON)
    status: Object = {"phase": phase}
    if ready is not None and phase == "Running":
        since = timestamp(NOON - timedelta(seconds=ready))
        status["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": since}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}, "status": status}


def claim_template(name: str = "data") -> Object:
    return {"metadata": {"name": name}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}


def decide(*objects: Object, gates: Mapping[str, bool] | None = None) -> Decision:
    return reconcile(KEY, view_of(objects, gates=gates), NOON)


def created(decision: Decision) -> list[str]:
    return [write.key.name for stage in decision.stages for write in stage if isinstance(write, Create)]


def deleted(decision: Decision) -> list[str]:
    return [write.key.name for write in decision.children if isinstance(write, Delete)]


def said(decision: Decision) -> Object:
    (write,) = decision.status
    assert isinstance(write, Patch)
    status: Object = write.body["status"]
    return status


PARALLEL: Object = {"podManagementPolicy": "Parallel"}


def rolling(**fields: Any) -> Object:
    return {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0, **fields}}}


CLAIMS: Object = {"volumeClaimTemplates": [claim_template()]}


def retention(deleted: str, scaled: str) -> Object:
    return {**CLAIMS, "persistentVolumeClaimRetentionPolicy": {"whenDeleted": deleted, "whenScaled": scaled}}
