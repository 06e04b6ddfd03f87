"""Whether the claim of an ephemeral volume was made for the pod that has the volume."""

from __future__ import annotations

from mooring.api.core.views import PersistentVolumeClaim
from mooring.placement.pods import PodInfo


def not_made_for(claim: PersistentVolumeClaim, pod: PodInfo) -> str:
    """Why a claim is not the one of this pod's ephemeral volume; empty where it is."""
    owner = claim.metadata.controller
    if owner is not None and owner.uid == pod.uid:
        return ""
    name = f"{claim.metadata.namespace}/{claim.metadata.name}"
    return f"PVC {name} was not created for pod {pod.key} (pod is not owner)"
