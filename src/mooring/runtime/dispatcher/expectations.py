"""Keys that must see their own writes before they run again.

A key waits for one thing at a time: a version of a kind, or an object to be gone. So finding the keys that may go on
costs as much as was observed, however many keys have writes under way.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Mapping
from itertools import count
from typing import Any, Generic, TypeVar

from mooring.api.kinds import Key, Kind
from mooring.runtime.dispatcher.store import Store

K = TypeVar("K", bound=Hashable)
Gone = tuple[Kind[Any], Key, str]


class _Expectation:
    """The versions and deletions that a key has yet to observe. Each list is worked off from its end."""

    __slots__ = ("gone", "versions")

    def __init__(self, versions: Mapping[Kind[Any], int], gone: Iterable[Gone]) -> None:
        self.versions = list(versions.items())
        self.gone = list(gone)


class Expectations(Generic[K]):
    def __init__(self, stores: Mapping[Kind[Any], Store[Any]]) -> None:
        self._stores = stores
        self._expecting: dict[K, _Expectation] = {}
        # The keys by the version they wait for. An entry of a key that was released stays behind and is skipped.
        self._by_version: dict[Kind[Any], list[tuple[int, int, K, _Expectation]]] = {}
        self._by_object: dict[tuple[Kind[Any], Key], list[tuple[K, _Expectation]]] = {}
        self._over: list[K] = []
        self._count = count()

    def __contains__(self, key: K) -> bool:
        return key in self._expecting

    def holds(self, key: K) -> bool:
        """Whether a key has expectations, or has met them since `over` was last asked."""
        return key in self._expecting or key in self._over

    def __len__(self) -> int:
        return len(self._expecting)

    def expect(self, key: K, versions: Mapping[Kind[Any], int], gone: Iterable[Gone]) -> None:
        """Hold a key until every kind has been seen at its version, and every object is gone or on its way out."""
        self._expecting[key] = expected = _Expectation(versions, gone)
        self._wait(key, expected)

    def changed(self, kind: Kind[Any], key: Key) -> None:
        """An object is not what it was."""
        for waiting, expected in self._by_object.pop((kind, key), ()):
            if self._expecting.get(waiting) is expected:
                self._wait(waiting, expected)

    def over(self) -> list[K]:
        """The keys whose expectations were met since this was last asked."""
        for kind in list(self._by_version):
            heap, seen = self._by_version[kind], self._stores[kind].seen
            while heap and heap[0][0] <= seen:
                _, _, key, expected = heapq.heappop(heap)
                if self._expecting.get(key) is expected:
                    self._wait(key, expected)
            if not heap:
                del self._by_version[kind]
        over, self._over = self._over, []
        return over

    def release(self, kind: Kind[Any]) -> list[K]:
        """Drop the expectations of every key that waits for anything of a kind; returns the keys."""
        self._by_version.pop(kind, None)
        released = [
            key
            for key, expected in self._expecting.items()
            if any(kind is each for each, _ in expected.versions) or any(kind is each for each, _, _ in expected.gone)
        ]
        for key in released:
            del self._expecting[key]
        return released

    def kinds(self) -> list[Kind[Any]]:
        """The kinds that some key has expectations about."""
        found = [kind for expected in self._expecting.values() for kind, _ in expected.versions]
        found += [kind for expected in self._expecting.values() for kind, _, _ in expected.gone]
        return list(dict.fromkeys(found))

    def _wait(self, key: K, expected: _Expectation) -> None:
        """Wait for the first version or deletion that has not been observed; with none left, the key may run."""
        while expected.versions:
            kind, version = expected.versions[-1]
            if self._stores[kind].seen < version:
                heapq.heappush(self._by_version.setdefault(kind, []), (version, next(self._count), key, expected))
                return
            expected.versions.pop()
        while expected.gone:
            kind, name, uid = expected.gone[-1]
            found = self._stores[kind].get(name)
            if found is not None and found.metadata.uid == uid and not found.metadata.deleting:
                self._by_object.setdefault((kind, name), []).append((key, expected))
                return
            expected.gone.pop()
        del self._expecting[key]
        self._over.append(key)
