"""Devices given back: a claim that its last user has left loses them, and goes if it was made for that pod.

A claim that is allocated and was never used keeps its devices, as with Kubernetes; it is the leaving that frees them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.kinds import Key, key_of
from mooring.api.resource.views import DELETE_PROTECTION, ResourceClaim, ResourceClaimConsumerReference
from mooring.builtin.resourceclaim.users import is_done
from mooring.placement.snapshot import to_object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete, Patch, status
from mooring.runtime.view import View
from mooring.workloads.kinds import POD, RESOURCE_CLAIM


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    claim = view.get(RESOURCE_CLAIM, *key)
    if claim is None:
        return Decision()
    users = claim.status.reserved_for or ()
    using = tuple(user for user in users if _uses(view, claim, user))
    if len(using) < len(users):
        return _left(claim, using)
    if using:
        return Decision()
    if claim.metadata.deleting:
        return _freed(claim)
    return Decision(children=(Delete(RESOURCE_CLAIM, key),)) if _outlived(view, claim) else Decision()


def _uses(view: View, claim: ResourceClaim, user: ResourceClaimConsumerReference) -> bool:
    if user.resource != "pods" or user.api_group:
        return True
    pod = view.get(POD, claim.metadata.namespace, user.name)
    return pod is not None and pod.metadata.uid == user.uid and not is_done(pod)


def _left(claim: ResourceClaim, using: tuple[ResourceClaimConsumerReference, ...]) -> Decision:
    if using:
        return Decision(status=(status(RESOURCE_CLAIM, claim, {"reservedFor": [to_object(user) for user in using]}),))
    return _freed(claim)


def _freed(claim: ResourceClaim) -> Decision:
    """The claim without devices, and without what keeps it."""
    if DELETE_PROTECTION not in claim.metadata.finalizers:
        held = claim.status.reserved_for
        return Decision(status=(status(RESOURCE_CLAIM, claim, {"reservedFor": None}),)) if held else Decision()
    rest = [each for each in claim.metadata.finalizers if each != DELETE_PROTECTION]
    empty = {"allocation": None, "reservedFor": None, "devices": None}
    taken_back = (status(RESOURCE_CLAIM, claim, empty),) if claim.status.allocation is not None else ()
    return Decision(
        status=taken_back, release=(Patch(RESOURCE_CLAIM, key_of(claim), {"metadata": {"finalizers": rest}}),)
    )


def _outlived(view: View, claim: ResourceClaim) -> bool:
    """Whether the claim was made for a pod that does not need it any more; of a pod that is gone, its owner is."""
    owner = claim.metadata.controller
    if owner is None or owner.kind != "Pod" or owner.api_version != "v1":
        return False
    pod = view.get(POD, claim.metadata.namespace, owner.name)
    return pod is not None and (pod.metadata.uid != owner.uid or is_done(pod))


CONTROLLER: Final = Controller(
    "resource-claim",
    reconcile,
    of=RESOURCE_CLAIM,
    reads=(POD,),
    writes={RESOURCE_CLAIM: ("patch", "status", "delete")},
)
