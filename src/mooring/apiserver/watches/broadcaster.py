"""Delivers the changes of a kind to all of its watch streams at once.

The streams of a kind hear of changes after the commit that made the changes durable. The first change after a pause is
broadcast at once, and changes that follow it quickly are broadcast together: ten milliseconds of delay harm no watcher,
but waking every watcher for each of a thousand changes costs both sides more than the changes do. A broadcast to
thousands of streams takes a tenth of a second, so requests are served in between.
"""

import asyncio
from time import perf_counter
from typing import Final

from mooring.apiserver.group_commit import GroupCommit
from mooring.apiserver.watches.stream import WatchStream
from mooring.registry import Registry, Resource

__all__ = ["WatchBroadcaster"]

# The pause between two broadcasts grows with the number of streams, within these limits.
_PAUSE_SECONDS_PER_STREAM: Final = 0.0001
_MIN_PAUSE_SECONDS: Final = 0.01
_MAX_PAUSE_SECONDS: Final = 0.02
# How long streams are delivered to before other requests are served.
_SLICE_SECONDS: Final = 0.01


class WatchBroadcaster:
    """The watch streams of one store."""

    def __init__(self, registry: Registry, resource: Resource, group_commit: GroupCommit) -> None:
        self.streams: set[WatchStream] = set()
        self._group_commit = group_commit
        self._scheduled = False
        # Whether a broadcast is under way, and whether something has changed that its first streams have not heard of.
        self._delivering = self._changed_meanwhile = False
        self._last_broadcast = 0.0
        # Never polled: only its wake callback is used, which is called on every change.
        self._trigger = registry.watch(resource, resource_version=str(registry.revision), wake=self._changed)

    def close(self) -> None:
        self._trigger.close()
        self._group_commit.cancel(self._broadcast)

    def _changed(self) -> None:
        if self._delivering:
            self._changed_meanwhile = True
        elif not self._scheduled:
            self._scheduled = True
            self._group_commit.call_when_durable(self._broadcast)

    def _broadcast(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        pause = min(max(_MIN_PAUSE_SECONDS, len(self.streams) * _PAUSE_SECONDS_PER_STREAM), _MAX_PAUSE_SECONDS)
        if now < self._last_broadcast + pause:
            loop.call_at(self._last_broadcast + pause, self._broadcast_now)
        else:
            self._broadcast_now()

    def _broadcast_now(self) -> None:
        self._scheduled = False
        self._last_broadcast = asyncio.get_running_loop().time()
        self._delivering = True
        self._deliver(list(self.streams))

    def _deliver(self, streams: list[WatchStream]) -> None:
        """Deliver to these streams, in as many slices as that takes."""
        end = perf_counter() + _SLICE_SECONDS
        while streams:
            streams.pop().deliver()
            if streams and perf_counter() >= end:
                asyncio.get_running_loop().call_soon(self._deliver, streams)
                return
        self._delivering = False
        if self.streams and (self._changed_meanwhile or not self._group_commit.settled):
            # Writes that arrived during the commit are broadcast after the next one.
            self._changed_meanwhile = False
            self._changed()
