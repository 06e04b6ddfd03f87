"""The moments at which keys want to run again, and which of them are polls.

A poll reads what may never change; that does not keep a simulation from settling.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Set
from datetime import datetime
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Timers(Generic[K]):
    def __init__(self) -> None:
        # Only keys that wait for a moment are here, so that the others need not be looked through.
        self._moments: dict[K, set[datetime]] = {}
        # Those of the moments at which a key only looks again.
        self._polls: dict[K, set[datetime]] = {}
        # Every moment that was ever asked for, earliest first. One that is no longer wanted is skipped when it is met.
        self._heap: list[tuple[datetime, int, K]] = []
        self._count = 0

    def __contains__(self, key: K) -> bool:
        return key in self._moments

    def waiting(self) -> list[K]:
        return list(self._moments)

    def replace(self, key: K, moments: Set[datetime], polls: Set[datetime]) -> None:
        """The moments that a key asked for in its last run, in place of all earlier ones."""
        self._moments.pop(key, None)
        self._polls.pop(key, None)
        if not (moments or polls):
            # So it is with most keys.
            return
        if polls:
            self._polls[key] = set(polls - moments)
        for moment in moments | polls:
            self._push(moment, key)

    def add(self, moment: datetime, key: K) -> None:
        # If it falls on a moment at which the key would only have looked again, it is more than that now.
        self._polls.get(key, set()).discard(moment)
        self._push(moment, key)

    def add_poll(self, moment: datetime, key: K) -> None:
        if moment not in self._moments.get(key, ()):
            self._polls.setdefault(key, set()).add(moment)
            self._push(moment, key)

    def add_all(self, moment: datetime, keys: Iterable[K]) -> None:
        for key in keys:
            if moment not in self._moments.get(key, ()):
                self._push(moment, key)

    def due(self, now: datetime) -> list[K]:
        """The keys whose moment has come, once each."""
        found: dict[K, None] = {}
        while self._heap and self._heap[0][0] <= now:
            moment, _, key = heapq.heappop(self._heap)
            moments = self._moments.get(key)
            if moments is not None and moment in moments:
                moments.discard(moment)
                if not moments:
                    del self._moments[key]
                found[key] = None
        return list(found)

    def next(self) -> datetime | None:
        while self._heap and self._heap[0][0] not in self._moments.get(self._heap[0][2], ()):
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def only_polls(self) -> bool:
        return all(moments <= self._polls.get(key, set()) for key, moments in self._moments.items())

    def all(self) -> list[tuple[datetime, K]]:
        pairs = ((moment, key) for key, moments in self._moments.items() for moment in moments)
        return sorted(pairs, key=lambda pair: pair[0])

    def validate(self) -> None:
        """Raise AssertionError unless every moment that a key waits for is on the heap."""
        heap = {(moment, key) for moment, _, key in self._heap}
        assert all(self._moments.values()), "a key waits for no moment"
        assert heap.issuperset((moment, key) for moment, key in self.all()), "a key waits for a moment that never comes"

    def _push(self, moment: datetime, key: K) -> None:
        self._count += 1
        self._moments.setdefault(key, set()).add(moment)
        heapq.heappush(self._heap, (moment, self._count, key))
