"""The phases of volumes: free, bound, released when the claim is gone; and what their reclaim policy then asks for.

A volume that a provisioner made is deleted by that provisioner. One that was made by hand cannot be deleted by
anybody here, so it fails and says so, as Kubernetes does for everything that none of its own plugins deletes.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.kinds import Key, key_of
from mooring.api.storage.views import PersistentVolume
from mooring.builtin.volumes.mismatch import differs_in_mode
from mooring.placement.volumes.in_tree import source_of
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Event, Patch, status
from mooring.runtime.view import View
from mooring.workloads.claimed_volumes import BOUND_BY_CONTROLLER
from mooring.workloads.kinds import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM

_IN_TREE: Final = "kubernetes.io/"
_OVER: Final = ("Released", "Failed")
_NO_RECYCLER: Final = "No recycler plugin found for the volume!"


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    volume = view.get(PERSISTENT_VOLUME, *key)
    if volume is None:
        return Decision()
    reference = volume.spec.claim_ref
    # 1. A volume that nobody has is free, though it may be reserved.
    if reference is None or not reference.uid:
        return _phase(volume, "Available")
    # 2. A volume outlives its claim as long as its policy says.
    claim = view.get(PERSISTENT_VOLUME_CLAIM, reference.namespace, reference.name)
    if claim is None or claim.metadata.uid != reference.uid:
        return _reclaim(volume)
    # 3. The claim is about to follow.
    if not claim.spec.volume_name:
        return Decision(events=_mode_events(volume, claim)) if differs_in_mode(volume, claim) else Decision()
    # 4. Each has the other.
    if claim.spec.volume_name == volume.metadata.name:
        return _phase(volume, "Bound")
    # 5. The claim has another volume: this one was made for nothing, or is free again.
    if volume.metadata.annotations.provisioner and volume.spec.persistent_volume_reclaim_policy == "Delete":
        return _reclaim(volume)
    return Decision(intent=(_unbound(volume),))


def _phase(volume: PersistentVolume, phase: str, message: str | None = None) -> Decision:
    if volume.status.phase == phase:
        return Decision()
    return Decision(status=(status(PERSISTENT_VOLUME, volume, {"phase": phase, "message": message}),))


def _unbound(volume: PersistentVolume) -> Patch:
    """A volume that the binder chose loses its claim; one that was made for the claim stays reserved for it."""
    if volume.metadata.annotations.bound_by_controller is None:
        return Patch(PERSISTENT_VOLUME, key_of(volume), {"spec": {"claimRef": {"uid": None}}})
    body = {"metadata": {"annotations": {BOUND_BY_CONTROLLER: None}}, "spec": {"claimRef": None}}
    return Patch(PERSISTENT_VOLUME, key_of(volume), body)


def _reclaim(volume: PersistentVolume) -> Decision:
    if volume.status.phase not in _OVER:
        return _phase(volume, "Released")
    match volume.spec.persistent_volume_reclaim_policy:
        case "Delete":
            return _failed(volume, "VolumeFailedDelete", _why_not_deleted(volume))
        case "Recycle":
            return _failed(volume, "VolumeFailedRecycle", _NO_RECYCLER)
    return Decision()


def _why_not_deleted(volume: PersistentVolume) -> str:
    """Why nobody deletes a volume; empty where a provisioner or a driver does."""
    spec, provisioner = volume.spec, volume.metadata.annotations.provisioner
    if source_of(spec) is not None or spec.csi is not None:
        return ""
    if provisioner:
        return f"no volume plugin matched name: {provisioner}" if provisioner.startswith(_IN_TREE) else ""
    if spec.host_path is not None:
        return f"host_path deleter only supports /tmp/.+ but received provided {spec.host_path.path}"
    return (
        f'error getting deleter volume plugin for volume "{volume.metadata.name}": no deletable volume plugin matched'
    )


def _failed(volume: PersistentVolume, reason: str, why: str) -> Decision:
    if not why or volume.status.phase == "Failed":
        return Decision()
    event = Event(PERSISTENT_VOLUME, key_of(volume), "Warning", reason, why)
    return _phase(volume, "Failed", why)._replace(events=(event,))


def _mode_events(volume: PersistentVolume, claim: PersistentVolumeClaim) -> tuple[Event, ...]:
    why, reason = "due to incompatible volumeMode.", "VolumeMismatch"
    of_volume = f'Cannot bind PersistentVolume to requested PersistentVolumeClaim "{claim.metadata.name}" {why}'
    of_claim = f'Cannot bind PersistentVolume "{volume.metadata.name}" to requested PersistentVolumeClaim {why}'
    return (
        Event(PERSISTENT_VOLUME, key_of(volume), "Warning", reason, of_volume),
        Event(PERSISTENT_VOLUME_CLAIM, key_of(claim), "Warning", reason, of_claim),
    )


CONTROLLER: Final = Controller(
    "volumes",
    reconcile,
    of=PERSISTENT_VOLUME,
    reads=(PERSISTENT_VOLUME_CLAIM,),
    writes={PERSISTENT_VOLUME: ("patch", "status")},
    reporter="persistentvolume-controller",
)
