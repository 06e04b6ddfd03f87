"""The transport to a registry in the same process: the same semantics as over HTTP, without sockets or copies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from datetime import datetime
from typing import Any, cast

from mooring.client.transport import Batch, Change, Listed, Page, Request
from mooring.kube.objects import Object
from mooring.registry import Registry, Watch


class InProcess:
    def __init__(self, registry: Registry, clock: Callable[[], datetime]) -> None:
        self.registry = registry
        self._clock = clock

    def get(self, api_version: str, kind: str, namespace: str, name: str) -> Object:
        return self.registry.get(self.registry.resource(api_version, kind), namespace, name)

    def list(self, api_version: str, kind: str) -> Listed:
        found = self.registry.list(self.registry.resource(api_version, kind))
        return Listed(found.items, found.resource_version)

    def watch(self, api_version: str, kind: str, resource_version: str) -> InProcessStream:
        resource = self.registry.resource(api_version, kind)
        return InProcessStream(self.registry.watch(resource, resource_version=resource_version))

    def write(self, request: Request) -> Object:
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

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.news = True
        watch.on_change(self._note)

    def _note(self) -> None:
        self.news = True

    def poll(self) -> list[Change]:
        if not self.news:
            return []
        self.news = False
        # An event of a watch is a change in all but its name.
        return cast(list[Change], self._watch.poll())

    def close(self) -> None:
        self._watch.close()


class AsyncInProcess:
    """The same for whoever awaits."""

    def __init__(self, registry: Registry, clock: Callable[[], datetime]) -> None:
        self._inner = InProcess(registry, clock)

    async def get(self, api_version: str, kind: str, namespace: str, name: str) -> Object:
        return self._inner.get(api_version, kind, namespace, name)

    async def list(self, api_version: str, kind: str) -> AsyncGenerator[Page]:
        yield Page(*self._inner.list(api_version, kind))

    async def watch(self, api_version: str, kind: str, resource_version: str) -> AsyncGenerator[Batch]:
        registry = self._inner.registry
        resource = registry.resource(api_version, kind)
        watch = registry.watch(resource, resource_version=resource_version)
        changed = asyncio.Event()
        changed.set()
        watch.on_change(changed.set)
        try:
            yield Batch((), resource_version)
            while True:
                await changed.wait()
                changed.clear()
                events = watch.poll()
                if events:
                    yield Batch([Change(*event) for event in events], str(watch.revision))
        finally:
            watch.close()

    async def write(self, request: Request) -> Object:
        return self._inner.write(request)

    async def close(self) -> None:
        return
