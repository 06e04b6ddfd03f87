"""Rows of volumes, claims on them, and the classes they are made from."""

from datetime import datetime
from typing import Final

from mooring.apiserver.tables.printing import Cells, age, items, name, part, printer, quantity
from mooring.kube.objects import Object

__all__: list[str] = []

_OLD_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_CLASS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_MODES: Final = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
_UNSET: Final = "<unset>"


def _modes(modes: list[str]) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in modes)


def _class(obj: Object) -> str:
    # The annotation is older than the field and still wins.
    annotations = part(obj, "metadata", "annotations")
    return str(annotations.get(_OLD_CLASS, part(obj, "spec").get("storageClassName") or ""))


def _or_unset(value: str | None) -> str:
    return _UNSET if value is None else value


def _phase(obj: Object) -> str:
    going = part(obj, "metadata").get("deletionTimestamp")
    return "Terminating" if going else part(obj, "status").get("phase") or ""


@printer(
    "v1",
    "PersistentVolume",
    "Name, Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass, VolumeAttributesClass, Reason, Age,"
    "VolumeMode+",
)
def _volume(obj: Object, now: datetime) -> Cells:
    spec = part(obj, "spec")
    claim = spec.get("claimRef")
    return [
        name(obj),
        quantity(part(spec, "capacity").get("storage")),
        _modes(items(spec, "accessModes")),
        spec.get("persistentVolumeReclaimPolicy") or "",
        _phase(obj),
        f"{claim.get('namespace') or ''}/{claim.get('name') or ''}" if claim is not None else "",
        _class(obj),
        _or_unset(spec.get("volumeAttributesClassName")),
        part(obj, "status").get("reason") or "",
        age(obj, now),
        _or_unset(spec.get("volumeMode")),
    ]


@printer(
    "v1",
    "PersistentVolumeClaim",
    "Name, Status, Volume, Capacity, Access Modes, StorageClass, VolumeAttributesClass, Age, VolumeMode+",
)
def _claim(obj: Object, now: datetime) -> Cells:
    spec, status = part(obj, "spec"), part(obj, "status")
    volume = spec.get("volumeName") or ""
    return [
        name(obj),
        _phase(obj),
        volume,
        quantity(part(status, "capacity").get("storage")) if volume else "",
        _modes(items(status, "accessModes")) if volume else "",
        _class(obj),
        _or_unset(spec.get("volumeAttributesClassName")),
        age(obj, now),
        _or_unset(spec.get("volumeMode")),
    ]


@printer(
    "storage.k8s.io/v1",
    "StorageClass",
    "Name, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age",
)
def _storage_class(obj: Object, now: datetime) -> Cells:
    annotations = part(obj, "metadata", "annotations")
    default = any(annotations.get(key) == "true" for key in _DEFAULT_CLASS)
    return [
        f"{name(obj)} (default)" if default else name(obj),
        obj.get("provisioner") or "",
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        age(obj, now),
    ]


@printer("storage.k8s.io/v1", "VolumeAttributesClass", "Name, DriverName, Age")
def _attributes_class(obj: Object, now: datetime) -> Cells:
    return [name(obj), obj.get("driverName") or "", age(obj, now)]


@printer("storage.k8s.io/v1", "CSINode", "Name, Drivers:integer, Age")
def _csi_node(obj: Object, now: datetime) -> Cells:
    return [name(obj), len(items(part(obj, "spec"), "drivers")), age(obj, now)]


@printer(
    "storage.k8s.io/v1",
    "CSIDriver",
    "Name, AttachRequired:boolean, PodInfoOnMount:boolean, StorageCapacity:boolean, TokenRequests,"
    "RequiresRepublish:boolean, Modes, Age",
)
def _driver(obj: Object, now: datetime) -> Cells:
    spec = part(obj, "spec")
    requests = spec.get("tokenRequests")
    return [
        name(obj),
        spec.get("attachRequired", True),
        bool(spec.get("podInfoOnMount")),
        bool(spec.get("storageCapacity")),
        _UNSET if requests is None else ",".join(each["audience"] for each in requests),
        bool(spec.get("requiresRepublish")),
        ",".join(items(spec, "volumeLifecycleModes")) or "<none>",
        age(obj, now),
    ]


@printer("storage.k8s.io/v1", "VolumeAttachment", "Name, Attacher:name, PV, Node, Attached:boolean, Age")
def _attachment(obj: Object, now: datetime) -> Cells:
    spec = part(obj, "spec")
    return [
        name(obj),
        spec.get("attacher") or "",
        part(spec, "source").get("persistentVolumeName") or "",
        spec.get("nodeName") or "",
        bool(part(obj, "status").get("attached")),
        age(obj, now),
    ]
