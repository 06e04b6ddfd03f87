"""What is written for a pod before it is bound to the node that was chosen for it."""

from __future__ import annotations

from typing import NamedTuple

from mooring.placement.devices.dra_manager import ClaimWrite
from mooring.placement.pods import PodInfo
from mooring.placement.prefilters import node_checks
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.volumes.binding import VolumeBindings
from mooring.placement.volumes.storage_cache import VolumeWrite


class Reservation(NamedTuple):
    volumes: tuple[VolumeWrite, ...] = ()
    claims: tuple[ClaimWrite, ...] = ()
    # Why the writing fails although the node was chosen; the pod is tried again.
    error: str = ""


NOTHING_RESERVED = Reservation()


def reservation(cluster: SchedulerCache, pod: PodInfo, slot: int) -> Reservation:
    """What is written for a pod that goes to a node which takes it."""
    if not pod.volumes and not pod.claims:
        return NOTHING_RESERVED
    writes: tuple[VolumeWrite, ...] = ()
    checks = node_checks(cluster, pod)
    for check in checks.volumes:
        if isinstance(check, VolumeBindings):
            writes = check.bindings(slot).writes
    claims = tuple(checks.devices.writes(slot)) if checks.devices is not None else ()
    error = "" if checks.devices is None else checks.devices.write_error(claims)
    sent = [write.claim for write in writes if write.node]
    twice = next((claim for i, claim in enumerate(sent) if claim in sent[:i]), None)
    if twice is None:
        return Reservation(writes, claims, error)
    # The second write of a claim that is mounted twice still has the version from before the first.
    name = twice.partition("/")[2]
    conflict = f'Operation cannot be fulfilled on persistentvolumeclaims "{name}": the object has been modified'
    advice = "please apply your changes to the latest version and try again"
    return Reservation(writes, claims, f'running PreBind plugin "VolumeBinding": {conflict}; {advice}')


def assume(cluster: SchedulerCache, reserved: Reservation) -> None:
    """Hold what is written as carried out."""
    for write in reserved.volumes:
        cluster.storage.assume(write)
    for claim in reserved.claims:
        cluster.devices.assume(claim)
