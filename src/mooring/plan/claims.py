"""Claims of a plan: every class that has a provisioner is served at once, when the claim is to be bound."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.kinds import Key
from mooring.api.storage.views import StorageClass
from mooring.builtin.volumes.claims import bind
from mooring.builtin.volumes.matching import FREE
from mooring.builtin.volumes.phases import PROVISIONER
from mooring.placement.volumes.binding import NO_PROVISIONER
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.view import View
from mooring.workloads.kinds import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, STORAGE_CLASS


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    claim = view.get(PERSISTENT_VOLUME_CLAIM, *key)
    if claim is None or claim.metadata.deleting:
        return Decision()
    if not claim.class_name:
        return bind(key, view, claim, PROVISIONER)
    found = view.get(STORAGE_CLASS, "", claim.class_name)
    return bind(key, view, claim, None if found is None else _provisioner(found, claim))


def _provisioner(found: StorageClass, claim: PersistentVolumeClaim) -> str | None:
    """Who makes a volume for a claim now: nobody before a class that delays binding has been told the node."""
    if found.provisioner == NO_PROVISIONER or (found.delays and not claim.metadata.annotations.selected_node):
        return None
    return found.provisioner


CONTROLLER: Final = Controller(
    "claims",
    reconcile,
    of=PERSISTENT_VOLUME_CLAIM,
    reads=(PERSISTENT_VOLUME, STORAGE_CLASS),
    writes={PERSISTENT_VOLUME_CLAIM: ("patch", "status"), PERSISTENT_VOLUME: ("create", "status")},
    indexers=(FREE,),
)
