"""Classes, claims, volumes, and pods that mount claims."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.testing import pod


def storage_class(name: str, provisioner: str = "ebs.csi.aws.com", mode: str = "WaitForFirstConsumer") -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }


def claim(name: str, class_name: str | None = None, size: str = "10Gi") -> Object:
    spec: Object = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    if class_name is not None:
        spec["storageClassName"] = class_name
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def local_volume(name: str, on: str, class_name: str, size: str = "10Gi") -> Object:
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}]}]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": class_name,
            "local": {"path": "/mnt/disk"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
        },
    }


def mounting(name: str, *claims: str, **spec: Any) -> Object:
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    return pod(name, volumes=volumes, **spec)


def storage_objects() -> list[Object]:
    """Claims that wait for their pods, one that a volume is there for, and one that a volume is made for."""
    classes = {"local": "kubernetes.io/no-provisioner", "fast": "ebs.csi.aws.com"}
    return [
        *(storage_class(name, provisioner) for name, provisioner in classes.items()),
        *(claim(name, name) for name in classes),
        *(mounting(f"on-{name}", name) for name in classes),
        local_volume("disk", "n0", "local"),
        local_volume("by-hand", "n0", "gone"),
        claim("found", "gone"),
        claim("made"),
        with_scratch("scratched"),
    ]


def with_scratch(name: str) -> Object:
    """A pod with an ephemeral volume."""
    template = {"metadata": {"labels": {"kept": "yes"}}, "spec": claim("x")["spec"]}
    return pod(name, volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}])
