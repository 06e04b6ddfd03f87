"""What has been seen of one kind: typed views, indexed, with counts kept as they change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from mooring.runtime.kinds import HasMeta, Key, Kind, key_of_object

T = TypeVar("T", bound=HasMeta)

Object = dict[str, Any]
# An index, one of its values and, for counts, a counter ("" asks for the members).
Lookup = tuple[str, str, str]


class Facts(NamedTuple):
    """Where a view stands in the indexes, as (index, value), and which counters count it."""

    places: frozenset[tuple[str, str]]
    counted: tuple[bool, ...]


class Changed(NamedTuple):
    """An object whose view is not what it was; None stands for absent."""

    key: Key
    old: Any
    new: Any
    old_facts: Facts | None = None
    new_facts: Facts | None = None


class Store(Generic[T]):
    """The objects of one kind. `synced` is false until a whole list has been taken in."""

    def __init__(self, kind: Kind[T]) -> None:
        self.kind = kind
        self.synced = False
        self.problem = "has not been listed yet"
        # The highest resourceVersion that was seen for this kind.
        self.seen = 0
        self._views: dict[Key, T] = {}
        self._versions: dict[Key, str] = {}
        self._indexes = kind.every_index
        self._facts: dict[Key, Facts] = {}
        self._members: dict[tuple[str, str], dict[Key, T]] = {}
        self._counts: dict[Lookup, int] = {}

    def __len__(self) -> int:
        return len(self._views)

    def get(self, key: Key) -> T | None:
        return self._views.get(key)

    def version(self, key: Key) -> str | None:
        return self._versions.get(key)

    def members(self, index: str, value: str) -> tuple[T, ...]:
        """The members in order of their names, so that a decision does not depend on the order of events."""
        if index not in self._indexes:
            raise KeyError(f"{self.kind} has no index {index!r}; it has {', '.join(sorted(self._indexes))}")
        members = self._members.get((index, value), {})
        return tuple(members[key] for key in sorted(members))

    def count(self, index: str, value: str, counter: str) -> int:
        if counter not in self.kind.counters:
            raise KeyError(f"{self.kind} has no counter {counter!r}")
        return self._counts.get((index, value, counter), 0)

    def put(self, obj: Object) -> Changed | None:
        """Take an object in; None when nobody can see a difference."""
        key = key_of_object(obj)
        version = str(obj["metadata"].get("resourceVersion", "0"))
        self.seen = max(self.seen, int(version))
        known = self._versions.get(key)
        if known is not None and int(known) > int(version):
            # An event that was delivered twice, or late.
            return None
        view = msgspec.convert(obj, self.kind.view)
        self._versions[key] = version
        return self._replace(key, view)

    def remove(self, key: Key, version: int) -> Changed | None:
        self.seen = max(self.seen, version)
        known = self._versions.get(key)
        if known is None or int(known) > version:
            return None
        del self._versions[key]
        return self._replace(key, None)

    def resync(self, items: Iterable[Object], version: int) -> list[Changed]:
        """Take a whole list in: what is not in it is gone."""
        changes = []
        listed = set()
        for obj in items:
            listed.add(key_of_object(obj))
            changes.append(self.put(obj))
        changes += [self.remove(key, version) for key in [key for key in self._views if key not in listed]]
        self.seen = max(self.seen, version)
        self.synced = True
        return [change for change in changes if change is not None]

    def lookups(self, change: Changed) -> Iterator[Lookup]:
        """The lists and counts whose answer a change may have changed."""
        old, new = change.old_facts, change.new_facts
        if old is new and new is not None:
            for index, value in new.places:
                yield index, value, ""
            return
        before = old.places if old is not None else _NOWHERE
        after = new.places if new is not None else _NOWHERE
        for index, value in before | after:
            yield index, value, ""
        was = old.counted if old is not None else ()
        now = new.counted if new is not None else ()
        if was == now:
            # Whatever counts it goes on doing so where it stays, and changes only where it came or went.
            for counter, counts in zip(self.kind.counters, now, strict=True):
                if counts:
                    for index, value in before ^ after:
                        yield index, value, counter
            return
        for number, counter in enumerate(self.kind.counters):
            counted = before if was and was[number] else _NOWHERE
            counts_now = after if now and now[number] else _NOWHERE
            for index, value in counted ^ counts_now:
                yield index, value, counter

    def _replace(self, key: Key, view: T | None) -> Changed | None:
        old = self._views.get(key)
        if old == view:
            return None
        old_facts = self._facts.pop(key, None)
        new_facts = None if view is None else self._find_facts(view)
        if view is None or new_facts is None:
            del self._views[key]
        else:
            self._views[key] = view
            self._facts[key] = new_facts
        if view is not None and new_facts is not None and old_facts == new_facts:
            # It stays where it was and counts as it did, which is what most changes are.
            for place in new_facts.places:
                self._members[place][key] = view
            return Changed(key, old, view, old_facts, old_facts)
        if old_facts is not None:
            self._index(key, old_facts, None)
        if view is not None and new_facts is not None:
            self._index(key, new_facts, view)
        return Changed(key, old, view, old_facts, new_facts)

    def _find_facts(self, view: T) -> Facts:
        places = [(index, value) for index, values in self._indexes.items() for value in values(view)]
        return Facts(frozenset(places), tuple(counts(view) for counts in self.kind.counters.values()))

    def _index(self, key: Key, facts: Facts, view: T | None) -> None:
        """Put a view in its places, or with None take it out of them."""
        for place in facts.places:
            members = self._members.get(place)
            if view is not None:
                if members is None:
                    members = self._members[place] = {}
                members[key] = view
            elif members is not None:
                del members[key]
                if not members:
                    del self._members[place]
        step = -1 if view is None else 1
        for counter, counts in zip(self.kind.counters, facts.counted, strict=True):
            if counts:
                for index, value in facts.places:
                    lookup = (index, value, counter)
                    left = self._counts.get(lookup, 0) + step
                    if left:
                        self._counts[lookup] = left
                    else:
                        del self._counts[lookup]


_NOWHERE: frozenset[tuple[str, str]] = frozenset()
