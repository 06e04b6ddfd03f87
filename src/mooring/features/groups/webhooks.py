"""The webhooks of LeaderWorkerSets themselves: what is left out is filled in, and what cannot work is refused."""

from __future__ import annotations

from typing import Final

from mooring.features.groups.api import API_VERSION, PLURAL
from mooring.features.groups.defaults import default_leader_worker_set
from mooring.features.groups.pods.webhook import POD_WEBHOOK
from mooring.features.groups.policy_webhook import POLICY_WEBHOOK
from mooring.features.groups.validation import (
    leader_worker_set_warnings,
    validate_leader_worker_set,
    validate_leader_worker_set_update,
)
from mooring.runtime.view import View
from mooring.runtime.webhooks.model import Admitted, Denied, Rule, Webhook, WebhookRequest

_RULES: Final = (Rule(API_VERSION, PLURAL, ("CREATE", "UPDATE")),)


def fill_in(request: WebhookRequest, view: View) -> Admitted | Denied:
    if request.object is None:
        return Admitted()
    return Admitted(default_leader_worker_set(request.object))


def check(request: WebhookRequest, view: View) -> Admitted | Denied:
    obj = request.object
    if obj is None or "deletionTimestamp" in obj["metadata"]:
        # What goes away must be able to go, whatever is wrong with it.
        return Admitted()
    new = default_leader_worker_set(obj)
    if request.old_object is None:
        errors = validate_leader_worker_set(new)
    else:
        errors = validate_leader_worker_set_update(new, default_leader_worker_set(request.old_object))
    if errors:
        return Denied(errors=tuple(errors))
    return Admitted(warnings=leader_worker_set_warnings(new))


DEFAULTING: Final = Webhook("defaults.leaderworkerset.mooring.dev", "mutating", fill_in, _RULES, switch="lws-webhook")
VALIDATION: Final = Webhook("validation.leaderworkerset.mooring.dev", "validating", check, _RULES, switch="lws-webhook")
WEBHOOKS: Final = (DEFAULTING, VALIDATION, POD_WEBHOOK, POLICY_WEBHOOK)
