"""The webhook of scheduling policies: what a policy asks for is written into both pod templates of its set.

Upstream's controller knows no such policy, and copies templates as they are. So the policy reaches the pods, where the
pod webhook acts on it, whichever of the two controllers runs the set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from mooring.features.groups.api import API_VERSION, PLURAL, read_template
from mooring.features.groups.pods.unique_placement import (
    POD_TEMPLATES,
    annotations_of,
    unique_annotations,
    with_unique_annotations,
)
from mooring.kube.objects import Object
from mooring.runtime.view import View
from mooring.runtime.webhooks.model import Admitted, Denied, Rule, Webhook, WebhookRequest


def admit(request: WebhookRequest, view: View) -> Admitted | Denied:
    obj = request.object
    template = _template(obj)
    if obj is None or not template:
        return Admitted()
    try:
        asked = unique_annotations(read_template(template))
        before = unique_annotations(read_template(_template(request.old_object)))
    except msgspec.ValidationError:
        # A part of the wrong type is left for the schema to refuse.
        return Admitted()
    stale = {name: value for name, value in before.items() if name not in asked}
    made = with_unique_annotations(_without(template, stale), asked)
    return Admitted() if made == template else Admitted({**obj, "spec": {**obj["spec"], "leaderWorkerTemplate": made}})


def _template(obj: Object | None) -> Object:
    """The `leaderWorkerTemplate` of a set, if it is one at all."""
    spec = (obj or {}).get("spec")
    template = spec.get("leaderWorkerTemplate") if isinstance(spec, dict) else None
    return template if isinstance(template, dict) else {}


def _without(template: Object, stale: Mapping[str, str]) -> Object:
    """The templates without what an earlier policy asked for. What was written over it since then stays."""
    made = dict(template)
    for name in POD_TEMPLATES if stale else ():
        annotations = annotations_of(template.get(name) or {})
        kept = {key: value for key, value in annotations.items() if stale.get(key) != value}
        if kept != annotations:
            made[name] = {**template[name], "metadata": {**template[name]["metadata"], "annotations": kept}}
    return made


POLICY_WEBHOOK: Final = Webhook(
    "policies.leaderworkerset.mooring.dev",
    "mutating",
    admit,
    (Rule(API_VERSION, PLURAL, ("CREATE", "UPDATE")),),
    switch="lws-pod-webhook",
)
