"""What is filled in and refused when an Installation is written: who asks for it, and what Helm could not be given.

Helm acts with the rights of `spec.requestedBy`. It is the user of the request that made the spec what it is; what
somebody writes there themselves counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mooring.features.installation.api.installation import InstallationSpec
from mooring.features.installation.api.kinds import INSTALLATION
from mooring.features.installation.api.names import API_VERSION, WEBHOOK_SWITCH
from mooring.features.installation.helm.value_flags import check
from mooring.kube.errors import FieldError, InputError, invalid
from mooring.kube.objects import Object
from mooring.runtime.view import View
from mooring.runtime.webhooks.model import Admitted, Denied, Rule, Webhook, WebhookRequest

_REQUESTED_BY: Final = "requestedBy"


def stamp(request: WebhookRequest, view: View) -> Admitted | Denied:
    obj, old = request.object, request.old_object
    if obj is None:
        return Admitted()
    before = None if old is None else old.get("spec", {})
    spec = obj.get("spec") or {}
    if before is not None and _asked(spec) == _asked(before):
        asked_by = before.get(_REQUESTED_BY)
    else:
        asked_by = {"username": request.user, "groups": list(request.groups)}
    stamped = _asked(spec) | ({} if asked_by is None else {_REQUESTED_BY: asked_by})
    return Admitted({**obj, "spec": stamped})


def _asked(spec: Object) -> Object:
    return {name: value for name, value in spec.items() if name != _REQUESTED_BY}


def validate(request: WebhookRequest, view: View) -> Admitted | Denied:
    found = request.typed(INSTALLATION)
    if found is None or found.metadata.deleting:
        return Admitted()
    errors = tuple(_errors(found.spec))
    return Denied(errors=errors) if errors else Admitted()


def _errors(spec: InstallationSpec) -> Iterator[FieldError]:
    for index, chart in enumerate(spec.charts):
        path = f"spec.charts[{index}]"
        repository, slash, _ = chart.chart.rpartition("/")
        if slash and repository != spec.repository.name:
            yield invalid(f"{path}.chart", chart.chart, f"must be a chart of repository {spec.repository.name}")
        try:
            check(chart.values or {})
        except InputError as error:
            yield invalid(f"{path}.{error.path}", "(hidden)", error.message)
    if spec.rollback_to is not None and len(spec.charts) > 1:
        yield invalid("spec.rollbackTo", spec.rollback_to, "is a revision of one release, and there are several charts")


WEBHOOKS: Final = (
    Webhook(
        "requester.installation.mooring.dev",
        "mutating",
        stamp,
        (Rule(API_VERSION, "installations", ("CREATE", "UPDATE")),),
        switch=WEBHOOK_SWITCH,
    ),
    Webhook(
        "validation.installation.mooring.dev",
        "validating",
        validate,
        (Rule(API_VERSION, "installations", ("CREATE", "UPDATE")),),
        switch=WEBHOOK_SWITCH,
    ),
)
