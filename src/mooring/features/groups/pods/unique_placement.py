"""Nodes of its own for every replica: a node selector and a toleration whose value is the name of the leader pod.

Both come from annotations on the pod, because a webhook for pods does not see the set it belongs to. So they work as
well on pods of another controller, or on templates that carry the annotations by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mooring.features.groups.api import (
    EFFECTS,
    UNIQUE_SELECTOR,
    UNIQUE_TOLERATION_EFFECT,
    UNIQUE_TOLERATION_KEY,
    LeaderWorkerTemplate,
)
from mooring.kube.objects import Object

POD_TEMPLATES: Final = ("leaderTemplate", "workerTemplate")


def unique_annotations(template: LeaderWorkerTemplate) -> dict[str, str]:
    """What both pod templates carry; nothing where nothing is asked for."""
    policy = template.scheduling_policy
    if policy is None:
        return {}
    found = {}
    if policy.replica_unique_node_selector:
        found[UNIQUE_SELECTOR] = policy.replica_unique_node_selector
    if policy.replica_unique_toleration is not None:
        found[UNIQUE_TOLERATION_KEY] = policy.replica_unique_toleration.key
        found[UNIQUE_TOLERATION_EFFECT] = policy.replica_unique_toleration.effect
    return found


def with_unique_annotations(template: Object, annotations: Mapping[str, str]) -> Object:
    """A `leaderWorkerTemplate` whose pod templates carry these; what is not changed is shared with the one given."""
    if not annotations:
        return template
    return template | {name: _annotated(template[name], annotations) for name in POD_TEMPLATES if template.get(name)}


def annotations_of(template: Object) -> Object:
    """The annotations of a pod template; none where they are of the wrong type, for the schema to refuse."""
    metadata = template.get("metadata")
    found = metadata.get("annotations") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def _annotated(template: Object, annotations: Mapping[str, str]) -> Object:
    metadata = template.get("metadata") or {}
    if not isinstance(metadata, dict):
        return template
    return {**template, "metadata": {**metadata, "annotations": {**annotations_of(template), **annotations}}}


def wrong_effect(annotations: Mapping[str, str]) -> str:
    """Why the annotations cannot be followed; empty if they can. No effect would mean every effect."""
    key, effect = annotations.get(UNIQUE_TOLERATION_KEY), annotations.get(UNIQUE_TOLERATION_EFFECT, "")
    if not key or effect in EFFECTS:
        return ""
    said = f'is "{effect}"' if effect else "is missing"
    return f"annotation {UNIQUE_TOLERATION_EFFECT} {said}; it must be one of {', '.join(EFFECTS)}"


def with_unique_placement(spec: Object, annotations: Mapping[str, str], leader: str) -> Object:
    """A pod's spec that asks for the nodes of this leader."""
    key, selector = annotations.get(UNIQUE_TOLERATION_KEY), annotations.get(UNIQUE_SELECTOR)
    if selector:
        spec = {**spec, "nodeSelector": {**(spec.get("nodeSelector") or {}), selector: leader}}
    if key:
        effect = annotations[UNIQUE_TOLERATION_EFFECT]
        wanted = {"key": key, "operator": "Equal", "value": leader, "effect": effect}
        tolerations = spec.get("tolerations") or []
        if not any(_same(toleration, wanted) for toleration in tolerations):
            spec = {**spec, "tolerations": [*tolerations, wanted]}
    return spec


def _same(toleration: Object, wanted: Object) -> bool:
    if "tolerationSeconds" in toleration:
        return False
    return {"operator": "Equal", **toleration} == wanted
