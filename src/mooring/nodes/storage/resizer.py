"""Volumes of our own classes grow with their claims: first the volume, then what the claim is said to have."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.kinds import Key, key_of
from mooring.kube.quantities import parse_quantity
from mooring.nodes.storage.names import PROVISIONERS
from mooring.placement.volumes.storage_cache import size_of
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Event, Patch, status
from mooring.runtime.view import View
from mooring.workloads.kinds import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    claim = view.get(PERSISTENT_VOLUME_CLAIM, *key)
    if claim is None or claim.status.phase != "Bound":
        return Decision()
    wanted = size_of(claim)
    if wanted <= parse_quantity(claim.status.capacity.get("storage", "0")):
        return Decision()
    volume = view.get(PERSISTENT_VOLUME, "", claim.spec.volume_name)
    if volume is None or volume.metadata.annotations.provisioner not in PROVISIONERS:
        return Decision()
    size = {"storage": claim.spec.resources.requests["storage"]}
    if parse_quantity(volume.spec.capacity.get("storage", "0")) < wanted:
        text = f"External resizer is resizing volume {volume.metadata.name}"
        return Decision(
            intent=(Patch(PERSISTENT_VOLUME, key_of(volume), {"spec": {"capacity": size}}),),
            events=(Event(PERSISTENT_VOLUME_CLAIM, key, "Normal", "Resizing", text),),
        )
    return Decision(
        status=(status(PERSISTENT_VOLUME_CLAIM, claim, {"capacity": size}),),
        events=(Event(PERSISTENT_VOLUME_CLAIM, key, "Normal", "VolumeResizeSuccessful", "Resize volume succeeded"),),
    )


CONTROLLER: Final = Controller(
    "volume-resizer",
    reconcile,
    of=PERSISTENT_VOLUME_CLAIM,
    reads=(PERSISTENT_VOLUME,),
    writes={PERSISTENT_VOLUME: ("patch",), PERSISTENT_VOLUME_CLAIM: ("status",)},
    reporter="mooring.dev/provisioner",
)
