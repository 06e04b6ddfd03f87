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


def claim(name: str, class_name: str | None = None, size: str = "10Gi", **spec: Any) -> Object:
    body: Object = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}
    if class_name is not None:
        body["storageClassName"] = class_name
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": body,
    }


def local_volume(name: str, on: str, class_name: str, size: str = "10Gi", **spec: Any) -> Object:
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
            **spec,
        },
    }


def reserved(volume: Object, name: str, uid: str | None = None) -> Object:
    """A volume for one claim."""
    reference = {"namespace": "default", "name": name, **({} if uid is None else {"uid": uid})}
    return {**volume, "spec": {**volume["spec"], "claimRef": reference}}


def noted(obj: Object, notes: dict[str, str]) -> Object:
    """An object with annotations."""
    return {**obj, "metadata": {**obj["metadata"], "annotations": notes}}


def mounting(name: str, *claims: str, **spec: Any) -> Object:
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    return pod(name, volumes=volumes, **spec)


def storage_objects() -> list[Object]:
    """Claims that wait for their pods, one that a volume is there for, and those that volumes are made for.

    The default class is taken to be there.
    """
    classes = {"local": "kubernetes.io/no-provisioner", "fast": "ebs.csi.aws.com"}
    at_once = {**storage_class("simulated", "mooring.dev/simulated", "Immediate"), "allowVolumeExpansion": True}
    sent = noted(claim("sent", "standard"), {"volume.kubernetes.io/selected-node": "gone"})
    # A claim that asks for more than its volume has, and a volume whose claim is gone.
    grows = noted(claim("grows", "simulated", volumeName="grown"), {"pv.kubernetes.io/bind-completed": "yes"})
    ours = {"pv.kubernetes.io/provisioned-by": "mooring.dev/simulated"}
    grown = noted(local_volume("grown", "n0", "simulated", "1Gi"), ours)
    over = noted(local_volume("over", "n0", "simulated", persistentVolumeReclaimPolicy="Delete"), ours)
    return [
        *(storage_class(name, provisioner) for name, provisioner in classes.items()),
        *(claim(name, name) for name in classes),
        *(mounting(f"on-{name}", name) for name in classes),
        at_once,
        claim("made", "simulated"),
        claim("standard"),
        mounting("on-standard", "standard"),
        sent,
        grown,
        grows,
        reserved(over, "gone", "of a claim before"),
        local_volume("disk", "n0", "local"),
        local_volume("by-hand", "n0", "gone"),
        claim("found", "gone"),
        with_scratch("scratched"),
    ]


def with_scratch(name: str) -> Object:
    """A pod with an ephemeral volume."""
    template = {"metadata": {"labels": {"kept": "yes"}}, "spec": claim("x")["spec"]}
    return pod(name, volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}])
