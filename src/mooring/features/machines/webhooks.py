"""The webhooks of Clusters, pools and Machines: what is left out is filled in, and what cannot work is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from mooring.features.machines import defaults, validation
from mooring.features.machines.api.names import API_VERSION
from mooring.kube.errors import FieldError
from mooring.kube.objects import Object
from mooring.runtime.view import View
from mooring.runtime.webhooks.model import Admitted, Denied, Rule, Webhook, WebhookRequest

__all__ = ["SWITCH", "WEBHOOKS"]

SWITCH: Final = "machines-webhook"


class KindRules(NamedTuple):
    """What is filled in and what is refused for one kind."""

    default: Callable[[Object, Object | None], Object]
    validate: Callable[[Object, Object | None], list[FieldError]]


_BY_PLURAL: Final = {
    "clusters": KindRules(defaults.default_cluster, validation.validate_cluster),
    "machinedeployments": KindRules(defaults.default_machine_deployment, validation.validate_machine_deployment),
    "machinesets": KindRules(defaults.default_set, validation.validate_set),
    "machines": KindRules(defaults.default_machine, validation.validate_machine),
}
_RULES: Final = tuple(Rule(API_VERSION, plural, ("CREATE", "UPDATE")) for plural in _BY_PLURAL)


def fill_in(request: WebhookRequest, view: View) -> Admitted | Denied:
    obj = request.object
    if obj is None or not isinstance(obj.get("spec"), dict):
        return Admitted()
    return Admitted(_BY_PLURAL[request.resource].default(obj, request.old_object))


def check(request: WebhookRequest, view: View) -> Admitted | Denied:
    obj = request.object
    if obj is None or "deletionTimestamp" in obj["metadata"]:
        # What goes away must be able to go, whatever is wrong with it.
        return Admitted()
    rules = _BY_PLURAL[request.resource]
    errors = rules.validate(rules.default(obj, request.old_object), request.old_object)
    return Denied(errors=tuple(errors)) if errors else Admitted()


DEFAULTING: Final = Webhook("defaults.machines.mooring.dev", "mutating", fill_in, _RULES, switch=SWITCH)
VALIDATION: Final = Webhook("validation.machines.mooring.dev", "validating", check, _RULES, switch=SWITCH)
WEBHOOKS: Final = (DEFAULTING, VALIDATION)
