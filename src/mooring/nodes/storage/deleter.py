"""Volumes of our own classes that are released go, unless they are to be retained.

A volume with a folder on the process node is left to that node, which removes the folder first.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.kinds import Key, key_of
from mooring.nodes.storage.names import LOCAL_VOLUME, PROVISIONERS
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete
from mooring.runtime.view import View
from mooring.workloads.kinds import PERSISTENT_VOLUME


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    volume = view.get(PERSISTENT_VOLUME, *key)
    if volume is None or volume.metadata.deleting or volume.metadata.annotations.provisioner not in PROVISIONERS:
        return Decision()
    if volume.status.phase != "Released" or volume.spec.persistent_volume_reclaim_policy != "Delete":
        return Decision()
    if LOCAL_VOLUME in volume.metadata.finalizers:
        return Decision()
    return Decision(children=(Delete(PERSISTENT_VOLUME, key_of(volume)),))


CONTROLLER: Final = Controller(
    "volume-deleter",
    reconcile,
    of=PERSISTENT_VOLUME,
    writes={PERSISTENT_VOLUME: ("delete",)},
    reporter="mooring.dev/provisioner",
)
