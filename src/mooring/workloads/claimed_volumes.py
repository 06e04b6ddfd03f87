"""A volume is given to a claim: who does so says it in the volume, and the claim follows."""

from __future__ import annotations

from typing import Any

from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.kinds import Key
from mooring.api.storage.views import ClaimReference, PersistentVolume
from mooring.placement.volumes.binding import is_meant_for
from mooring.runtime.decision import Patch
from mooring.workloads.kinds import PERSISTENT_VOLUME

BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"


def claim_reference(claim: PersistentVolumeClaim) -> dict[str, Any]:
    meta = claim.metadata
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": meta.namespace, "name": meta.name}
    return {**reference, "uid": meta.uid}


def claimed(volume: PersistentVolume, claim: PersistentVolumeClaim) -> Patch | None:
    """The write that gives a volume to a claim; None where the claim has it already."""
    meta = claim.metadata
    if volume.spec.claim_ref == ClaimReference(meta.namespace, meta.name, meta.uid):
        return None
    body: dict[str, Any] = {"spec": {"claimRef": claim_reference(claim)}}
    # A volume that was reserved stays so should the claim get another one.
    if not is_meant_for(volume, claim):
        body["metadata"] = {"annotations": {BOUND_BY_CONTROLLER: "yes"}}
    return Patch(PERSISTENT_VOLUME, Key("", volume.metadata.name), body)
