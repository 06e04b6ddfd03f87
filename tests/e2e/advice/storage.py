"""Volumes of broken workloads: disks that only some nodes reach, and claims that wait for a pod."""

from __future__ import annotations

import random

from mooring.kube.objects import Object

CLASS = "proof-local"
CLAIM = "data"


def mount(rng: random.Random, namespace: str, nodes: list[Object], workload: Object) -> list[Object]:
    """Make a workload mount claims, a claim for each replica where it brings its own; the objects that takes."""
    disks = [_disk(f"{namespace}-{number}", rng.choice(nodes)) for number in range(rng.randint(1, 3))]
    if workload["kind"] == "StatefulSet":
        workload["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": CLAIM}, "spec": _claim()}]
        _container(workload["spec"]["template"])["volumeMounts"] = [{"name": CLAIM, "mountPath": "/data"}]
        return [_class(), *disks]
    spec = _pod_spec(workload)
    if spec is None:
        return []
    spec["volumes"] = [{"name": CLAIM, "persistentVolumeClaim": {"claimName": CLAIM}}]
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": CLAIM, "namespace": namespace},
        "spec": _claim(),
    }
    return [_class(), *disks, claim]


def _pod_spec(workload: Object) -> Object | None:
    """The pod of a workload that may mount a claim; None where its volumes are not for its author to say."""
    if workload["kind"] in ("Deployment", "ReplicaSet", "Job", "DaemonSet"):
        spec: Object = workload["spec"]["template"]["spec"]
        return spec
    return workload["spec"] if workload["kind"] == "Pod" else None


def _container(template: Object) -> Object:
    found: Object = template["spec"]["containers"][0]
    return found


def _class() -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": CLASS},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def _claim() -> Object:
    return {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": CLASS,
        "resources": {"requests": {"storage": "10Gi"}},
    }


def _disk(name: str, where: Object) -> Object:
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [where["metadata"]["name"]]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "10Gi"},
            "storageClassName": CLASS,
            "local": {"path": "/mnt/disk"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
        },
    }
