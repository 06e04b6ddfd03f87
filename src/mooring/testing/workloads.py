"""Builders of workloads, for tests that apply the same manifests to several clusters.

Pods are of one container that runs on. Their own annotations say otherwise to simulated nodes: how long they run and
with which code they end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mooring.kube.objects import Object

IMAGE = "registry.example.com/main"


def template(
    app: str,
    *,
    version: int = 1,
    duration: str = "",
    exit_code: int | None = None,
    grace: int = 1,
    **spec: Any,
) -> Object:
    """A pod template labelled `app`; another `version` is another image. What is left over goes into the spec."""
    annotations = {"mooring.dev/duration": duration} if duration else {}
    if exit_code is not None:
        annotations["mooring.dev/exit-code"] = str(exit_code)
    container = {
        "name": "main",
        "image": f"{IMAGE}:{version}",
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
    }
    body = {
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": grace,
        "containers": [container],
        **spec,
    }
    return {"metadata": {"labels": {"app": app}, "annotations": annotations}, "spec": body}


def deployment(name: str, replicas: int = 1, *, pods: Object | None = None, **spec: Any) -> Object:
    return _of_apps("Deployment", name, replicas, pods, spec)


def replica_set(name: str, replicas: int = 1, *, pods: Object | None = None, **spec: Any) -> Object:
    return _of_apps("ReplicaSet", name, replicas, pods, spec)


def replication_controller(name: str, replicas: int = 1, *, pods: Object | None = None, **spec: Any) -> Object:
    body = {"replicas": replicas, "selector": {"app": name}, "template": pods or template(name), **spec}
    return {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": name}, "spec": body}


def stateful_set(name: str, replicas: int = 1, *, pods: Object | None = None, **spec: Any) -> Object:
    return _of_apps("StatefulSet", name, replicas, pods, {"serviceName": name, **spec})


def daemon_set(name: str, *, pods: Object | None = None, **spec: Any) -> Object:
    return _of_apps("DaemonSet", name, None, pods, spec)


def _of_apps(kind: str, name: str, replicas: int | None, pods: Object | None, spec: Object) -> Object:
    counted = {} if replicas is None else {"replicas": replicas}
    body = {**counted, "selector": {"matchLabels": {"app": name}}, "template": pods or template(name), **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": body}


def job(name: str, *, pods: Object | None = None, **spec: Any) -> Object:
    """A Job whose pods end after a second unless they say otherwise."""
    made = pods or template(name, duration="1s")
    never = {**made, "spec": {"restartPolicy": "Never", **made["spec"]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {**spec, "template": never},
    }


def cron_job(
    name: str, schedule: str, *, pods: Object | None = None, job_spec: Object | None = None, **spec: Any
) -> Object:
    """A CronJob whose pods end after a second unless they say otherwise."""
    made = job(name, pods=pods, **(job_spec or {}))["spec"]
    body = {"schedule": schedule, "jobTemplate": {"spec": made}, **spec}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name}, "spec": body}


def budget(name: str, app: str, **spec: Any) -> Object:
    """A PodDisruptionBudget over the pods of an app."""
    body = {"selector": {"matchLabels": {"app": app}}, **spec}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": body}


def service(name: str, app: str, port: int = 80, **spec: Any) -> Object:
    body = {"selector": {"app": app}, "ports": [{"name": "http", "port": port, "targetPort": 8080}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": body}


def claim_template(name: str, *, size: str = "1Gi", storage_class: str | None = None) -> Object:
    """A claim that a StatefulSet makes for each of its pods."""
    resources: Mapping[str, Any] = {"requests": {"storage": size}}
    spec: Object = {"accessModes": ["ReadWriteOnce"], "resources": resources}
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    return {"metadata": {"name": name}, "spec": spec}


def volume(name: str, *, size: str = "1Gi", storage_class: str) -> Object:
    """A PersistentVolume that any claim of the class may have."""
    spec = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "hostPath": {"path": "/nowhere"},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}
