"""Claims are bound to the volumes that they are given.

A volume that names a claim, as `matching.py` and the scheduler make one do, is the claim's. Nothing here makes volumes
for a StorageClass: a claim of a class waits for whoever does. A claim without a class, which elsewhere waits for a
volume that somebody makes by hand, gets one at once with all that it asks for, because storage is not simulated.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.kinds import Key
from mooring.api.storage.views import PersistentVolume
from mooring.builtin.volumes.matching import FREE, free_volumes
from mooring.builtin.volumes.phases import PROVISIONER
from mooring.kube.objects import Object
from mooring.placement.volumes.binding import smallest_volume
from mooring.placement.volumes.in_tree import BY_PLUGIN
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Patch, Write, status
from mooring.runtime.view import View
from mooring.workloads.kinds import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM

_BOUND: Final = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    claim = view.get(PERSISTENT_VOLUME_CLAIM, *key)
    if claim is None or claim.metadata.deleting:
        return Decision()
    # Claims that are bound to a volume that was never more than a name get it.
    is_served = not claim.class_name or claim.spec.volume_name == _name(claim)
    return bind(key, view, claim, PROVISIONER if is_served else None)


def bind(key: Key, view: View, claim: PersistentVolumeClaim, provisioner: str | None) -> Decision:
    """The next step of binding a claim; where no volume is there, `provisioner` makes one."""
    volume = _given(view, key, claim)
    # 1. The claim waits for a volume.
    if volume is None:
        if provisioner is None or claim.spec.volume_name not in ("", _name(claim)) or _matches(view, claim):
            return Decision()
        return Decision(intent=(Create(PERSISTENT_VOLUME, _made(claim, provisioner)),))
    # 2. The claim names the volume before either is said to be bound.
    if not claim.spec.volume_name:
        body = {"metadata": {"annotations": _BOUND}, "spec": {"volumeName": volume.metadata.name}}
        return Decision(intent=(Patch(PERSISTENT_VOLUME_CLAIM, key, body),))
    # 3. Both are bound.
    told: list[Write] = []
    if volume.status.phase != "Bound":
        told.append(status(PERSISTENT_VOLUME, volume, {"phase": "Bound"}))
    if claim.status.phase != "Bound":
        capacity = {"storage": volume.spec.capacity.get("storage", "0")}
        bound = {"phase": "Bound", "accessModes": list(volume.spec.access_modes), "capacity": capacity}
        told.append(status(PERSISTENT_VOLUME_CLAIM, claim, bound))
    return Decision(status=tuple(told))


def _given(view: View, key: Key, claim: PersistentVolumeClaim) -> PersistentVolume | None:
    """The volume of a claim; of several that name it, the first by name that the claim does not pass over."""
    found = [
        volume
        for volume in view.list(PERSISTENT_VOLUME, "claim", str(key))
        if volume.spec.claim_ref is not None
        and volume.spec.claim_ref.uid == claim.metadata.uid
        and claim.spec.volume_name in ("", volume.metadata.name)
    ]
    return min(found, key=lambda volume: volume.metadata.name, default=None)


def _matches(view: View, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume that is there suits the claim, so that none is made."""
    return smallest_volume(claim, free_volumes(view, claim), lambda stored: True, set()) is not None


def _name(claim: PersistentVolumeClaim) -> str:
    return f"pvc-{claim.metadata.uid}"


def _made(claim: PersistentVolumeClaim, provisioner: str) -> Object:
    """A volume with all that a claim asks for."""
    name, meta = _name(claim), claim.metadata
    takeover = BY_PLUGIN.get(provisioner)
    driver = takeover.driver if takeover is not None else provisioner
    source: Object = {"csi": {"driver": driver, "volumeHandle": name}}
    if "/" in driver:
        # No name of a driver, and nobody attaches it.
        source = {"hostPath": {"path": f"/var/lib/mooring/volumes/{name}"}}
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": meta.namespace, "name": meta.name}
    spec: Object = {
        "capacity": {"storage": claim.spec.resources.requests.get("storage", "0")},
        "accessModes": list(claim.spec.access_modes),
        "persistentVolumeReclaimPolicy": "Delete",
        "claimRef": {**reference, "uid": meta.uid},
        **source,
    }
    if claim.class_name:
        spec["storageClassName"] = claim.class_name
    for field, value in (
        ("volumeMode", claim.spec.volume_mode),
        ("volumeAttributesClassName", claim.spec.volume_attributes_class_name),
    ):
        if value:
            spec[field] = value
    return {"metadata": {"name": name, "annotations": {"pv.kubernetes.io/provisioned-by": provisioner}}, "spec": spec}


CONTROLLER: Final = Controller(
    "claims",
    reconcile,
    of=PERSISTENT_VOLUME_CLAIM,
    reads=(PERSISTENT_VOLUME,),
    writes={PERSISTENT_VOLUME_CLAIM: ("patch", "status"), PERSISTENT_VOLUME: ("create", "status")},
    indexers=(FREE,),
)
