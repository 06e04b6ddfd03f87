"""Free volumes are given to claims that do not wait for a pod: to each the smallest that suits.

All claims are looked at together, oldest first, so that no two are given the same volume. Claims whose class waits for
a pod are the scheduler's.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.kinds import Indexers, Key, key_of
from mooring.api.storage.views import PersistentVolume
from mooring.placement.volumes.binding import smallest_volume
from mooring.placement.volumes.storage_cache import StoredVolume
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Write
from mooring.runtime.view import View
from mooring.workloads.claimed_volumes import claimed
from mooring.workloads.kinds import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, STORAGE_CLASS


def _unbound(claim: PersistentVolumeClaim) -> Iterable[str]:
    return () if claim.spec.volume_name or claim.metadata.deleting else ("",)


def _free(volume: PersistentVolume) -> Iterable[str]:
    free = volume.spec.claim_ref is None and volume.status.phase == "Available" and not volume.metadata.deleting
    return (volume.class_name,) if free else ()


UNBOUND: Final = Indexers(PERSISTENT_VOLUME_CLAIM, indexes={"unbound": _unbound})
FREE: Final = Indexers(PERSISTENT_VOLUME, indexes={"free": _free})


def free_volumes(view: View, claim: PersistentVolumeClaim) -> dict[str, StoredVolume]:
    """The volumes of a claim's class that nobody has."""
    found = sorted(view.list(PERSISTENT_VOLUME, "free", claim.class_name), key=lambda each: each.metadata.name)
    return {volume.metadata.name: StoredVolume(volume) for volume in found}


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    claims = view.list(PERSISTENT_VOLUME_CLAIM, "unbound", "")
    given: list[Write] = []
    taken: set[str] = set()
    for claim in sorted(claims, key=_age):
        if _waits_for_pod(view, claim) or view.list(PERSISTENT_VOLUME, "claim", str(key_of(claim))):
            continue
        volumes = free_volumes(view, claim)
        name = smallest_volume(claim, volumes, lambda stored: True, taken)
        if name is not None and (write := claimed(volumes[name].view, claim)) is not None:
            taken.add(name)
            given.append(write)
    return Decision(intent=tuple(given))


def _age(claim: PersistentVolumeClaim) -> tuple[str, str, str]:
    meta = claim.metadata
    return meta.creation_timestamp or "", meta.namespace, meta.name


def _waits_for_pod(view: View, claim: PersistentVolumeClaim) -> bool:
    found = view.get(STORAGE_CLASS, "", claim.class_name) if claim.class_name else None
    return found is not None and found.delays


CONTROLLER: Final = Controller(
    "volume-matching",
    reconcile,
    reads=(PERSISTENT_VOLUME_CLAIM, PERSISTENT_VOLUME, STORAGE_CLASS),
    writes={PERSISTENT_VOLUME: ("patch",)},
    indexers=(UNBOUND, FREE),
)
