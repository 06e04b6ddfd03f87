"""A webhook that is called in this process: its function, asked about a write with a view that follows a registry."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from datetime import datetime
from typing import Any

from mooring.admission.refusals import call_failure, denial
from mooring.admission.reviews import strip_server_fields
from mooring.api.kinds import Key, Kind
from mooring.kube.objects import Object
from mooring.kube.patches import json_patch
from mooring.kube.status import ExpiredError, InternalError
from mooring.registry import AdmissionRequest, Registry, Resource, Watch
from mooring.runtime.dispatcher.store import Store
from mooring.runtime.logs import say
from mooring.runtime.settings import Configuration
from mooring.runtime.view import Unavailable, View
from mooring.runtime.webhooks.by_name import store_of_one, unread_object
from mooring.runtime.webhooks.model import Admitted, Denied, Webhook, WebhookRequest

__all__ = ["Feeds", "LoadedWebhook"]


class _Feed:
    """A store that follows a registry, brought up to date when it is asked for."""

    def __init__(self, registry: Registry, kind: Kind[Any]) -> None:
        self._registry = registry
        self._kind = kind
        self._store: Store[Any] = Store(kind)
        self._resource: Resource | None = None
        self._watch: Watch | None = None

    def current(self) -> Store[Any]:
        resource = self._registry.resources.find(self._kind.api_version, self._kind.kind)
        if resource is None:
            self._watch = None
            self._store = Store(self._kind)
            self._store.problem = "is not installed"
            return self._store
        try:
            if self._watch is None or resource is not self._resource:
                self._list(resource)
            else:
                self._follow(self._watch)
        except ExpiredError:
            self._list(resource)
        return self._store

    def _list(self, resource: Resource) -> None:
        found = self._registry.list(resource)
        self._store.resync(map(self._store.read, found.items), int(found.resource_version))
        self._watch = self._registry.watch(resource, resource_version=found.resource_version)
        self._resource = resource

    def _follow(self, watch: Watch) -> None:
        for event in watch.poll():
            metadata = event.object["metadata"]
            if event.type == "DELETED":
                key = Key(metadata.get("namespace", ""), metadata["name"])
                self._store.remove(key, int(metadata["resourceVersion"]))
            elif event.type != "BOOKMARK":
                self._store.put(event.object)


Feeds = dict[Kind[Any], _Feed]
"""The feeds of a registry, which its webhooks share."""


class LoadedWebhook:
    """One webhook, and what it needs to answer."""

    def __init__(
        self,
        registry: Registry,
        webhook: Webhook,
        feeds: Feeds,
        clock: Callable[[], datetime],
        configuration: Configuration,
    ) -> None:
        self._registry = registry
        self._webhook = webhook
        followed = [kind for kind in webhook.reads if not kind.by_name]
        self._feeds = {kind: feeds.setdefault(kind, _Feed(registry, kind)) for kind in followed}
        self._clock = clock
        self._gates = configuration.gates_of(webhook.gates)
        self._settings = configuration.settings_of(webhook.settings)

    def mutated(self, request: AdmissionRequest, resource: Resource) -> Object | None:
        """The object as the webhook wants it, which was asked about it as a `resource`; None where it stays."""
        if request.object is None:
            return None
        asked = self._asked(request, resource, before_create=request.operation == "CREATE")
        answer = self._answer(asked, request)
        if answer.patch:
            made: Object = json_patch(asked.object, answer.patch)
        elif answer.object is None:
            return None
        else:
            made = answer.object
        if made == asked.object:
            return None
        return self._registry.convert(made, request.resource)

    def check(self, request: AdmissionRequest, resource: Resource) -> None:
        self._answer(self._asked(request, resource, before_create=False), request)

    def _asked(self, request: AdmissionRequest, resource: Resource, *, before_create: bool) -> WebhookRequest:
        obj, old = (
            None if each is None else self._registry.convert(each, resource)
            for each in (request.object, request.old_object)
        )
        if before_create and obj is not None:
            obj = strip_server_fields(obj)
        return WebhookRequest(
            operation=request.operation,
            api_version=resource.api_version,
            kind=resource.kind,
            resource=resource.plural,
            name=request.name,
            namespace=request.namespace,
            object=obj,
            old_object=old,
            subresource=request.subresource,
            user=request.user,
            groups=request.groups,
            dry_run=request.dry_run,
        )

    def _answer(self, asked: WebhookRequest, request: AdmissionRequest) -> Admitted:
        """What the function says, if it lets the request pass. Its view is live, so absences need no second look."""
        webhook = self._webhook
        try:
            answer = self._admit(asked)
        except Unavailable as error:
            return self._undecided(str(error))
        except Exception as error:
            # One line: the function is at fault, and its author finds the place in the debug log.
            say(logging.ERROR, f"webhook {webhook.name} failed: {error!r}", webhook=webhook.name)
            say(logging.DEBUG, "".join(traceback.format_exception(error)), webhook=webhook.name)
            return self._undecided("it failed; the log of the API server says more")
        request.warnings.extend(answer.warnings)
        if isinstance(answer, Denied):
            raise denial(webhook.name, answer.status(asked))
        if answer.object is not None and not isinstance(answer.object.get("metadata"), dict):
            raise InternalError.of(f"webhook {webhook.name} gave an object without metadata")
        return answer

    def _admit(self, asked: WebhookRequest) -> Admitted | Denied:
        stores = {kind: feed.current() for kind, feed in self._feeds.items()}
        while True:
            view = View(stores, {}, self._webhook.reads, self._clock(), gates=self._gates, settings=self._settings)
            try:
                return self._webhook.admit(asked, view)
            except Unavailable as error:
                key = unread_object(error, stores)
                found = self._registry.find(error.kind.api_version, error.kind.kind, *key)
                stores[error.kind] = store_of_one(error.kind, found)

    def _undecided(self, why: str) -> Admitted:
        """It could not decide; its failure policy does, as it would if it were far away."""
        if self._webhook.failure_policy == "Ignore":
            return Admitted()
        raise call_failure(self._webhook.name, why)
