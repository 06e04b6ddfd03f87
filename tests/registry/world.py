"""A registry to tell stories with: short verbs, a clock that stands until it is moved, checked storage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.registry import CheckedStorage, ListResult, Registry, Resource

Names = list[str]

START = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)

_KINDS = {
    "pod": ("v1", "Pod"),
    "node": ("v1", "Node"),
    "namespace": ("v1", "Namespace"),
    "configmap": ("v1", "ConfigMap"),
    "secret": ("v1", "Secret"),
    "service": ("v1", "Service"),
    "event": ("v1", "Event"),
    "pvc": ("v1", "PersistentVolumeClaim"),
    "deployment": ("apps/v1", "Deployment"),
    "replicaset": ("apps/v1", "ReplicaSet"),
    "statefulset": ("apps/v1", "StatefulSet"),
    "daemonset": ("apps/v1", "DaemonSet"),
    "job": ("batch/v1", "Job"),
    "cronjob": ("batch/v1", "CronJob"),
    "pdb": ("policy/v1", "PodDisruptionBudget"),
    "priorityclass": ("scheduling.k8s.io/v1", "PriorityClass"),
    "lease": ("coordination.k8s.io/v1", "Lease"),
    "csr": ("certificates.k8s.io/v1", "CertificateSigningRequest"),
    "ingress": ("networking.k8s.io/v1", "Ingress"),
    "servicecidr": ("networking.k8s.io/v1", "ServiceCIDR"),
    "resourceclaim": ("resource.k8s.io/v1", "ResourceClaim"),
    "crd": ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
}


class World:
    def __init__(self, history_limit: int = 20_000, history_bytes: int | None = None) -> None:
        self.storage = CheckedStorage()
        self.registry = Registry(
            self.storage, now=START, seed=1, history_limit=history_limit, history_bytes=history_bytes
        )
        self.now = START

    def kind(self, word: str) -> Resource:
        return self.registry.resource(*_KINDS[word])

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def make(self, word: str, obj: Object, **options: Any) -> Object:
        return self.registry.create(self.kind(word), obj, now=self.now, **options)

    def get(self, word: str, name: str, namespace: str = "default") -> Object:
        return self.registry.get(self.kind(word), namespace, name)

    def put(self, word: str, obj: Object, **options: Any) -> Object:
        return self.registry.update(self.kind(word), obj, now=self.now, **options)

    def merge(self, word: str, name: str, patch: Object, **options: Any) -> Object:
        namespace = options.pop("namespace", "default")
        return self.registry.patch(self.kind(word), namespace, name, "merge", patch, now=self.now, **options)

    def delete(self, word: str, name: str, **options: Any) -> Object:
        namespace = options.pop("namespace", "default")
        return self.registry.delete(self.kind(word), namespace, name, now=self.now, **options)

    def names(self, word: str, **options: Any) -> Names:
        return [obj["metadata"]["name"] for obj in self.list(word, **options).items]

    def list(self, word: str, **options: Any) -> ListResult:
        return self.registry.list(self.kind(word), **options)

    def exists(self, word: str, name: str, namespace: str = "default") -> bool:
        return self.registry.find(*_KINDS[word], namespace, name) is not None


@contextmanager
def refused(code: int, text: str) -> Iterator[pytest.ExceptionInfo[ApiError]]:
    """The block is refused with this code, in words that contain this text."""
    with pytest.raises(ApiError) as caught:
        yield caught
    assert (caught.value.code, text in str(caught.value)) == (code, True), (caught.value.code, str(caught.value))


def pod(name: str = "p", **spec: Any) -> Object:
    metadata = {"name": name, "namespace": spec.pop("namespace", "default")}
    for key in ("labels", "annotations", "finalizers"):
        if key in spec:
            metadata[key] = spec.pop(key)
    return {"metadata": metadata, "spec": {"containers": [{"name": "main", "image": "busybox:1"}], **spec}}


def config(name: str = "c", **metadata: Any) -> Object:
    return {"metadata": {"name": name, **metadata}, "data": {"a": "1"}}


def workload(name: str = "web", app: str = "web", **spec: Any) -> Object:
    template = {
        "metadata": {"labels": {"app": app}},
        "spec": {"containers": [{"name": "main", "image": "busybox:1"}]},
    }
    return {
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": app}}, "template": template, **spec},
    }


def job(name: str = "train", **spec: Any) -> Object:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox:1"}]}}
    return {"metadata": {"name": name}, "spec": {"template": template, **spec}}


def definition(plural: str = "widgets", kind: str = "Widget", **version: Any) -> Object:
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "size": {"type": "integer", "minimum": 1, "default": 1},
                    "color": {"type": "string", "enum": ["red", "blue"]},
                    "replicas": {"type": "integer"},
                },
            },
            "status": {"type": "object", "properties": {"replicas": {"type": "integer"}, "ready": {"type": "boolean"}}},
        },
    }
    first = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
    return {
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, "shortNames": [plural[:2]]},
            "versions": [first],
        },
    }
