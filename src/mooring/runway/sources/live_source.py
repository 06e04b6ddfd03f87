"""A cluster source that lists an API server, and never writes to it.

Kinds are listed concurrently and page by page. Each page is decoded into typed views while the server prepares the next
one, so of fifty thousand pods only the views and one page are in memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from mooring.api.core.types import Pod
from mooring.catalog import CATALOG
from mooring.client.transport import Page
from mooring.kube.errors import InputError, MooringError
from mooring.kube.status import ApiError, ExpiredError, ForbiddenError, NotFoundError
from mooring.manifests.views import convert
from mooring.placement.node_pools import NodePool, NodePoolKinds
from mooring.placement.snapshot import VIEWS, Snapshot, describe
from mooring.placement.workloads.owners import Workload
from mooring.runway.explain.asked_pods.manifest_pods import message_of
from mooring.runway.sources.refusal import refusal

if TYPE_CHECKING:
    from mooring.client.http import HttpTransport
    from mooring.placement.workloads.kinds import WorkloadKind

__all__ = ["DEVICES", "PAGE", "REQUIRED", "Gap", "LiveSource", "Take", "left_out", "read_kinds"]

# A whole cluster is read once: fewer round trips count for more than the size of a page.
PAGE: Final = 2000
REQUIRED: Final = ("Node", "Pod")
# What an answer leaves out when a kind cannot be read; of other kinds none can be explained then.
_LEFT_OUT: Final = {
    "Namespace": "namespace selectors of pod affinity match nothing",
    "Service": "default spreading does not know which pods belong together",
    "ReplicationController": "default spreading does not know its pods",
    "ReplicaSet": "default spreading does not know its pods",
    "StatefulSet": "default spreading does not know its pods",
    "PodDisruptionBudget": "preemption takes no care of budgets",
    "PriorityClass": "priorities of manifests and advice go without it",
    "RuntimeClass": "what it adds to a pod of a manifest is not known",
    "PersistentVolumeClaim": "where a pod that mounts one can go is not known",
    "PersistentVolume": "which nodes reach a volume is not known",
    "StorageClass": "whether a claim waits for its pod is not known",
    "CSINode": "how many volumes a node can attach is not known",
    "CSIDriver": "whether a driver tells of its space is not known",
    "CSIStorageCapacity": "what space a driver has left is not known",
    "VolumeAttachment": "volumes that no pod holds are not counted",
    "DeviceClass": "which devices a claim asks for is not known",
    "ResourceSlice": "which devices nodes have is not known",
    "ResourceClaim": "which devices are taken is not known",
    "ResourceClaimTemplate": "what a pod of a manifest claims is not known",
    "ControllerRevision": "StatefulSets and DaemonSets are taken to be up to date",
}

# Clusters before 1.34 do not serve these.
DEVICES: Final = frozenset(kind for kind in VIEWS if kind[0] == "resource.k8s.io/v1")

Views = Mapping[tuple[str, str], Any]
"""How objects are read, by apiVersion and kind: as a view, or as plain objects."""


def left_out(kind: str) -> str:
    """What an answer leaves out when a kind cannot be read."""
    return _LEFT_OUT.get(kind, "none can be explained from it")


Take = Callable[[str, Any], None]
"""Called with the kind and the view of each object."""


class Gap(NamedTuple):
    """A kind that could not be listed, and what that leaves out."""

    kind: str
    text: str


async def read_kinds(
    transport: HttpTransport, views: Views, take: Take, may_be_missing: Collection[tuple[str, str]] = ()
) -> list[Gap]:
    """List all objects of some kinds; returns those that could not be listed.

    Of kinds that `may_be_missing`, by apiVersion and kind, a cluster that does not serve them has no objects.
    """
    kinds = [
        _KindReader(transport, *kind, view, take, may_be_missing=kind in may_be_missing) for kind, view in views.items()
    ]
    try:
        async with asyncio.TaskGroup() as group:
            reading = [group.create_task(kind.read()) for kind in kinds]
    except BaseExceptionGroup as errors:
        # Kinds are read side by side; what stopped the first one is what people want to know.
        raise _first_of(errors) from None
    return [Gap(kind.kind, text) for kind, task in zip(kinds, reading, strict=True) if (text := task.result())]


class _KindReader:
    def __init__(
        self,
        transport: HttpTransport,
        api_version: str,
        kind: str,
        view: Any,
        take: Take,
        *,
        may_be_missing: bool,
    ) -> None:
        self._transport = transport
        self._api_version, self.kind = api_version, kind
        self._view = view
        self._decode = msgspec.json.Decoder(view).decode
        self._take = take
        self._may_be_missing = may_be_missing
        self._taken: set[tuple[str, str]] = set()

    async def read(self) -> str:
        try:
            try:
                await self._pages()
            except ExpiredError:
                # The continue token expired during the list (410); one more attempt, with warm caches.
                await self._pages()
        except (ForbiddenError, NotFoundError) as error:
            if self.kind in REQUIRED:
                raise refusal(
                    self._transport.server, f"list {self.kind} objects, which nothing goes without", error
                ) from None
            if self._may_be_missing and isinstance(error, NotFoundError):
                return ""
            if isinstance(error, ForbiddenError):
                return f"you may not list {self.kind} objects: {left_out(self.kind)}"
            return f"{self.kind} objects are not served by this cluster: {left_out(self.kind)}"
        except ApiError as error:
            raise refusal(self._transport.server, f"list {self.kind} objects", error) from None
        return ""

    async def _pages(self) -> None:
        pages = self._transport.list(self._api_version, self.kind)
        coming: asyncio.Task[Page | None] | None = asyncio.create_task(_next(pages))
        try:
            while coming is not None:
                page = await coming
                # The next page is on its way while this one is read.
                coming = None if page is None else asyncio.create_task(_next(pages))
                await asyncio.sleep(0)
                for item in page.items if page is not None else ():
                    self._one(item)
        finally:
            if coming is not None:
                coming.cancel()
            await pages.aclose()

    def _one(self, item: Any) -> None:
        try:
            view = self._decode(item)
        except msgspec.ValidationError:
            # null counts as absent; the slow path is fine, as it is rare.
            view = self._converted(msgspec.json.decode(item))
        metadata = view["metadata"] if isinstance(view, dict) else view.metadata
        name = _name(metadata) if isinstance(metadata, dict) else (metadata.namespace, metadata.name)
        if name in self._taken:
            # From before the list had to be begun again.
            return
        self._taken.add(name)
        try:
            self._take(self.kind, view)
        except MooringError as error:
            raise InputError(f"{self._transport.server}: {describe(view)}: {error}") from None

    def _converted(self, value: Any) -> Any:
        try:
            return convert(value, self._view)
        except msgspec.ValidationError as error:
            name = value.get("metadata", {}).get("name", "")
            raise InputError(f"{self._transport.server}: {self.kind} {name}: {message_of(error)}") from None


def _name(metadata: Mapping[str, Any]) -> tuple[str, str]:
    return metadata.get("namespace", ""), metadata["name"]


async def _next(pages: AsyncGenerator[Page]) -> Page | None:
    return await anext(pages, None)


class LiveSource:
    """Owns the event loop of its connections, so that synchronous code can call it, unless it is given one's `run`."""

    def __init__(self, transport: HttpTransport, namespace: str, run: Callable[[Any], Any] | None = None) -> None:
        self._transport = transport
        self._runner = asyncio.Runner() if run is None else None
        self.run = run or self._run
        self.namespace = namespace
        self.gaps: Sequence[str] = ()

    @property
    def name(self) -> str:
        return self._transport.server

    def load(self, wanted: Callable[[Pod], bool]) -> Snapshot:
        snapshot = Snapshot(wanted=wanted)
        gaps = self.run(read_kinds(self._transport, VIEWS, lambda kind, view: snapshot.add(view), DEVICES))
        self.gaps = [gap.text for gap in gaps]
        snapshot.unread_kinds &= {gap.kind for gap in gaps}
        return snapshot

    def find(self, kind: str, name: str, namespace: str | None) -> list[Workload]:
        known = CATALOG.workloads()[kind]
        found: list[Workload]
        if namespace is not None:
            found = self.run(self._get(known, name, namespace))
            return found
        found, gaps = self._all(kind)
        if gaps:
            raise InputError(f"{self.name}: {gaps[0].text}")
        return [view for view in found if view.metadata.name == name]

    def names(self, kind: str, namespace: str | None) -> set[str]:
        return {view.metadata.name for view in self._all(kind)[0] if namespace in (None, view.metadata.namespace)}

    def _all(self, kind: str) -> tuple[list[Workload], list[Gap]]:
        known, found = CATALOG.workloads()[kind], list[Workload]()
        reading = read_kinds(
            self._transport, {(known.api_version, kind): known.view}, lambda _, view: found.append(view)
        )
        gaps: list[Gap] = self.run(reading)
        return found, gaps

    def pools(self) -> list[NodePool]:
        return [pool for kinds in CATALOG.node_pools() for pool in self._pools(kinds)]

    def _pools(self, kinds: NodePoolKinds) -> list[NodePool]:
        objects: dict[str, list[Any]] = {kind: [] for _, kind in kinds.views}
        # Who may not read them is told nothing of them: the answer is right without.
        self.run(
            read_kinds(
                self._transport,
                dict(kinds.views),
                lambda kind, view: objects[kind].append(view),
                may_be_missing=kinds.views,
            )
        )
        return kinds.pools_of(objects)

    def pool_decisions(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self.run(self._config_map(*CATALOG.pool_report().decisions))
        return found

    async def _config_map(self, namespace: str, name: str) -> Mapping[str, str]:
        try:
            return (await self._transport.get("v1", "ConfigMap", namespace, name)).get("data") or {}
        except ApiError:
            # Who may not read it is told nothing of it: the answer is right without.
            return {}

    async def _get(self, known: WorkloadKind, name: str, namespace: str) -> list[Workload]:
        try:
            return [convert(await self._transport.get(known.api_version, known.kind, namespace, name), known.view)]
        except NotFoundError:
            return []
        except ApiError as error:
            raise refusal(self.name, f"get {known.kind} {namespace}/{name}", error) from None

    def _run(self, work: Any) -> Any:
        assert self._runner is not None
        return self._runner.run(work)

    def close(self) -> None:
        if self._runner is not None:
            self._runner.run(self._transport.close())
            self._runner.close()


def _first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error = group.exceptions[0]
    return _first_of(error) if isinstance(error, BaseExceptionGroup) else error
