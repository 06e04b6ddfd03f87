"""Volumes that nobody has are free, and those that were made for a claim go with it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.kinds import Key, key_of
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete, status
from mooring.runtime.view import View
from mooring.workloads.kinds import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM

# Who makes the volumes of claims without a class.
PROVISIONER: Final = "mooring.dev/simulated"


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    volume = view.get(PERSISTENT_VOLUME, *key)
    if volume is None or volume.metadata.deleting:
        return Decision()
    reference = volume.spec.claim_ref
    # 1. A volume that nobody has been given is free.
    if reference is None:
        if volume.status.phase in ("", "Pending"):
            return Decision(status=(status(PERSISTENT_VOLUME, volume, {"phase": "Available"}),))
        return Decision()
    # 2. A volume that was made for a claim goes with it.
    claim = view.get(PERSISTENT_VOLUME_CLAIM, reference.namespace, reference.name)
    if volume.metadata.annotations.provisioner != PROVISIONER:
        return Decision()
    if claim is not None and claim.metadata.uid == reference.uid:
        return Decision()
    if volume.status.phase == "Bound":
        # A volume that is bound is protected from being deleted.
        return Decision(status=(status(PERSISTENT_VOLUME, volume, {"phase": "Released"}),))
    return Decision(children=(Delete(PERSISTENT_VOLUME, key_of(volume)),))


CONTROLLER: Final = Controller(
    "volumes",
    reconcile,
    of=PERSISTENT_VOLUME,
    reads=(PERSISTENT_VOLUME_CLAIM,),
    writes={PERSISTENT_VOLUME: ("status", "delete")},
)
