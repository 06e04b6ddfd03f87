"""Objects that a snapshot was taken without and that pods cannot do without: a plan makes them up, and says so.

A claim, a class of storage or a RuntimeClass that is named and not there, while nothing of its kind was read, is likely
to be there on the cluster. Made up, it asks nothing of nodes; so whoever lands with it may land. Claims to devices ask
for nothing either where no ResourceSlice was read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from mooring.kube.objects import Object
from mooring.nodes.storage.names import SIMULATED


class StandIn(NamedTuple):
    kind: str
    namespace: str
    object: Object


def stand_ins(objects: Iterable[tuple[Object, str]], unread: Iterable[str]) -> Iterator[StandIn]:
    """What is named in objects, each with its namespace, of kinds that were not read."""
    unread = set(unread)
    for obj, namespace in objects:
        for field, name in _names(obj):
            if field == "claimName" and "PersistentVolumeClaim" in unread:
                yield StandIn("PersistentVolumeClaim", namespace, _claim(name))
            elif field == "storageClassName" and "StorageClass" in unread:
                yield StandIn("StorageClass", "", _storage_class(name))
            elif field == "runtimeClassName" and "RuntimeClass" in unread:
                yield StandIn("RuntimeClass", "", _runtime_class(name))
            elif field == "resourceClaimName" and "ResourceClaim" in unread:
                yield StandIn("ResourceClaim", namespace, _devices("ResourceClaim", name, {}))
            elif field == "resourceClaimTemplateName" and "ResourceClaimTemplate" in unread:
                yield StandIn("ResourceClaimTemplate", namespace, _devices("ResourceClaimTemplate", name, {"spec": {}}))
            elif field == "deviceClassName" and "DeviceClass" in unread:
                yield StandIn("DeviceClass", "", _devices("DeviceClass", name, {}))


def without_requests(obj: Object) -> Object:
    """A claim to devices, or a template of one, that asks for nothing; any other object as it is."""
    if obj.get("apiVersion") != "resource.k8s.io/v1":
        return obj
    specs: dict[str, Object] = {"ResourceClaim": {}, "ResourceClaimTemplate": {"spec": {}}}
    spec = specs.get(obj["kind"])
    allocated = (obj.get("status") or {}).get("allocation") is not None
    return obj if spec is None or allocated else {**obj, "spec": spec}


def _names(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str) and item:
                yield key, item
            else:
                yield from _names(item)
    elif isinstance(value, list):
        for item in value:
            yield from _names(item)


def _claim(name: str) -> Object:
    """A claim that is handed over to a provisioner already."""
    spec = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": ""}
    metadata = {"name": name, "annotations": {"volume.kubernetes.io/storage-provisioner": SIMULATED}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def _storage_class(name: str) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": SIMULATED,
    }


def _devices(kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def _runtime_class(name: str) -> Object:
    return {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": "simulated"}
