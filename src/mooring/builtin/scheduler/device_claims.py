"""What the scheduler writes to claims: the finalizer that keeps one that has devices, then its devices and its user.

The finalizer is no part of the status, so it is written first, and seen, before devices are given: a claim that is
deleted in between would give them back while a pod still starts.
"""

from __future__ import annotations

from mooring.api.kinds import key_of
from mooring.api.resource.views import DELETE_PROTECTION, ResourceClaim
from mooring.kube.objects import Object
from mooring.placement.devices.dra_manager import ClaimWrite
from mooring.placement.snapshot import to_object
from mooring.runtime.decision import Patch, status
from mooring.workloads.kinds import RESOURCE_CLAIM


def protected(claim: ResourceClaim) -> Patch | None:
    """The claim with its finalizer; None where it has it."""
    finalizers = claim.metadata.finalizers
    if DELETE_PROTECTION in finalizers:
        return None
    return Patch(RESOURCE_CLAIM, key_of(claim), {"metadata": {"finalizers": [*finalizers, DELETE_PROTECTION]}})


def reserved(claim: ResourceClaim, write: ClaimWrite) -> Patch:
    """The claim with its devices and the pods that use them; several may have been given it in one run."""
    body: Object = {"reservedFor": [to_object(user) for user in write.reserved_for]}
    if claim.status.allocation is None:
        body["allocation"] = to_object(write.allocation)
    return status(RESOURCE_CLAIM, claim, body)


def deallocated(claim: ResourceClaim) -> Patch:
    """The claim without devices, so that it can be given others."""
    return status(RESOURCE_CLAIM, claim, {"allocation": None, "reservedFor": None, "devices": None})
