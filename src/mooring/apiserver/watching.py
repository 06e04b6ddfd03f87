"""Watches: who listens to which kind, and when they hear of changes.

A kind's streams are told of changes after the commit that made these durable, all of them in one go. The first change
after a while is told at once, and those that follow it quickly are told together: to hear a thing ten milliseconds
later harms no watcher, but to be woken for each of a thousand changes costs both sides more than the changes do.
"""

import asyncio
import random
from typing import Final

from mooring.apiserver.calls import Call, Context
from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.lines import WatchEventEncoder, WatchEventFormat
from mooring.apiserver.streams import STREAM_HEADERS, Stream, end_with
from mooring.kube.status import ExpiredError
from mooring.net.asgi import Send
from mooring.registry import Registry, Resource, Watch
from mooring.registry.lists import parse_revision

__all__ = ["Watches"]

_BOOKMARK_SECONDS: Final = 60.0
# A watch that does not say how long it wants to live ends after 30 to 60 minutes, not all at the same time.
_SHORTEST_LIFE: Final = 1800.0
# The time between two rounds: longer where more streams are to be told, within these limits.
_PAUSE_PER_STREAM: Final = 0.0001
_SHORTEST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 0.02


class _Audience:
    """The streams of one store, told together."""

    def __init__(self, registry: Registry, resource: Resource, group_commit: GroupCommit) -> None:
        self.streams: set[Stream] = set()
        self._group_commit = group_commit
        self._pending = False
        self._last = 0.0
        # Never polled: it is there to hear that something happens from now on.
        self._listener = registry.watch(resource, resource_version=str(registry.revision), wake=self._changed)

    def close(self) -> None:
        self._listener.close()
        self._group_commit.cancel(self._tell)

    def _changed(self) -> None:
        if not self._pending:
            self._pending = True
            self._group_commit.call_when_durable(self._tell)

    def _tell(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        pause = min(max(_SHORTEST_PAUSE, len(self.streams) * _PAUSE_PER_STREAM), _LONGEST_PAUSE)
        if now < self._last + pause:
            loop.call_at(self._last + pause, self._tell_now)
        else:
            self._tell_now()

    def _tell_now(self) -> None:
        self._pending = False
        self._last = asyncio.get_running_loop().time()
        for stream in self.streams:
            stream.deliver()
        if self.streams and not self._group_commit.settled:
            # What was written while the disk was waited for is told after the next commit.
            self._changed()


class Watches:
    """All streams of a server. `bookmark_seconds` is how often a quiet one hears how far the server has come."""

    def __init__(
        self, context: Context, group_commit: GroupCommit, *, bookmark_seconds: float = _BOOKMARK_SECONDS
    ) -> None:
        self.stopping = False
        self._group_commit = group_commit
        self._bookmark_seconds = bookmark_seconds
        self._representations = context.representations
        self._lines = WatchEventEncoder(context.representations)
        self._registry = context.registry
        self._webhooks = context.webhooks
        self._audiences: dict[str, _Audience] = {}
        definitions = self._registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        self._definitions = self._registry.watch(
            definitions,
            resource_version=str(self._registry.revision),
            wake=lambda: group_commit.call_when_durable(self._look_again),
        )

    def counts(self) -> dict[Resource, int]:
        """How many streams there are of each kind."""
        found: dict[Resource, int] = {}
        for stream in self._all():
            found[stream.resource] = found.get(stream.resource, 0) + 1
        return found

    def stop(self) -> None:
        """End all streams as if their time were over."""
        self.stopping = True
        for stream in self._all():
            stream.wake()

    def _look_again(self) -> None:
        """A definition has changed: streams of a kind that is no longer served as it was have to end."""
        for stream in self._all():
            if stream.resource.custom:
                stream.wake()

    def _all(self) -> list[Stream]:
        return [stream for audience in self._audiences.values() for stream in audience.streams]

    async def serve(self, call: Call, send: Send) -> None:
        """Answer a watch; returns when it is over."""
        request = call.request
        seconds = request.number("timeoutSeconds") or 0
        life = float(seconds) if seconds > 0 else _SHORTEST_LIFE * (1 + random.random())
        include = self._representations.include(request) if call.representation.kind == "Table" else ""
        await self._group_commit.wait()
        try:
            watch = await self._webhooks.read(lambda: self._open(call), whole=True)
        except ExpiredError as error:
            # Clients look for this in the stream, where the real server puts it.
            await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
            await end_with(send, error)
            return
        resource = call.resource
        stream = Stream(
            watch,
            WatchEventFormat(resource, call.representation, include),
            self._lines,
            self._group_commit,
            opened=self._registry.revision,
            life=life,
            bookmark_every=self._bookmark_seconds if request.flag("allowWatchBookmarks") else None,
            over=lambda: self.stopping or (resource.custom and not self._is_served(resource)),
        )
        audience = self._audience(resource)
        audience.streams.add(stream)
        try:
            await stream.run(request, send)
        finally:
            audience.streams.discard(stream)
            if not audience.streams and self._audiences.get(resource.store) is audience:
                del self._audiences[resource.store]
                audience.close()

    def _audience(self, resource: Resource) -> _Audience:
        found = self._audiences.get(resource.store)
        if found is None:
            found = self._audiences[resource.store] = _Audience(self._registry, resource, self._group_commit)
        return found

    def _is_served(self, resource: Resource) -> bool:
        return self._registry.resources.find(resource.api_version, resource.kind) is resource

    def _open(self, call: Call) -> Watch:
        request, now = call.request, self._registry.revision
        version = request.text("resourceVersion")
        if (wanted := parse_revision(version)) > now:
            # No such version was ever given out by this storage: the client knows another one, and must list anew.
            raise ExpiredError.too_old(wanted, now)
        return self._registry.watch(
            call.resource,
            call.target.namespace,
            resource_version=version,
            label_selector=request.text("labelSelector"),
            field_selector=call.field_selector,
            send_initial_events=request.flag("sendInitialEvents"),
            resource_version_match=request.text("resourceVersionMatch"),
        )
