"""The cluster as it is followed, with its last changes, which can be taken back.

A scheduler decides on what it knew at that moment, and what others see comes in another order than it was decided in.
So the world can be looked at as it was before a change, with some changes taken back and others brought forward.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec

from mooring.placement.engine import Engine
from mooring.placement.snapshot import Snapshot

# Changes that are remembered; a scheduler is never this far behind.
MAX_CHANGES = 4000


class Place(NamedTuple):
    """An object by kind and `namespace/name`."""

    kind: str
    key: str


class WorldChange(NamedTuple):
    place: Place
    old: Any
    new: Any


def place_of(kind: str, view: Any) -> Place:
    meta = view.metadata
    return Place(kind, f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name)


class World:
    def __init__(self) -> None:
        self.snapshot = Snapshot()
        self.engine = Engine(self.snapshot.cluster)
        self.views: dict[Place, msgspec.Struct] = {}
        self._changes: deque[WorldChange] = deque(maxlen=MAX_CHANGES)
        # The position of a change is the number of changes before it.
        self.position = 0

    def get(self, place: Place) -> Any:
        return self.views.get(place)

    def change(self, place: Place, new: Any) -> None:
        """Take a change in; None for an object that is gone. Raises MooringError when it cannot be used."""
        old = self.views.get(place)
        self._set(place, new)
        self._changes.append(WorldChange(place, old, new))
        self.position += 1

    def _set(self, place: Place, new: Any) -> None:
        old = self.views.get(place)
        if old is new:
            return
        if new is None:
            assert old is not None
            self.snapshot.remove(old)
            del self.views[place]
        else:
            self.snapshot.add(new)
            self.views[place] = new

    def between(self, start: int, end: int) -> list[WorldChange]:
        """The changes from one position to another, as far as they are remembered."""
        first = self.position - len(self._changes)
        return [self._changes[i - first] for i in range(max(start, first), max(min(end, self.position), first))]

    def before(self, position: int) -> dict[Place, Any]:
        """How the objects that changed since a position were at that position."""
        found: dict[Place, Any] = {}
        for change in self.between(position, self.position):
            found.setdefault(change.place, change.old)
        return found

    @contextmanager
    def pretending(self, objects: Mapping[Place, Any]) -> Iterator[None]:
        """The world with other objects in some places, for the length of a `with` block."""
        real = {place: self.views.get(place) for place in objects}
        for place, view in objects.items():
            self._set(place, view)
        try:
            yield
        finally:
            for place, view in real.items():
                self._set(place, view)

    def objects(self) -> list[tuple[str, Any]]:
        """Every object with its kind."""
        return [(place.kind, view) for place, view in self.views.items()]
