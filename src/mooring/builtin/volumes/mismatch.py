"""Why a volume that a claim asks for by name cannot be its own."""

from __future__ import annotations

from typing import Final

from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.storage.views import PersistentVolume
from mooring.kube.quantities import parse_quantity
from mooring.placement.volumes.binding import FILESYSTEM
from mooring.placement.volumes.storage_cache import size_of

_ZERO: Final = "0"


def mismatch(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """The first thing in which the two do not fit, in the words of the event; empty where they fit."""
    spec, asked = volume.spec, claim.spec
    if volume.metadata.deleting:
        return f'the volume is marked for deletion "{volume.metadata.name}"'
    if parse_quantity(spec.capacity.get("storage", _ZERO)) < size_of(claim):
        return "requested PV is too small"
    if volume.class_name != claim.class_name:
        return "storageClassName does not match"
    if (spec.volume_attributes_class_name or "") != (asked.volume_attributes_class_name or ""):
        return "volumeAttributesClassName does not match"
    if differs_in_mode(volume, claim):
        return "incompatible volumeMode"
    if not set(asked.access_modes) <= set(spec.access_modes):
        return "incompatible accessMode"
    return ""


def differs_in_mode(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether one of them is a disk and the other a file system."""
    return (volume.spec.volume_mode or FILESYSTEM) != (claim.spec.volume_mode or FILESYSTEM)
