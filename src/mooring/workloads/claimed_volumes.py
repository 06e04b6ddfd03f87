"""A volume is given to a claim: who does so says it in the volume, and the claim follows."""

from __future__ import annotations

from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.kinds import Key
from mooring.api.storage.views import ClaimReference, PersistentVolume
from mooring.runtime.decision import Patch
from mooring.workloads.kinds import PERSISTENT_VOLUME

BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"


def claimed(volume: PersistentVolume, claim: PersistentVolumeClaim) -> Patch | None:
    """The write that gives a volume to a claim; None where the claim has it already."""
    meta = claim.metadata
    if volume.spec.claim_ref == ClaimReference(meta.namespace, meta.name, meta.uid):
        return None
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": meta.namespace, "name": meta.name}
    body = {
        "metadata": {"annotations": {BOUND_BY_CONTROLLER: "yes"}},
        "spec": {"claimRef": {**reference, "uid": meta.uid}},
    }
    return Patch(PERSISTENT_VOLUME, Key("", volume.metadata.name), body)
