"""What cannot be known of a pod from what was read of its cluster: then it may land, and nobody says that it does.

A volume of which too little is known is set aside, and the pod is judged without it. Where it does not land even so, it
cannot; where it does, it may.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from mooring.api.core.views import PersistentVolumeClaim
from mooring.placement.pods import PodInfo
from mooring.placement.volumes.binding import NO_PROVISIONER
from mooring.placement.volumes.pod_volumes import PodVolume
from mooring.placement.volumes.storage_cache import StorageCache

CLAIMS: Final = "PersistentVolumeClaim"
VOLUMES: Final = "PersistentVolume"
CLASSES: Final = "StorageClass"
NODE_DRIVERS: Final = "CSINode"
DRIVERS: Final = "CSIDriver"
CAPACITIES: Final = "CSIStorageCapacity"


class Unknown(NamedTuple):
    text: str
    # The volume that the pod is judged without, by its name in the pod.
    set_aside: str = ""
    # The same for a reference to a resource claim.
    claim: str = ""


def volume_unknowns(
    storage: StorageCache, pod: PodInfo, unread: Collection[str], new_claims: Collection[str]
) -> list[Unknown]:
    """What is not known of a pod's volumes.

    `unread` are kinds of which objects may exist that were not read, `new_claims` those that are yet to be made.
    """
    found = []
    for volume in pod.volumes:
        if volume.claim:
            key = f"{pod.namespace}/{volume.claim}"
            each = _of_claim(storage, key, volume, unread, new=key in new_claims)
            if each is not None:
                found.append(each)
    if NODE_DRIVERS in unread and any(volume.claim or volume.inline for volume in pod.volumes):
        found.append(Unknown("how many volumes a node can attach is not known, as no CSINode was read"))
    return found


def _of_claim(
    storage: StorageCache, key: str, volume: PodVolume, unread: Collection[str], *, new: bool
) -> Unknown | None:
    claim = storage.claims.get(key)
    if claim is None:
        if CLAIMS not in unread:
            return None
        return Unknown(f"claim {key} is not known, as no {CLAIMS} was read", volume.name)
    name = claim.spec.volume_name
    if name and claim.metadata.annotations.bind_completed is not None:
        if name in storage.volumes or VOLUMES not in unread:
            return None
        return Unknown(f"{VOLUMES} {name} of claim {key} is not known, as none was read", volume.name)
    if name:
        return Unknown(f"claim {key} is yet to be bound to {VOLUMES} {name}", volume.name) if new else None
    return _unbound(storage, claim, key, volume, unread, new=new)


def _unbound(
    storage: StorageCache,
    claim: PersistentVolumeClaim,
    key: str,
    volume: PodVolume,
    unread: Collection[str],
    *,
    new: bool,
) -> Unknown | None:
    found = storage.classes.get(claim.class_name)
    if found is None:
        if CLASSES in unread:
            what = f"{CLASSES} {claim.class_name}" if claim.class_name else f"the default {CLASSES}"
            return Unknown(f"{what} of claim {key} is not known, as none was read", volume.name)
        if new and not claim.class_name:
            return Unknown(f"claim {key} has no class: which volume it is given shows when it is made", volume.name)
        return None
    if not found.delays:
        if not new:
            return None
        how = f"{CLASSES} {claim.class_name} binds it when it is made"
        return Unknown(
            f"which volume claim {key} is given, and so which nodes reach it, is not known: {how}", volume.name
        )
    provisioner = found.provisioner
    if provisioner == NO_PROVISIONER:
        if VOLUMES not in unread:
            return None
        return Unknown(f"which volumes are free for claim {key} is not known, as no {VOLUMES} was read", volume.name)
    driver = storage.drivers.get(provisioner)
    if driver is None:
        if DRIVERS not in unread:
            return None
        return Unknown(f"whether {provisioner} has space for claim {key} is not known, as no {DRIVERS} was read")
    if driver.spec.storage_capacity and CAPACITIES in unread:
        what = f"whether {provisioner} has space for claim {key} is not known"
        return Unknown(f"{what}, as no {CAPACITIES} was read", volume.name)
    return None


def without_volumes(pod: PodInfo, unknowns: Collection[Unknown]) -> None:
    """Judge a pod without the volumes of which too little is known."""
    aside = {unknown.set_aside for unknown in unknowns if unknown.set_aside}
    if aside:
        pod.volumes = tuple(volume for volume in pod.volumes if volume.name not in aside)
