"""Claims made from templates, one for each reference of each pod.

A claim is named in the pod's status once it is seen; before that the scheduler does not look at the pod.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from mooring.api.core.types import PodResourceClaim
from mooring.api.core.views import Pod
from mooring.api.kinds import Indexers, Key
from mooring.api.resource.views import POD_CLAIM_NAME, ResourceClaim, ResourceClaimTemplate
from mooring.builtin.resourceclaim.users import is_done
from mooring.kube.objects import Object
from mooring.placement.devices.generated_claims import generated_name
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Patch, status
from mooring.runtime.view import View
from mooring.workloads.kinds import POD, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE


def _templates(pod: Pod) -> Iterable[str]:
    references = pod.spec.resource_claims
    if not references:
        return ()
    names = (reference.resource_claim_template_name for reference in references)
    return {f"{pod.metadata.namespace}/{name}" for name in names if name is not None}


BY_TEMPLATE: Final = Indexers(POD, indexes={"claim-template": _templates}, placed_by=("spec",))


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    template = view.get(RESOURCE_CLAIM_TEMPLATE, *key)
    if template is None or template.metadata.deleting:
        return Decision()
    made: list[Create] = []
    named: list[Patch] = []
    for pod in view.list(POD, "claim-template", str(key)):
        if is_done(pod) or pod.metadata.deleting:
            continue
        found: dict[str, str] = {}
        for reference in pod.spec.resource_claims or ():
            if reference.resource_claim_template_name != key.name:
                continue
            claim = _claim_of(view, pod, reference)
            if claim is None:
                made.append(Create(RESOURCE_CLAIM, _new_claim(template, pod, reference)))
            else:
                found[reference.name] = claim.metadata.name
        named += _named(pod, found)
    return Decision(children=tuple(made), status=tuple(named))


def _claim_of(view: View, pod: Pod, reference: PodResourceClaim) -> ResourceClaim | None:
    name = generated_name(pod.metadata.name, reference.name, pod.metadata.uid)
    return view.get(RESOURCE_CLAIM, pod.metadata.namespace, name)


def _new_claim(template: ResourceClaimTemplate, pod: Pod, reference: PodResourceClaim) -> Object:
    labels, annotations = template.spec.metadata.labels, template.spec.metadata.annotations
    meta = pod.metadata
    owner = {"apiVersion": "v1", "kind": "Pod", "name": meta.name, "uid": meta.uid, "controller": True}
    return {
        "metadata": {
            "name": generated_name(meta.name, reference.name, meta.uid),
            "generateName": f"{meta.name}-{reference.name}-",
            "namespace": meta.namespace,
            **({"labels": labels} if labels else {}),
            "annotations": {**annotations, POD_CLAIM_NAME: reference.name},
            "ownerReferences": [owner],
        },
        "spec": template.spec.spec,
    }


def _named(pod: Pod, found: dict[str, str]) -> list[Patch]:
    """The pod with the names of its claims; nothing where it has them."""
    known = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses or ()}
    if found.items() <= known.items():
        return []
    names = {**known, **found}
    claims = [{"name": name, **({"resourceClaimName": claim} if claim else {})} for name, claim in names.items()]
    return [status(POD, pod, {"resourceClaimStatuses": claims})]


CONTROLLER: Final = Controller(
    "resource-claim-generation",
    reconcile,
    of=RESOURCE_CLAIM_TEMPLATE,
    reads=(POD, RESOURCE_CLAIM),
    writes={RESOURCE_CLAIM: ("create",), POD: ("status",)},
    indexers=(BY_TEMPLATE,),
)
