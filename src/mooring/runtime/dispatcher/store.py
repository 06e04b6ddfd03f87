"""What has been seen of one kind: typed views, indexed, with counts kept as they change."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from mooring.api.kinds import HasMeta, Indexers, Key, Kind, extended
from mooring.client.transport import Item
from mooring.runtime.dispatcher.observedobject import ObjectReader, ObservedObject, version_of

T = TypeVar("T", bound=HasMeta)

NOT_LISTED = "has not been listed yet"
# An index, one of its values and, for counts, a counter ("" asks for the members).
Lookup = tuple[str, str, str]
Places = tuple[tuple[str, str], ...]


class Facts(NamedTuple):
    """Where a view stands in the indexes, as (index, value), and for how much each counter counts it."""

    places: Places
    counted: tuple[int, ...]


class Changed(NamedTuple):
    """An object whose view is not what it was; None stands for absent."""

    key: Key
    old: Any
    new: Any
    old_facts: Facts | None = None
    new_facts: Facts | None = None


class _Place(Generic[T]):
    """The objects at one value of an index, and what each counter makes of them."""

    __slots__ = ("counts", "members")

    def __init__(self, counters: int) -> None:
        self.members: dict[Key, T] = {}
        self.counts = [0] * counters


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
        self._indexes = kept.every_index
        self._stays_with = kept.stays_with
        self._facts: dict[Key, Facts] = {}
        self._places: dict[tuple[str, str], _Place[T]] = {}
        self._numbers = {counter: number for number, counter in enumerate(kept.counters)}
        self._counters = tuple(kept.counters.values())

    def __len__(self) -> int:
        return len(self._views)

    def get(self, key: Key) -> T | None:
        return self._views.get(key)

    def version(self, key: Key) -> int | None:
        return self._versions.get(key)

    def members(self, index: str, value: str) -> tuple[T, ...]:
        """The members in order of their names, so that a decision does not depend on the order of events."""
        if index not in self._indexes:
            raise KeyError(f"{self.kind} has no index {index!r}; it has {', '.join(sorted(self._indexes))}")
        place = self._places.get((index, value))
        return () if place is None else tuple(place.members[key] for key in sorted(place.members))

    def count(self, index: str, value: str, counter: str) -> int:
        if counter not in self._numbers:
            raise KeyError(f"{self.kind} has no counter {counter!r}")
        place = self._places.get((index, value))
        return 0 if place is None else place.counts[self._numbers[counter]]

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
            return [(index, value, "") for index, value in new.places if index in indexes]
        places = (*(old.places if old is not None else ()), *(new.places if new is not None else ()))
        found = [(index, value, "") for index, value in dict.fromkeys(places) if index in indexes]
        for counter, left, entered in self._recounted(old, new):
            found += [(index, value, counter) for index, value in (*left, *entered) if index in indexes]
        return found

    def _replace(self, key: Key, view: T | None) -> Changed | None:
        old = self._views.get(key)
        if old == view:
            return None
        old_facts = self._facts.pop(key, None)
        new_facts = None if view is None else self._find_facts(view, old, old_facts)
        if view is None or new_facts is None:
            del self._views[key]
        else:
            self._views[key] = view
            self._facts[key] = new_facts
        if view is not None and old_facts == new_facts:
            # It stays where it was and counts as it did, which is what most changes are.
            new_facts = old_facts
        self._index(key, view, old_facts, new_facts)
        return Changed(key, old, view, old_facts, new_facts)

    def _find_facts(self, view: T, old: T | None, before: Facts | None) -> Facts:
        counted = tuple([counts(view) for counts in self._counters])
        if before is not None and self._stays_with and self._stays(view, old):
            return before if before.counted == counted else Facts(before.places, counted)
        places = [(index, value) for index, values in self._indexes.items() for value in values(view)]
        return Facts(tuple(dict.fromkeys(places)), counted)

    def _stays(self, view: T, old: T | None) -> bool:
        for part in self._stays_with:  # noqa: SIM110 - a generator here would cost as much as what it asks
            if getattr(view, part) != getattr(old, part):
                return False
        return True

    def _index(self, key: Key, view: T | None, old: Facts | None, new: Facts | None) -> None:
        """Put a view in its places, take it out of those that it has left, and count it where it counts."""
        if old is not None and old is not new:
            stays = new.places if new is not None else ()
            self._leave(key, old, stays)
        if view is None or new is None:
            return
        enters = [each for each in enumerate(new.counted) if each[1]] if old is not new else ()
        for at in new.places:
            place = self._places.get(at)
            if place is None:
                place = self._places[at] = _Place(len(self._counters))
            place.members[key] = view
            for number, amount in enters:
                place.counts[number] += amount

    def _leave(self, key: Key, old: Facts, stays: Places) -> None:
        """Take back what was counted, and give up the places that are left for good."""
        counted = [each for each in enumerate(old.counted) if each[1]]
        for at in old.places:
            place = self._places[at]
            for number, amount in counted:
                place.counts[number] -= amount
            if at not in stays:
                del place.members[key]
                if not place.members:
                    del self._places[at]

    def _recounted(self, old: Facts | None, new: Facts | None) -> Iterator[tuple[str, Places, Places]]:
        """Every counter that a change touches, with the places in which it counts less, and more."""
        for number, counter in enumerate(self.kind.counters):
            was = 0 if old is None else old.counted[number]
            now = 0 if new is None else new.counted[number]
            if not (was or now):
                continue
            counted = old.places if old is not None and was else ()
            counts = new.places if new is not None and now else ()
            if was != now:
                yield counter, counted, counts
            elif counted != counts:
                left = tuple(place for place in counted if place not in counts)
                yield counter, left, tuple(place for place in counts if place not in counted)
