"""The transport to a registry in the same process: the same semantics as over HTTP, without sockets or copies."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from mooring.client.transport import Change, Listed, Object, Request
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
        self._changed = True
        watch.on_change(self._note)

    def _note(self) -> None:
        self._changed = True

    def poll(self) -> list[Change]:
        if not self._changed:
            return []
        self._changed = False
        return [Change(event.type, event.object) for event in self._watch.poll()]

    def close(self) -> None:
        self._watch.close()
