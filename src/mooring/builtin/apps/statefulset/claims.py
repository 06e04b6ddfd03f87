"""The volume claims of a StatefulSet's pods: made before their pod, kept or dropped as the retention policy says.

Whether a claim is dropped is said by owner references alone and done by garbage collection: a claim that the set owns
goes with the set, one that a condemned pod owns goes with that pod.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mooring.api.apps.views import StatefulSet
from mooring.api.core.views import PersistentVolumeClaim, Pod
from mooring.api.kinds import Key, Kind, key_of
from mooring.kube.objects import Object
from mooring.runtime.decision import Create, Event, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.kinds import PERSISTENT_VOLUME_CLAIM, POD, STATEFUL_SET
from mooring.workloads.ownerrefs import controller_reference, reference_objects


class Supply(NamedTuple):
    """The claims that a pod lacks. One that is on its way out, or is of an earlier pod, must be gone first."""

    creates: tuple[Write, ...] = ()
    events: tuple[Event, ...] = ()
    blocked: bool = False


def claim_name(template: Object, stateful_set: StatefulSet, ordinal: int) -> str:
    return f"{template['metadata']['name']}-{stateful_set.metadata.name}-{ordinal}"


def drops_claims(stateful_set: StatefulSet) -> bool:
    policy = stateful_set.spec.persistent_volume_claim_retention_policy
    return "Delete" in (policy.when_deleted, policy.when_scaled)


def mounted(stateful_set: StatefulSet, spec: Object, ordinal: int) -> Object:
    """A pod's spec with its claims in place of volumes of the same names."""
    templates = stateful_set.spec.volume_claim_templates
    if not templates:
        return spec
    claims = {t["metadata"]["name"]: claim_name(t, stateful_set, ordinal) for t in templates}
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": claim}} for name, claim in claims.items()]
    return {**spec, "volumes": [*volumes, *(v for v in spec.get("volumes") or () if v["name"] not in claims)]}


def supply(view: View, stateful_set: StatefulSet, ordinal: int, pod: Pod | None) -> Supply:
    creates: list[Write] = []
    events: list[Event] = []
    namespace = stateful_set.metadata.namespace
    pod_name = f"{stateful_set.metadata.name}-{ordinal}"
    scaled = stateful_set.spec.persistent_volume_claim_retention_policy.when_scaled
    for template in stateful_set.spec.volume_claim_templates:
        name = claim_name(template, stateful_set, ordinal)
        found = view.get(PERSISTENT_VOLUME_CLAIM, namespace, name)
        if found is None:
            creates.append(_create(stateful_set, template, name))
            text = f"Create Claim {name} Pod {pod_name} in StatefulSet {stateful_set.metadata.name} success"
            claim = (PERSISTENT_VOLUME_CLAIM, Key(namespace, name))
            events.append(Event(STATEFUL_SET, key_of(stateful_set), "Normal", "SuccessfulCreate", text, claim))
        elif found.metadata.deleting or (pod is None and scaled == "Delete" and _is_stale(found, pod_name)):
            return Supply(blocked=True)
    return Supply(tuple(creates), tuple(events))


def _is_stale(claim: PersistentVolumeClaim, pod_name: str) -> bool:
    return any((ref.kind, ref.name) == ("Pod", pod_name) for ref in claim.metadata.owner_references)


def _create(stateful_set: StatefulSet, template: Object, name: str) -> Create:
    stamped = template["metadata"]
    labels = {**(stamped.get("labels") or {}), **((stateful_set.spec.selector or {}).get("matchLabels") or {})}
    metadata: Object = {"name": name, "namespace": stateful_set.metadata.namespace, "labels": labels}
    if stamped.get("annotations"):
        metadata["annotations"] = dict(stamped["annotations"])
    if stateful_set.spec.persistent_volume_claim_retention_policy.when_deleted == "Delete":
        metadata["ownerReferences"] = [controller_reference(STATEFUL_SET, stateful_set)]
    return Create(PERSISTENT_VOLUME_CLAIM, {"metadata": metadata, "spec": template.get("spec", {})})


def retained(view: View, stateful_set: StatefulSet, ordinal: int, pod: Pod, *, condemned: bool) -> tuple[Write, ...]:
    """The writes that make the owners of a pod's claims agree with the retention policy."""
    writes: list[Write] = []
    for template in stateful_set.spec.volume_claim_templates:
        name = claim_name(template, stateful_set, ordinal)
        claim = view.get(PERSISTENT_VOLUME_CLAIM, stateful_set.metadata.namespace, name)
        if claim is not None:
            writes += _owned_right(claim, stateful_set, pod, condemned=condemned)
    return tuple(writes)


def _owned_right(
    claim: PersistentVolumeClaim, stateful_set: StatefulSet, pod: Pod, *, condemned: bool
) -> tuple[Write, ...]:
    uids = {
        ("StatefulSet", stateful_set.metadata.name): stateful_set.metadata.uid,
        ("Pod", pod.metadata.name): pod.metadata.uid,
    }
    references = claim.metadata.owner_references
    ours = [ref for ref in references if (ref.kind, ref.name) in uids]
    others = [ref for ref in references if (ref.kind, ref.name) not in uids]
    if any(ref.uid != uids[ref.kind, ref.name] for ref in ours):
        # It belongs to an earlier set or pod of the same name; garbage collection decides about it.
        return ()
    wanted = _wanted(stateful_set, pod, condemned=condemned)
    if drops_claims(stateful_set) and any(ref.controller for ref in others):
        wanted = []
    if [(ref.uid, ref.controller) for ref in ours] == [(ref["uid"], True) for ref in wanted]:
        return ()
    owners = [*reference_objects(others), *wanted]
    return (Patch(PERSISTENT_VOLUME_CLAIM, key_of(claim), {"metadata": {"ownerReferences": owners or None}}),)


def _wanted(stateful_set: StatefulSet, pod: Pod, *, condemned: bool) -> list[Object]:
    policy = stateful_set.spec.persistent_volume_claim_retention_policy
    owner: tuple[Kind[Any], Any] | None = None
    if condemned and policy.when_scaled == "Delete":
        owner = POD, pod
    elif policy.when_deleted == "Delete":
        owner = STATEFUL_SET, stateful_set
    return [] if owner is None else [controller_reference(*owner)]
