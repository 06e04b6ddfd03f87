"""What cannot be known of a pod's claims from what was read of its cluster: see `placement/unknowns.py`."""

from __future__ import annotations

from collections.abc import Collection

from mooring.api.resource.views import ResourceClaim
from mooring.placement.devices.dra_manager import DRAManager
from mooring.placement.devices.pod_claims import PodClaim
from mooring.placement.pods import PodInfo
from mooring.placement.unknowns import Unknown


def claim_unknowns(devices: DRAManager, pod: PodInfo, unread: Collection[str]) -> list[Unknown]:
    """What is not known of a pod's claims; `unread` are kinds of which objects may exist that were not read."""
    found = [_of_reference(devices, pod, reference, unread) for reference in pod.claims]
    return [each for each in found if each is not None]


def _of_reference(devices: DRAManager, pod: PodInfo, reference: PodClaim, unread: Collection[str]) -> Unknown | None:
    if reference.error:
        if not reference.template or "ResourceClaimTemplate" not in unread:
            return None
        what = f"ResourceClaimTemplate {pod.namespace}/{reference.template} is not known, as none was read"
        return Unknown(what, claim=reference.name)
    if reference.claim is None:
        return None
    claim = devices.claims.get(f"{pod.namespace}/{reference.claim}")
    if claim is None:
        if "ResourceClaim" not in unread:
            return None
        return Unknown(
            f"ResourceClaim {pod.namespace}/{reference.claim} is not known, as none was read", claim=reference.name
        )
    if not claim.spec.devices.requests and not {"ResourceClaimTemplate", "ResourceSlice"}.isdisjoint(unread):
        # A plan lets a claim ask for nothing where it does not know what the claim could be given.
        return Unknown(f"which devices claim {claim.key} is given is not known", claim=reference.name)
    return _unallocated(devices, claim, reference, unread) if claim.status.allocation is None else None


def _unallocated(
    devices: DRAManager, claim: ResourceClaim, reference: PodClaim, unread: Collection[str]
) -> Unknown | None:
    classes = {
        wanted.device_class_name
        for request in claim.spec.devices.requests or ()
        for wanted in (*([request.exactly] if request.exactly else ()), *(request.first_available or ()))
    }
    missing = sorted(classes - devices.classes.keys())
    if missing and "DeviceClass" in unread:
        return Unknown(f"DeviceClass {missing[0]} is not known, as none was read", claim=reference.name)
    if "ResourceSlice" in unread:
        text = f"which devices nodes have for claim {claim.key} is not known, as no ResourceSlice was read"
        return Unknown(text, claim=reference.name)
    if "ResourceClaim" in unread:
        return Unknown("which devices are taken is not known, as no ResourceClaim was read")
    return None


def without_claims(pod: PodInfo, unknowns: Collection[Unknown]) -> None:
    """Judge a pod without the claims of which too little is known."""
    aside = {unknown.claim for unknown in unknowns if unknown.claim}
    if aside:
        pod.claims = tuple(reference for reference in pod.claims if reference.name not in aside)
