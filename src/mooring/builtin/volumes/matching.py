"""Volumes are given to claims that name none: to each the one that is reserved for it, or the smallest that suits.

All claims are looked at together, oldest first, so that no two are given the same volume. Claims whose class waits for
a pod get free volumes from the scheduler; here they get only what is reserved for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
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
    bound = claim.spec.volume_name or claim.metadata.annotations.bind_completed is not None
    return () if bound or claim.metadata.deleting else ("",)


def _free(volume: PersistentVolume) -> Iterable[str]:
    free = volume.spec.claim_ref is None and volume.status.phase == "Available" and not volume.metadata.deleting
    return (volume.class_name,) if free else ()


UNBOUND: Final = Indexers(PERSISTENT_VOLUME_CLAIM, indexes={"unbound": _unbound})
FREE: Final = Indexers(PERSISTENT_VOLUME, indexes={"free": _free})


def best_volume(view: View, claim: PersistentVolumeClaim, taken: Collection[str] = ()) -> PersistentVolume | None:
    """The volume that a claim gets; those with the fewest access modes beyond what it asks for come first."""
    found = list(view.list(PERSISTENT_VOLUME, "claim", str(key_of(claim))))
    if not waits_for_pod(view, claim):
        found += view.list(PERSISTENT_VOLUME, "free", claim.class_name)
    by_modes: dict[tuple[str, ...], list[PersistentVolume]] = {}
    for volume in sorted(found, key=lambda each: each.metadata.name):
        modes = tuple(sorted(set(volume.spec.access_modes)))
        if set(claim.spec.access_modes) <= set(modes):
            by_modes.setdefault(modes, []).append(volume)
    for modes in sorted(by_modes, key=lambda each: (len(each), each)):
        volumes = {volume.metadata.name: StoredVolume(volume) for volume in by_modes[modes]}
        name = smallest_volume(claim, volumes, lambda stored: True, set(taken))
        if name is not None:
            return volumes[name].view
    return None


def waits_for_pod(view: View, claim: PersistentVolumeClaim) -> bool:
    found = view.get(STORAGE_CLASS, "", claim.class_name) if claim.class_name else None
    return found is not None and found.delays


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    given: list[Write] = []
    taken: set[str] = set()
    for claim in sorted(view.list(PERSISTENT_VOLUME_CLAIM, "unbound", ""), key=_age):
        volume = best_volume(view, claim, taken)
        if volume is not None and (write := claimed(volume, claim)) is not None:
            taken.add(volume.metadata.name)
            given.append(write)
    return Decision(intent=tuple(given))


def _age(claim: PersistentVolumeClaim) -> tuple[str, str, str]:
    meta = claim.metadata
    return meta.creation_timestamp or "", meta.namespace, meta.name


CONTROLLER: Final = Controller(
    "volume-matching",
    reconcile,
    reads=(PERSISTENT_VOLUME_CLAIM, PERSISTENT_VOLUME, STORAGE_CLASS),
    writes={PERSISTENT_VOLUME: ("patch",)},
    indexers=(UNBOUND, FREE),
)
