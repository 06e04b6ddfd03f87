"""The transport to a registry in the same process: the same semantics as over HTTP, without sockets or copies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from datetime import datetime
from typing import Any, cast

from mooring.client.transport import EVERYTHING, Batch, Change, Item, Listed, Page, Request, Scope
from mooring.kube.objects import Object
from mooring.registry import Registry, Watch


class InProcess:
    def __init__(self, registry: Registry, clock: Callable[[], datetime]) -> None:
        self.registry = registry
        self._clock = clock

    def get(self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False) -> Object:
        found = self.registry.get(self.registry.resource(api_version, kind), namespace, name)
        return _metadata_of(found) if metadata_only else found

    def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> Listed:
        found = self.registry.list(self.registry.resource(api_version, kind), **_options(scope))
        items = [_metadata_of(obj) for obj in found.items] if scope.metadata_only else found.items
        return Listed(items, found.resource_version)

    def watch(self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING) -> InProcessStream:
        return InProcessStream(self.open(api_version, kind, resource_version, scope), scope.metadata_only)

    def open(self, api_version: str, kind: str, resource_version: str, scope: Scope) -> Watch:
        resource = self.registry.resource(api_version, kind)
        return self.registry.watch(resource, resource_version=resource_version, **_options(scope))

    def write(self, request: Request) -> Object:
        found = self._write(request)
        return _metadata_of(found) if request.metadata_only else found

    def _write(self, request: Request) -> Object:
        registry, now = self.registry, self._clock()
        resource = registry.resource(request.api_version, request.kind)
        match request.verb:
            case "create":
                return registry.create(resource, request.body, now=now, manager=request.manager)
            case "bind":
                metadata = {"name": request.name, "namespace": request.namespace}
                if request.uid is not None:
                    metadata["uid"] = request.uid
                body = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, **request.body}
                return registry.bind(body, now=now)
            case "evict":
                return registry.evict(request.namespace, request.name, now=now, uid=request.uid, grace=request.grace)
            case "delete":
                return registry.delete(
                    resource,
                    request.namespace,
                    request.name,
                    now=now,
                    uid=request.uid,
                    resource_version=request.resource_version,
                    propagation=request.propagation,
                    grace=request.grace,
                )
        basis: dict[str, Any] = {}
        if request.uid is not None:
            basis["uid"] = request.uid
        if request.resource_version is not None:
            basis["resourceVersion"] = request.resource_version
        body = request.body
        if basis:
            body = {**body, "metadata": {**body.get("metadata", {}), **basis}}
        return registry.patch(
            resource,
            request.namespace,
            request.name,
            "apply" if request.verb == "apply" else "merge",
            body,
            now=now,
            subresource=request.subresource,
            manager=request.manager,
            force=request.verb == "apply",
        )


class InProcessStream:
    """A watch that knows whether there is anything to poll, which most of the time there is not."""

    def __init__(self, watch: Watch, metadata_only: bool) -> None:
        self._watch = watch
        self._metadata_only = metadata_only
        self.news = True
        watch.on_change(self._note)

    def _note(self) -> None:
        self.news = True

    def poll(self) -> list[Change]:
        if not self.news:
            return []
        self.news = False
        # An event of a watch is a change in all but its name.
        changes = cast(list[Change], self._watch.poll())
        return _metadata_changes(changes) if self._metadata_only else changes

    def close(self) -> None:
        self._watch.close()


class AsyncInProcess:
    """The same as an AsyncTransport."""

    def __init__(self, registry: Registry, clock: Callable[[], datetime]) -> None:
        self._inner = InProcess(registry, clock)

    async def get(
        self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False
    ) -> Object:
        return self._inner.get(api_version, kind, namespace, name, metadata_only=metadata_only)

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        yield Page(*self._inner.list(api_version, kind, scope))

    async def watch(
        self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING
    ) -> AsyncGenerator[Batch]:
        watch = self._inner.open(api_version, kind, resource_version, scope)
        changed = asyncio.Event()
        changed.set()
        watch.on_change(changed.set)
        try:
            yield Batch((), resource_version)
            while True:
                await changed.wait()
                changed.clear()
                changes = [Change(*event) for event in watch.poll()]
                if changes:
                    found = _metadata_changes(changes) if scope.metadata_only else changes
                    yield Batch(found, str(watch.revision))
        finally:
            watch.close()

    async def write(self, request: Request) -> Object:
        return self._inner.write(request)

    async def close(self) -> None:
        return


def _options(scope: Scope) -> dict[str, Any]:
    if scope is EVERYTHING:
        return {}
    return {
        "namespace": scope.namespace or None,
        "label_selector": scope.labels or None,
        "field_selector": scope.fields or None,
    }


def _metadata_of(obj: Item) -> Object:
    plain = cast(Object, obj)
    return {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": plain["metadata"]}


def _metadata_changes(changes: list[Change]) -> list[Change]:
    return [Change(change.type, _metadata_of(change.object)) for change in changes]
