"""The default StorageClass of `mooring up`: local volumes, made where the pod of a claim goes.

The API server of `mooring up` loads this module at its start, so it imports nothing but names.
"""

from __future__ import annotations

from typing import Final

from mooring.kube.objects import Object
from mooring.nodes.storage.names import LOCAL

STANDARD: Final = "standard"
_DEFAULT: Final = "storageclass.kubernetes.io/is-default-class"


def default_class() -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": STANDARD, "annotations": {_DEFAULT: "true"}},
        "provisioner": LOCAL,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
    }


def is_default(found: Object) -> bool:
    notes = found["metadata"].get("annotations") or {}
    return "true" in (notes.get(_DEFAULT), notes.get("storageclass.beta.kubernetes.io/is-default-class"))
