"""Tests of webhooks as tables: a review in, a verdict out, without a server.

assert admitted(guard, review(workspace(count=2)), node("gpu-1"))
assert denied_because(guard, review(workspace(count=2))) == "..."
assert patched_to(sidecar, review(pod("p")))["spec"]["containers"][1]["name"] == "side"
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mooring.admission.reviews import Operation
from mooring.api.kinds import key_of_object
from mooring.kube.objects import Object
from mooring.kube.patches import json_patch
from mooring.kube.status import error_from_status
from mooring.runtime.dispatcher.store import Store
from mooring.runtime.reads import single
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runtime.view import Unavailable, View
from mooring.runtime.webhooks.by_name import store_of_one, unread_object
from mooring.runtime.webhooks.model import Admitted, Denied, Webhook, WebhookRequest
from mooring.runtime.webhooks.reviews import patch_of
from mooring.testing.views import NOON, identified


def review(
    obj: Object | None = None,
    old: Object | None = None,
    *,
    operation: Operation | None = None,
    resource: str = "",
    subresource: str = "",
    user: str = "kubernetes-admin",
    groups: tuple[str, ...] = ("system:masters", "system:authenticated"),
    dry_run: bool = False,
) -> WebhookRequest:
    """What is asked about an object: a creation, with an old one a change, with an old one alone a deletion."""
    shown = obj if obj is not None else old
    if shown is None:
        raise ValueError("A review is about an object: give a new one, an old one, or both.")
    usual: Operation = "DELETE" if obj is None else "CREATE" if old is None else "UPDATE"
    return WebhookRequest(
        operation=operation or usual,
        api_version=shown["apiVersion"],
        kind=shown["kind"],
        resource=resource or f"{shown['kind'].lower()}s",
        name=shown["metadata"].get("name", ""),
        namespace=shown["metadata"].get("namespace", ""),
        object=obj,
        old_object=old,
        subresource=subresource,
        user=user,
        groups=groups,
        dry_run=dry_run,
    )


def answered(
    webhook: Webhook, request: WebhookRequest, *objects: Object, configuration: Configuration = DEFAULTS
) -> Admitted | Denied:
    """What a webhook says in a cluster of exactly these objects."""
    stores: dict[Any, Store[Any]] = {kind: Store(kind) for kind in webhook.reads if not kind.by_name}
    followed = {(kind.api_version, kind.kind): store for kind, store in stores.items()}
    by_name = {(kind.api_version, kind.kind): kind for kind in webhook.reads if kind.by_name}
    for store in stores.values():
        store.resync((), 0)
    for version, obj in enumerate(objects, start=1):
        told, place = identified(obj, version), (obj["apiVersion"], obj["kind"])
        if place in followed:
            followed[place].put(told)
        elif place in by_name:
            kind = single(by_name[place], key_of_object(obj))
            stores[kind] = store_of_one(kind, told)
        else:
            raise ValueError(f"{webhook.name} does not declare that it reads {obj['kind']}.")
    gates, settings = configuration.gates_of(webhook.gates), configuration.settings_of(webhook.settings)
    while True:
        try:
            return webhook.admit(request, View(stores, {}, webhook.reads, NOON, gates=gates, settings=settings))
        except Unavailable as error:
            unread_object(error, stores)
            stores[error.kind] = store_of_one(error.kind, None)


def admitted(
    webhook: Webhook, request: WebhookRequest, *objects: Object, configuration: Configuration = DEFAULTS
) -> bool:
    return isinstance(answered(webhook, request, *objects, configuration=configuration), Admitted)


def denied_because(
    webhook: Webhook, request: WebhookRequest, *objects: Object, configuration: Configuration = DEFAULTS
) -> str:
    """The sentence of a refusal, as the API tells it; empty for a request that is let pass."""
    answer = answered(webhook, request, *objects, configuration=configuration)
    return str(error_from_status(answer.status(request))) if isinstance(answer, Denied) else ""


def patched_to(webhook: Webhook, request: WebhookRequest, *objects: Object) -> Object:
    """The object as the API server would have it: the patch is made, and carried out, for real.

    Asked again about what it made, the webhook must leave it as it is.
    """
    answer = answered(webhook, request, *objects)
    if not isinstance(answer, Admitted):
        raise AssertionError(f"{webhook.name} refused it: {denied_because(webhook, request, *objects)}")
    made: Object = json_patch(request.object, patch_of(request, answer))
    again = replace(request, object=made)
    second = answered(webhook, again, *objects)
    if not isinstance(second, Admitted) or patch_of(again, second):
        raise AssertionError(f"{webhook.name} does not leave alone what it made itself: {second}")
    return made
