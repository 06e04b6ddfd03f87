"""What a scheduler wrote about the claims of a pod on the way to binding it, taken back.

A scheduler sends a claim to a node, gives it a volume, or allocates its devices before it binds the pod, and the others
act on that at once: when the pod is seen on its node, its claims say already where it went. A prediction from these
would predict nothing, so it is made on the claims as they were before.
"""

from __future__ import annotations

from typing import Any

from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.resource.views import ResourceClaim
from mooring.api.storage.views import PersistentVolume
from mooring.placement.pods import PodInfo
from mooring.placement.shadow.world import Place, World, WorldChange

__all__ = ["claims_of", "undecided"]


def claims_of(pod: PodInfo) -> frozenset[Place]:
    """The claims that a pod names."""
    volumes = (Place("PersistentVolumeClaim", f"{pod.namespace}/{each.claim}") for each in pod.volumes if each.claim)
    devices = (Place("ResourceClaim", f"{pod.namespace}/{each.claim}") for each in pod.claims if each.claim)
    return frozenset((*volumes, *devices))


def undecided(world: World, pod: PodInfo, since: int) -> dict[Place, Any]:
    """The claims of a pod, and volumes that they were given, as they were before the scheduler decided about them.

    `since` is where the pod's wait began. What was decided earlier, for another pod, stays.
    """
    claims = claims_of(pod)
    if not claims:
        return {}
    found: dict[Place, Any] = {}
    for change in world.between(since, world.position):
        if change.place not in found and _decides(world, change, claims):
            found[change.place] = change.old
    return found


def _decides(world: World, change: WorldChange, claims: frozenset[Place]) -> bool:
    old, new = change.old, change.new
    match new:
        case PersistentVolumeClaim():
            # A claim of a class that does not wait for pods is bound by others.
            return (
                change.place in claims
                and _waits_for_its_pod(world, new)
                and old is not None
                and not _is_decided(old)
                and _is_decided(new)
            )
        case PersistentVolume():
            key = _claimed_by(new)
            claim = world.snapshot.cluster.storage.claims.get(key)
            taken_before = old is not None and bool(_claimed_by(old))
            is_own = Place("PersistentVolumeClaim", key) in claims
            return is_own and claim is not None and _waits_for_its_pod(world, claim) and not taken_before
        case ResourceClaim():
            allocated = new.status.allocation is not None
            return change.place in claims and old is not None and old.status.allocation is None and allocated
    return False


def _is_decided(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name or claim.metadata.annotations.selected_node)


def _claimed_by(volume: PersistentVolume) -> str:
    reference = volume.spec.claim_ref
    return "" if reference is None else f"{reference.namespace}/{reference.name}"


def _waits_for_its_pod(world: World, claim: PersistentVolumeClaim) -> bool:
    found = world.snapshot.cluster.storage.classes.get(claim.class_name)
    return found is not None and found.delays
