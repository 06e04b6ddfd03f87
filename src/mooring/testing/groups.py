"""Builders of LeaderWorkerSets and of the pods that their StatefulSets make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mooring.features.groups.api import (
    API_VERSION,
    GROUP_INDEX,
    GROUP_KEY,
    KIND,
    LEADER_NAME,
    NAME,
    REVISION,
    SIZE,
    WORKER_INDEX,
)
from mooring.features.groups.identity import group_key
from mooring.kube.objects import Object


def leader_worker_set(
    name: str = "serve",
    *,
    replicas: int | None = 2,
    size: int | None = 2,
    namespace: str = "default",
    image: str = "registry.example.com/serve:1",
    cpu: str = "100m",
    unique: str = "",
    annotations: Mapping[str, str] | None = None,
    rolling: Mapping[str, Any] | None = None,
    template: Mapping[str, Any] | None = None,
    pod: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Object:
    """A LeaderWorkerSet of one container per pod.

    `unique` is the key of nodes of their own for every replica; `rolling` the configuration of rolling updates; `pod`
    goes into the pod spec, `template` into leaderWorkerTemplate and what is left over into the spec.
    """
    container = {"name": "main", "image": image, "resources": {"requests": {"cpu": cpu}}}
    group: Object = {"workerTemplate": {"spec": {"containers": [container], **(pod or {})}}}
    if size is not None:
        group["size"] = size
    if unique:
        toleration = {"key": unique, "effect": "NoSchedule"}
        group["schedulingPolicy"] = {"replicaUniqueNodeSelector": unique, "replicaUniqueToleration": toleration}
    body: Object = {"leaderWorkerTemplate": {**group, **(template or {})}, **spec}
    if replicas is not None:
        body["replicas"] = replicas
    if rolling is not None:
        body["rolloutStrategy"] = {"type": "RollingUpdate", "rollingUpdateConfiguration": dict(rolling)}
    metadata: Object = {"name": name, "namespace": namespace}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": body}


def leader_pod(name: str = "serve-0", *, size: int = 2, namespace: str = "default", **parts: Any) -> Object:
    """A leader as its StatefulSet makes it, unseen by webhooks. `parts` are annotations, labels and spec."""
    labels = {NAME: name.rpartition("-")[0], WORKER_INDEX: "0", REVISION: "b1"}
    return _pod(name, namespace, labels, {SIZE: str(size)}, name.rpartition("-")[0], parts)


def worker_pod(name: str = "serve-0-1", *, size: int = 2, namespace: str = "default", **parts: Any) -> Object:
    """A worker as its StatefulSet makes it."""
    leader = name.rpartition("-")[0]
    owner, _, index = leader.rpartition("-")
    labels = {NAME: owner, GROUP_INDEX: index, GROUP_KEY: group_key(namespace, leader), REVISION: "b1"}
    return _pod(name, namespace, labels, {SIZE: str(size), LEADER_NAME: leader}, owner, parts)


def _pod(
    name: str, namespace: str, labels: Object, annotations: Object, subdomain: str, parts: Mapping[str, Any]
) -> Object:
    containers = [{"name": "main", "image": "registry.example.com/serve:1"}]
    spec = {"containers": containers, "hostname": name, "subdomain": subdomain, **(parts.get("spec") or {})}
    metadata = {
        "name": name,
        "namespace": namespace,
        "labels": {**labels, **(parts.get("labels") or {})},
        "annotations": {**annotations, **(parts.get("annotations") or {})},
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
