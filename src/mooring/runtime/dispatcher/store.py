"""What has been seen of one kind: typed views, indexed, with counts kept as they change.

An index or a counter is kept from the first time that it is asked for: what nobody asks costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from mooring.api.kinds import HasMeta, Indexers, Key, Kind, extended
from mooring.client.transport import Item
from mooring.runtime.dispatcher.observedobject import ObjectReader, ObservedObject, version_of

T = TypeVar("T", bound=HasMeta)

NOT_LISTED = "has not been listed yet"
# What a key may have asked: a kind, an index, one of its values and, for counts, a counter ("" asks for the members).
Lookup = tuple[Kind[Any], str, str, str]


class _Place:
    """The objects at one value of an index, and what each counter makes of them."""

    __slots__ = ("at", "counts", "index", "lookup", "members")

    def __init__(self, kind: Kind[Any], at: tuple[str, str], counters: int) -> None:
        self.at = at
        self.index, value = at
        self.lookup: Lookup = (kind, self.index, value, "")
        self.members: dict[Key, None] = {}
        self.counts = [0] * counters


class Facts(NamedTuple):
    """Where a view stands in the indexes, and for how much each counter counts it."""

    places: tuple[_Place, ...]
    counted: tuple[int, ...]


class Changed(NamedTuple):
    """An object whose view is not what it was; None stands for absent."""

    key: Key
    old: Any
    new: Any
    old_facts: Facts | None = None
    new_facts: Facts | None = None


class Store(Generic[T]):
    """The objects of one kind. `synced` is false until a whole list has been taken in."""

    def __init__(self, kind: Kind[T], indexers: Iterable[Indexers[Any]] = ()) -> None:
        self.kind = kind
        kept = extended(kind, indexers)
        self.synced = False
        self.problem = NOT_LISTED
        # The highest resourceVersion that was seen for this kind.
        self.seen = 0
        self.read = ObjectReader(kind).read
        self._views: dict[Key, T] = {}
        self._versions: dict[Key, int] = {}
        self._declared = kept.every_index
        # Those of the indexes that are kept.
        self._indexes: dict[str, Callable[[T], Iterable[str]]] = {}
        # The parts of a view that decide about its places, all at once; None where that is not known.
        self._placed_by = attrgetter(*kept.stays_with) if kept.stays_with else None
        self._facts: dict[Key, Facts] = {}
        # The places that have members.
        self._places: dict[tuple[str, str], _Place] = {}
        self._declared_counters = kept.counters
        # Those of the counters that are kept, and their places among the counts.
        self._counters: list[Callable[[T], int]] = []
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._views)

    def get(self, key: Key) -> T | None:
        return self._views.get(key)

    def version(self, key: Key) -> int | None:
        return self._versions.get(key)

    def members(self, index: str, value: str) -> tuple[T, ...]:
        """The members in order of their names, so that a decision does not depend on the order of events."""
        if index not in self._indexes:
            self._keep_index(index)
        place = self._places.get((index, value))
        return () if place is None else tuple([self._views[key] for key in sorted(place.members)])

    def count(self, index: str, value: str, counter: str) -> int:
        if index not in self._indexes:
            self._keep_index(index)
        if counter not in self._numbers:
            self._keep_counter(counter)
        place = self._places.get((index, value))
        return 0 if place is None else place.counts[self._numbers[counter]]

    def _keep_index(self, index: str) -> None:
        values = self._declared.get(index)
        if values is None:
            raise KeyError(f"{self.kind} has no index {index!r}; it has {', '.join(sorted(self._declared))}")
        self._indexes[index] = values
        place_at, facts = self._place, self._facts
        for key, view in self._views.items():
            more = [place_at(index, value) for value in values(view)]
            if not more:
                continue
            places, counted = facts[key]
            if len(more) > 1:
                more = list(dict.fromkeys(more))
            facts[key] = Facts((*places, *more), counted)
            for place in more:
                place.members[key] = None
                for number, amount in enumerate(counted):
                    place.counts[number] += amount

    def _keep_counter(self, counter: str) -> None:
        counts = self._declared_counters.get(counter)
        if counts is None:
            raise KeyError(f"{self.kind} has no counter {counter!r}")
        self._numbers[counter] = len(self._counters)
        self._counters.append(counts)
        for place in self._places.values():
            place.counts.append(0)
        for key, view in self._views.items():
            places, counted = self._facts[key]
            amount = counts(view)
            self._facts[key] = Facts(places, (*counted, amount))
            for place in places:
                place.counts[-1] += amount

    def observe(self, event: str, item: Item) -> Changed | None:
        """Take one event of a watch in; None when it changes nothing that can be seen."""
        if event == "BOOKMARK":
            self.seen = max(self.seen, version_of(item))
            return None
        seen = self.read(item)
        self.seen = max(self.seen, seen.version)
        return self.remove(seen.key, seen.version) if event == "DELETED" else self.take(seen)

    def put(self, item: Item) -> Changed | None:
        """Take an object in; None when its view is equal to the one before."""
        return self.take(self.read(item))

    def take(self, seen: ObservedObject) -> Changed | None:
        """The same for one that has been read."""
        key, version, view = seen
        known = self._versions.get(key)
        if known is not None and known > version:
            # An event that was delivered twice, or late.
            return None
        self._versions[key] = version
        return self._replace(key, view)

    def remove(self, key: Key, version: int) -> Changed | None:
        known = self._versions.get(key)
        if known is None or known > version:
            return None
        del self._versions[key]
        return self._replace(key, None)

    def observed(self) -> list[ObservedObject]:
        """Everything that is there, as it was seen."""
        return [ObservedObject(key, self._versions[key], view) for key, view in self._views.items()]

    def resync(self, items: Iterable[ObservedObject], version: int) -> list[Changed]:
        """Take a whole list in: what is not in it is gone."""
        if version < self.seen:
            # A server that has lost its past counts anew, and no version of before says anything about now.
            self._versions = dict.fromkeys(self._versions, 0)
        changes = []
        listed = set()
        for seen in items:
            listed.add(seen.key)
            changes.append(self.take(seen))
        changes += [self.remove(key, version) for key in [key for key in self._views if key not in listed]]
        self.seen = version
        self.synced = True
        return [change for change in changes if change is not None]

    def lookups(self, change: Changed, indexes: Container[str]) -> list[Lookup]:
        """The lists and counts by these indexes whose answer a change may have changed."""
        old, new = change.old_facts, change.new_facts
        if old is new and new is not None:
            return [place.lookup for place in new.places if place.index in indexes]
        left = [] if old is None else [place for place in old.places if place.index in indexes]
        entered = [] if new is None else [place for place in new.places if place.index in indexes]
        places = left if left == entered else list(dict.fromkeys((*left, *entered)))
        found = [place.lookup for place in places]
        for number, counter in enumerate(self._numbers):
            was = 0 if old is None else old.counted[number]
            now = 0 if new is None else new.counted[number]
            if was != now:
                touched = places if was and now else left if was else entered
            elif was and left != entered:
                touched = [place for place in places if (place in left) != (place in entered)]
            else:
                continue
            found += [(*place.lookup[:3], counter) for place in touched]
        return found

    def _replace(self, key: Key, view: T | None) -> Changed | None:
        old = self._views.get(key)
        if old == view:
            return None
        old_facts = self._facts.get(key)
        if view is None:
            del self._views[key], self._facts[key]
            self._index(key, old_facts, None)
            return Changed(key, old, None, old_facts, None)
        new_facts = self._find_facts(view, old, old_facts)
        self._views[key] = view
        if old_facts == new_facts:
            # It stays where it was and counts as it did, which is what most changes are.
            return Changed(key, old, view, old_facts, old_facts)
        self._facts[key] = new_facts
        self._index(key, old_facts, new_facts)
        return Changed(key, old, view, old_facts, new_facts)

    def _find_facts(self, view: T, old: T | None, before: Facts | None) -> Facts:
        counted = tuple([counts(view) for counts in self._counters])
        placed_by = self._placed_by
        if before is not None and placed_by is not None and placed_by(view) == placed_by(old):
            return before if before.counted == counted else Facts(before.places, counted)
        places = [self._place(index, value) for index, values in self._indexes.items() for value in values(view)]
        return Facts(tuple(dict.fromkeys(places)), counted)

    def _place(self, index: str, value: str) -> _Place:
        at = index, value
        place = self._places.get(at)
        if place is None:
            place = self._places[at] = _Place(self.kind, at, len(self._counters))
        return place

    def _index(self, key: Key, old: Facts | None, new: Facts | None) -> None:
        """Put an object in its places, take it out of those that it has left, and count it where it counts."""
        if old is not None and new is not None and old.places == new.places:
            changes = [
                (n, now - was) for n, (was, now) in enumerate(zip(old.counted, new.counted, strict=True)) if now != was
            ]
            for place in new.places:
                for number, by in changes:
                    place.counts[number] += by
            return
        if old is not None:
            self._leave(key, old)
        if new is not None:
            self._enter(key, new)

    def _enter(self, key: Key, facts: Facts) -> None:
        counted = [each for each in enumerate(facts.counted) if each[1]]
        for place in facts.places:
            # It may have lost its last member, this one, a moment ago.
            self._places[place.at] = place
            place.members[key] = None
            for number, amount in counted:
                place.counts[number] += amount

    def _leave(self, key: Key, facts: Facts) -> None:
        counted = [each for each in enumerate(facts.counted) if each[1]]
        for place in facts.places:
            del place.members[key]
            for number, amount in counted:
                place.counts[number] -= amount
            if not place.members:
                del self._places[place.at]
