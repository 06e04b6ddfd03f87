"""The claims that a controller makes for a pod from templates."""

from __future__ import annotations

import msgspec

from mooring.api.resource.views import ResourceClaim
from mooring.kube.objects import Object
from mooring.placement.devices.dra_manager import DRAManager

MAX_BASE = 57


def generated_name(pod: str, reference: str, uid: str) -> str:
    """The name of a claim: where the real controller draws five letters, they follow from the pod's uid."""
    # Only controllers name claims, and this import takes longer than many a command.
    import hashlib

    base = f"{pod}-{reference}-"
    if len(base) > MAX_BASE:
        # Both names are cut in proportion, so that neither is lost.
        base = f"{pod[: len(pod) * MAX_BASE // len(base)]}-{reference[: len(reference) * MAX_BASE // len(base)]}"
    return base + hashlib.blake2s(f"{uid}/{reference}".encode()).hexdigest()[:5]


def with_generated_claims(devices: DRAManager, pod: Object) -> Object:
    """A pod as it is once its claims are made, which are put among the others under plain names.

    A template that is not known leaves the pod waiting for its claim.
    """
    metadata, status = pod["metadata"], pod.get("status") or {}
    namespace = metadata.get("namespace") or "default"
    known = status.get("resourceClaimStatuses") or []
    owner = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata.get("uid") or ""}
    made = []
    for reference in (pod.get("spec") or {}).get("resourceClaims") or []:
        template = devices.templates.get(f"{namespace}/{reference.get('resourceClaimTemplateName')}")
        if template is None or any(each["name"] == reference["name"] for each in known):
            continue
        name = f"{metadata['name']}-{reference['name']}"
        meta = {"name": name, "namespace": namespace, "uid": name, "ownerReferences": [{**owner, "controller": True}]}
        devices.set(msgspec.convert({"metadata": meta, "spec": template.spec.spec}, ResourceClaim))
        made.append({"name": reference["name"], "resourceClaimName": name})
    return {**pod, "status": {**status, "resourceClaimStatuses": [*known, *made]}} if made else pod
