"""A cluster source that is followed: listed once and watched from there, so that every answer is about the moment.

`FollowedKinds` keeps the views of the kinds that answers depend on, and says when one of them changed. An answer takes
its time and uses up the snapshot that it is made on, so it is made in a thread, on a snapshot of its own.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from mooring.api.core.types import Pod
from mooring.catalog import CATALOG
from mooring.cli.kind_handler import KindHandler
from mooring.client.http import HttpTransport
from mooring.client.reflector import Reflector
from mooring.kube.errors import InputError
from mooring.placement.node_pools import NodePool
from mooring.placement.shadow.world import Place
from mooring.placement.snapshot import VIEWS, Snapshot
from mooring.runway.explain.explain_target import ExplainTarget
from mooring.runway.sources.live_source import DEVICES, REQUIRED, LiveSource, left_out

__all__ = ["FollowedKinds", "FollowedSource"]

# A workload that is asked about is followed once more, with its template.
_TARGET: Final = "target"


class _FollowedKind(NamedTuple):
    label: str
    api_version: str
    kind: str
    view: type[Any]


class FollowedKinds:
    """`changed` is set when an answer may be another one than before."""

    def __init__(self, transport: HttpTransport, target: ExplainTarget | None) -> None:
        self._transport = transport
        self._kinds = _kinds(target)
        self._views: dict[Place, msgspec.Struct] = {}
        self._waiting = {each.label for each in self._kinds}
        # Why kinds cannot be read, by kind.
        self._gaps: dict[str, str] = {}
        self._complete: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.changed = asyncio.Event()

    async def run(self) -> None:
        """Follow all kinds until cancelled."""
        draw = random.Random()
        async with asyncio.TaskGroup() as group:
            for label, api_version, kind, view in self._kinds:
                handler = KindHandler(self, api_version, kind, view, label)
                group.create_task(Reflector(self._transport, api_version, kind, handler, draw=draw).run())

    async def complete(self) -> None:
        """Until everything is listed. Raises InputError where the cluster cannot be followed."""
        await self._complete

    def source(self, namespace: str, run: Callable[[Any], Any]) -> FollowedSource:
        """The cluster at this moment; `run` waits for a request, from another thread."""
        self.changed.clear()
        return FollowedSource(self._transport, namespace, run, dict(self._views), dict(self._gaps))

    # Called by the informer handlers

    def take(self, place: Place, view: Any) -> None:
        # Most writes to nodes and pods change nothing that answers depend on.
        if self._views.get(place) == view:
            return
        if view is None:
            self._views.pop(place, None)
        else:
            self._views[place] = view
        self.changed.set()

    def listed(self, kind: str, objects: dict[Place, Any]) -> None:
        before = {place: view for place, view in self._views.items() if place.kind == kind}
        for place in before.keys() - objects.keys():
            del self._views[place]
        self._views |= objects
        if self._gaps.pop(kind, None) is not None or before != objects:
            self.changed.set()
        self._arrived(kind)

    def lost(self, kind: str, why: str) -> None:
        if kind in REQUIRED:
            self._fail(f"{self._transport.server}: {kind} objects cannot be followed: {why}")
        if kind in VIEWS_BY_KIND and not (VIEWS_BY_KIND[kind] in DEVICES and why.startswith("is not served")):
            self._gaps[kind] = f"{kind} objects cannot be followed, {why}: {left_out(kind)}"
        self._arrived(kind)

    def troubled(self, why: str) -> None:
        if why:
            self._fail(why)

    def unreadable(self, error: Exception) -> None:
        self._fail(f"{self._transport.server}: {error}")

    def _arrived(self, kind: str) -> None:
        self._waiting.discard(kind)
        if not self._waiting and not self._complete.done():
            self._complete.set_result(None)

    def _fail(self, why: str) -> None:
        """Before the first answer whatever is wrong ends it; afterwards watches are tried again."""
        if not self._complete.done():
            self._complete.set_exception(InputError(why))


VIEWS_BY_KIND: Final = {kind: (api_version, kind) for api_version, kind in VIEWS}


def _kinds(target: ExplainTarget | None) -> list[_FollowedKind]:
    found = [_FollowedKind(kind, api_version, kind, view) for (api_version, kind), view in VIEWS.items()]
    for kinds in CATALOG.node_pools():
        found += [_FollowedKind(kind, api_version, kind, view) for (api_version, kind), view in kinds.views.items()]
    known = None if target is None or target.kind == "Pod" else CATALOG.workloads().get(target.kind)
    if known is not None:
        found.append(_FollowedKind(_TARGET, known.api_version, known.kind, known.view))
    return found


class FollowedSource(LiveSource):
    """One moment of a followed cluster. What is not followed, such as the owner of a pod, is asked for."""

    def __init__(
        self,
        transport: HttpTransport,
        namespace: str,
        run: Callable[[Any], Any],
        views: Mapping[Place, msgspec.Struct],
        gaps: Mapping[str, str],
    ) -> None:
        super().__init__(transport, namespace, run)
        self._views = views
        self._gaps = gaps

    def load(self, wanted: Callable[[Pod], bool]) -> Snapshot:
        snapshot = Snapshot(wanted=wanted)
        for place, view in self._views.items():
            if place.kind in VIEWS_BY_KIND:
                snapshot.add(view)
        self.gaps: Sequence[str] = list(self._gaps.values())
        snapshot.unread_kinds &= self._gaps.keys()
        return snapshot

    def pools(self) -> list[NodePool]:
        found: list[NodePool] = []
        for kinds in CATALOG.node_pools():
            objects: dict[str, list[Any]] = {kind: [] for _, kind in kinds.views}
            for place, view in self._views.items():
                if place.kind in objects:
                    objects[place.kind].append(view)
            found += kinds.pools_of(objects)
        return found
