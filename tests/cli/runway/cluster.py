"""A cluster within this process for commands of runway: a registry, and what it is asked to write and refuses."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import msgspec

from mooring.catalog import CATALOG
from mooring.client.inprocess import AsyncInProcess
from mooring.client.rest_mapper import RestMapping
from mooring.client.transport import EVERYTHING, Page, Request, Scope
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, NotFoundError
from mooring.registry import MemoryStorage, Registry

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
# Where commands take their connection from.
_CONNECTS: Final = (
    "mooring.cli.runway.session.connect",
    "mooring.cli.installation.install.connect",
    "mooring.cli.installation.uninstall.connect",
    "mooring.cli.installation.installations.connect",
)


class Cluster:
    """The transport of a command. `refused` has an error for a verb and kind."""

    server = "https://cluster:6443"

    def __init__(self, *, kinds: bool = True, version: str = "v1.34.1") -> None:
        registry = Registry(MemoryStorage(), now=NOW)
        if kinds:
            definitions = registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
            for each in CATALOG.definitions():
                registry.create(definitions, each, now=NOW)
        self.registry = registry
        self._inner = AsyncInProcess(registry, lambda: NOW)
        self._version = version
        self.refused: dict[tuple[str, str], ApiError] = {}
        self.writes: list[str] = []
        self.closed = 0

    def add(self, *objects: Object) -> None:
        for each in objects:
            resource = self.registry.resource(each["apiVersion"], each["kind"])
            namespace = "default" if resource.namespaced else ""
            body = {**each, "metadata": {"namespace": namespace, **each["metadata"]}} if namespace else each
            made = self.registry.create(resource, body, now=NOW)
            if each["kind"] == "Node":
                # A node that is new is said not to be ready until somebody looks.
                taints = {"spec": {"taints": each["spec"].get("taints")}}
                self.registry.patch(resource, "", made["metadata"]["name"], "merge", taints, now=NOW)
            if "status" in each:
                name, space = made["metadata"]["name"], made["metadata"].get("namespace", "")
                told = {"status": each["status"]}
                self.registry.patch(resource, space, name, "merge", told, now=NOW, subresource="status")

    def _look(self, verb: str, kind: str) -> None:
        if error := self.refused.get((verb, kind)) or self.refused.get((verb, "*")):
            raise error

    async def version(self) -> str:
        self._look("version", "")
        return self._version

    async def mapping(self, api_version: str, kind: str) -> RestMapping:
        found = self.registry.resource(api_version, kind)
        return RestMapping(api_version, found.plural, found.namespaced)

    async def get(
        self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False
    ) -> Object:
        self._look("get", kind)
        return await self._inner.get(api_version, kind, namespace, name, metadata_only=metadata_only)

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        self._look("list", kind)
        async for page in self._inner.list(api_version, kind, scope):
            # As it comes over the wire.
            yield Page([msgspec.Raw(msgspec.json.encode(item)) for item in page.items], page.resource_version)

    async def write(self, request: Request) -> Object:
        where = f"{request.namespace}/{request.name}" if request.namespace else request.name
        more = f" {request.propagation}" if request.propagation else ""
        self.writes.append(f"{request.verb} {request.kind} {where}{more} by {request.manager or 'nobody'}")
        self._look(request.verb, request.kind)
        return await self._inner.write(request)

    async def log(self, namespace: str, pod: str, query: Mapping[str, str]) -> str:
        self._look("log", "Pod")
        return f"{namespace}/{pod} {dict(query)}\n"

    async def proxied(self, namespace: str, pod: str, port: int, path: str, most_bytes: int) -> str:
        self._look("proxied", "Pod")
        if pod.endswith("-1"):
            raise NotFoundError(f"{pod} has no {path}")
        return f'# HELP up says so\nup{{pod="{pod}",port="{port}"}} 1\nlatency_bucket{{le="+Inf"}} 7.5\n'

    async def close(self) -> None:
        self.closed += 1


@contextmanager
def reached(cluster: Cluster) -> Iterator[list[Any]]:
    """While it lasts, commands reach this cluster; given is what they asked to be connected with."""
    asked: list[Any] = []

    def connect(kubeconfig: Path | None, context: str | None, *, page: int | None = None) -> tuple[Cluster, str]:
        asked.append([str(kubeconfig), context, page])
        return cluster, "default"

    with ExitStack() as stack:
        for place in _CONNECTS:
            stack.enter_context(patch(place, connect))
        yield asked
