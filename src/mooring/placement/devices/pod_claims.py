"""The claims that a pod refers to, by name or through a template, and which objects they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mooring.api.core.types import Pod
from mooring.api.resource.views import ResourceClaim


class PodClaim(NamedTuple):
    """One reference of a pod's spec."""

    name: str
    # The claim's name; None where a controller made none on purpose.
    claim: str | None = None
    # Whether the claim was made for this pod, and so must be owned by it.
    generated: bool = False
    # Why the claim cannot be named, and the template that it is to be made from.
    error: str = ""
    template: str = ""


def pod_claims(pod: Pod) -> tuple[PodClaim, ...]:
    key = f'pod "{pod.metadata.namespace}/{pod.metadata.name}"'
    generated = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses or ()}
    found = []
    for reference in pod.spec.resource_claims or ():
        if reference.resource_claim_name is not None:
            found.append(PodClaim(reference.name, reference.resource_claim_name))
        elif reference.resource_claim_template_name is None:
            problem = "none of the supported fields are set"
            found.append(PodClaim(reference.name, error=f'{key}, spec.resourceClaim "{reference.name}": {problem}'))
        elif reference.name in generated:
            found.append(PodClaim(reference.name, generated[reference.name], generated=True))
        else:
            template = reference.resource_claim_template_name
            found.append(PodClaim(reference.name, error=f"{key}: ResourceClaim not created yet", template=template))
    return tuple(found)


def resolve(
    namespace: str, name: str, uid: str, references: tuple[PodClaim, ...], claims: Mapping[str, ResourceClaim]
) -> list[ResourceClaim] | str:
    """The claims of a pod in the order of its references, or why it must wait for them."""
    found = []
    for reference in references:
        if reference.error:
            return reference.error
        if reference.claim is None:
            continue
        claim = claims.get(f"{namespace}/{reference.claim}")
        if claim is None:
            return f'could not find ResourceClaim "{namespace}/{reference.claim}"'
        if claim.metadata.deleting:
            return f'resourceclaim "{claim.metadata.name}" is being deleted'
        owner = claim.metadata.controller
        if reference.generated and (owner is None or owner.uid != uid):
            return f"ResourceClaim {claim.key} was not created for pod {namespace}/{name} (pod is not owner)"
        found.append(claim)
    return found
