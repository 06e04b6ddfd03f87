"""Puts webhooks into a registry in the same process: the functions are called as part of the write, without HTTP.

They are matched, and what they say is told, as it would be by an API server that calls them over the network; so a
workload meets the same webhooks in a plan, on the embedded server and on a real cluster.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from mooring.admission.refusals import call_failure, denial
from mooring.admission.reviews import strip_server_fields
from mooring.admission.rules import Hook, Invocation, hooks_of, invocation, selects_namespace, selects_object
from mooring.api.kinds import Key, Kind
from mooring.kube.objects import Object
from mooring.kube.patches import json_patch
from mooring.kube.status import ExpiredError, InternalError
from mooring.registry import AdmissionRequest, ClusterView, Registry, Resource, Watch
from mooring.runtime.dispatcher.store import Store
from mooring.runtime.logs import say
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runtime.view import Unavailable, View
from mooring.runtime.webhooks.by_name import store_of_one, unread_object
from mooring.runtime.webhooks.configuration import hook_entry
from mooring.runtime.webhooks.model import Admitted, Conversion, Denied, Webhook, WebhookRequest


def install(
    registry: Registry,
    webhooks: Sequence[Webhook],
    *,
    clock: Callable[[], datetime],
    conversions: Sequence[Conversion] = (),
    configuration: Configuration = DEFAULTS,
) -> None:
    """Have a registry call these from the next write on."""
    for conversion in conversions:
        registry.register_conversion(conversion.group, conversion.kind, conversion.convert)
    feeds: dict[Kind[Any], _Feed] = {}
    for webhook in webhooks:
        followed = [kind for kind in webhook.reads if not kind.by_name]
        for kind in followed:
            feeds.setdefault(kind, _Feed(registry, kind))
        direct = _Direct(registry, webhook, {kind: feeds[kind] for kind in followed}, clock, configuration)
        chain = registry.admission
        if webhook.phase == "validating":
            chain.validating.append(direct.validate)
            continue
        chain.mutating.append(direct.mutate)
        if webhook.reinvoked:
            chain.mutating_again.append(direct.mutate)


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


class _Direct:
    """One webhook as the admission chain calls it."""

    def __init__(
        self,
        registry: Registry,
        webhook: Webhook,
        feeds: dict[Kind[Any], _Feed],
        clock: Callable[[], datetime],
        configuration: Configuration,
    ) -> None:
        self._registry = registry
        self._webhook = webhook
        self._feeds = feeds
        self._clock = clock
        self._gates = configuration.gates_of(webhook.gates)
        self._settings = configuration.settings_of(webhook.settings)
        entry = hook_entry(webhook, {})
        self._hook: Hook = hooks_of({"metadata": {"name": "direct"}, "webhooks": [entry]})[0]
        self._matches: dict[tuple[Resource, str, str], Invocation[Resource] | None] = {}

    def mutate(self, request: AdmissionRequest, view: ClusterView) -> Object | None:
        found = self._invocation(request)
        if found is None or request.object is None:
            return None
        asked = self._asked(request, found.resource, before_create=request.operation == "CREATE")
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

    def validate(self, request: AdmissionRequest, view: ClusterView) -> None:
        found = self._invocation(request)
        if found is not None:
            self._answer(self._asked(request, found.resource, before_create=False), request)

    def _invocation(self, request: AdmissionRequest) -> Invocation[Resource] | None:
        key = (request.resource, request.subresource, request.operation)
        if key not in self._matches:
            equivalents = self._registry.resources.in_store(request.resource.store)
            self._matches[key] = invocation(self._hook, *key, equivalents)
        found = self._matches[key]
        if found is None or not selects_object(self._hook, request.object, request.old_object):
            return None
        resource = request.resource
        namespace = request.name if resource.store == "namespaces" else request.namespace
        inside = selects_namespace(
            self._hook, resource, request.subresource, namespace, request.object, self._namespace
        )
        return found if inside else None

    def _namespace(self, name: str) -> Object | None:
        return self._registry.find("v1", "Namespace", "", name)

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
