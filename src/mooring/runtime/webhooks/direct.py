"""Puts webhooks into a registry in the same process: the functions are called as part of the write, without HTTP.

They are matched, and what they say is told, as it would be by an API server that calls them over the network; so a
workload meets the same webhooks in a plan, on the embedded server and on a real cluster. Their functions, and what
makes views for them (`loaded.py`), are loaded when the first write needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from mooring.admission.rules import Hook, Invocation, hooks_of, invocation, selects_namespace, selects_object
from mooring.kube.objects import Object
from mooring.registry import AdmissionRequest, ClusterView, Registry, Resource
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runtime.webhooks.unloaded import UnloadedWebhook

if TYPE_CHECKING:
    from mooring.runtime.webhooks.loaded import Feeds, LoadedWebhook
    from mooring.runtime.webhooks.model import Conversion, Webhook

__all__ = ["install"]


def install(
    registry: Registry,
    webhooks: Sequence[Webhook | UnloadedWebhook],
    *,
    clock: Callable[[], datetime],
    conversions: Sequence[Conversion] = (),
    configuration: Configuration = DEFAULTS,
) -> None:
    """Have a registry call these from the next write on."""
    for conversion in conversions:
        registry.register_conversion(conversion.group, conversion.kind, conversion.convert)
    feeds: Feeds = {}
    for each in webhooks:
        webhook = each if isinstance(each, UnloadedWebhook) else UnloadedWebhook.of(each)
        direct = _Direct(registry, webhook, feeds, clock, configuration)
        chain = registry.admission
        if webhook.phase == "validating":
            chain.validating.append(direct.validate)
            continue
        chain.mutating.append(direct.mutate)
        if webhook.is_reinvoked:
            chain.mutating_again.append(direct.mutate)


class _Direct:
    """One webhook as the admission chain calls it."""

    def __init__(
        self,
        registry: Registry,
        webhook: UnloadedWebhook,
        feeds: Feeds,
        clock: Callable[[], datetime],
        configuration: Configuration,
    ) -> None:
        self._registry = registry
        self._webhook = webhook
        self._feeds = feeds
        self._clock = clock
        self._configuration = configuration
        self._hook: Hook = hooks_of({"metadata": {"name": "direct"}, "webhooks": [webhook.entry]})[0]
        self._matches: dict[tuple[Resource, str, str], Invocation[Resource] | None] = {}
        self._loaded: LoadedWebhook | None = None

    def mutate(self, request: AdmissionRequest, view: ClusterView) -> Object | None:
        found = self._invocation(request)
        return None if found is None else self._load().mutated(request, found.resource)

    def validate(self, request: AdmissionRequest, view: ClusterView) -> None:
        found = self._invocation(request)
        if found is not None:
            self._load().check(request, found.resource)

    def _load(self) -> LoadedWebhook:
        if self._loaded is None:
            from mooring.runtime.webhooks.loaded import LoadedWebhook

            webhook = self._webhook.load()
            self._loaded = LoadedWebhook(self._registry, webhook, self._feeds, self._clock, self._configuration)
        return self._loaded

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
