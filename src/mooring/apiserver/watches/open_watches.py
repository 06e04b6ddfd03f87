"""The watches of one server: opened, counted, and ended when the server stops or their kind is no longer served."""

import random
from collections.abc import Generator
from typing import Final

from mooring.apiserver.calls import Call, Context
from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.watches.broadcaster import WatchBroadcaster
from mooring.apiserver.watches.event_encoder import WatchEventEncoder, WatchEventFormat
from mooring.apiserver.watches.stream import WatchStream, begin, end_with
from mooring.kube.status import ExpiredError
from mooring.net.asgi import Send
from mooring.registry import Resource, Watch
from mooring.registry.lists import parse_revision

__all__ = ["Watches"]

_BOOKMARK_SECONDS: Final = 60.0
# A watch without timeoutSeconds ends after 30 to 60 minutes, at random, so that not all reconnect at the same time.
_MIN_WATCH_SECONDS: Final = 1800.0


class Watches:
    """All watch streams of a server. `bookmark_seconds` is the time between two bookmarks of a watch without events."""

    def __init__(
        self, context: Context, group_commit: GroupCommit, *, bookmark_seconds: float = _BOOKMARK_SECONDS
    ) -> None:
        self.stopping = False
        self._group_commit = group_commit
        self._bookmark_seconds = bookmark_seconds
        self._representations = context.representations
        self._encoder = WatchEventEncoder(context.representations)
        self._registry = context.registry
        self._webhooks = context.webhooks
        self._broadcasters: dict[str, WatchBroadcaster] = {}
        definitions = self._registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        self._definitions = self._registry.watch(
            definitions,
            resource_version=str(self._registry.revision),
            wake=lambda: group_commit.call_when_durable(self._definitions_changed),
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

    def _definitions_changed(self) -> None:
        """Wake the streams of custom kinds: they end when their kind is no longer served as it was."""
        for stream in self._all():
            if stream.resource.custom:
                stream.wake()

    def _all(self) -> list[WatchStream]:
        return [stream for broadcaster in self._broadcasters.values() for stream in broadcaster.streams]

    async def serve(self, call: Call, send: Send) -> None:
        """Answer a watch; returns when it is over."""
        request = call.request
        seconds = request.number("timeoutSeconds") or 0
        # It has none, and must not ask for one that is no number.
        request.number("limit")
        life = float(seconds) if seconds > 0 else _MIN_WATCH_SECONDS * (1 + random.random())
        include = self._representations.include(request) if call.representation.kind == "Table" else ""
        await self._group_commit.wait()
        try:
            watch = await self._webhooks.read_slices(lambda: self._open(call), request.turn)
        except ExpiredError as error:
            # kube-apiserver reports this in the stream, and clients look for it there.
            await begin(send, call.representation)
            await end_with(send, error, call.representation)
            return
        resource = call.resource
        stream = WatchStream(
            watch,
            WatchEventFormat(resource, call.representation, include),
            self._encoder,
            self._group_commit,
            opened=self._registry.revision,
            life=life,
            bookmark_every=self._bookmark_seconds if request.flag("allowWatchBookmarks") else None,
            over=lambda: self.stopping or (resource.custom and not self._is_served(resource)),
        )
        broadcaster = self._broadcaster(resource)
        broadcaster.streams.add(stream)
        try:
            await stream.run(request, send)
        finally:
            broadcaster.streams.discard(stream)
            if not broadcaster.streams and self._broadcasters.get(resource.store) is broadcaster:
                del self._broadcasters[resource.store]
                broadcaster.close()

    def _broadcaster(self, resource: Resource) -> WatchBroadcaster:
        found = self._broadcasters.get(resource.store)
        if found is None:
            found = self._broadcasters[resource.store] = WatchBroadcaster(self._registry, resource, self._group_commit)
        return found

    def _is_served(self, resource: Resource) -> bool:
        return self._registry.resources.find(resource.api_version, resource.kind) is resource

    def _open(self, call: Call) -> Generator[None, None, Watch]:
        request, now = call.request, self._registry.revision
        version = request.text("resourceVersion")
        if (wanted := parse_revision(version)) > now:
            # This storage never gave out such a version: the client's is another server's, so it must list again.
            raise ExpiredError.too_old(wanted, now)
        return self._registry.watch_slices(
            call.resource,
            call.target.namespace,
            resource_version=version,
            label_selector=request.text("labelSelector"),
            field_selector=call.field_selector,
            send_initial_events=request.flag("sendInitialEvents"),
            resource_version_match=request.text("resourceVersionMatch"),
        )
