"""The stores of all kinds, and which of them show one object of the API.

A kind may be followed in several ways at once: as a whole, by its metadata, by a selector, by name. What a key wrote
must be seen in each of these that will show it, before the key runs again.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mooring.api.kinds import Indexers, Key, Kind
from mooring.kube.objects import Object
from mooring.runtime.dispatcher.store import Changed, Store
from mooring.runtime.reads import is_followed


class Stores(dict[Kind[Any], Store[Any]]):
    def __init__(self, kinds: Sequence[Kind[Any]], indexers: Sequence[Indexers[Any]] = ()) -> None:
        super().__init__((kind, Store(kind, indexers)) for kind in kinds)
        # The kinds that are one to the API, where there are several.
        self._views = _several_views(kinds)
        # How many questions are open about each object that is followed by its name.
        self._questions: dict[Kind[Any], int] = {}

    def open(self, kind: Kind[Any]) -> None:
        """Make room for a kind that was not declared as such."""
        self[kind] = Store(kind)

    def views_of(self, kind: Kind[Any]) -> Sequence[Kind[Any]]:
        """The views that are followed of what the API calls one kind; none of a kind that no controller reads."""
        return self._views.get((kind.api_version, kind.kind)) or ((kind,) if kind in self else ())

    def showing(
        self, kind: Kind[Any], key: Key, labels: Mapping[str, str] | None, readable: Container[Kind[Any]]
    ) -> Iterable[Kind[Any]]:
        """The views in which a write of an object will be seen, where `readable` are those that its writer reads."""
        views = self.views_of(kind)
        if views == (kind,) and not kind.is_partial:
            # So it is with most kinds.
            return views
        return self._several_showing(views, kind, key, labels, readable)

    def _several_showing(
        self,
        views: Iterable[Kind[Any]],
        kind: Kind[Any],
        key: Key,
        labels: Mapping[str, str] | None,
        readable: Container[Kind[Any]],
    ) -> Iterator[Kind[Any]]:
        for view in views:
            if view is kind and not view.is_partial:
                yield view
                continue
            store = self[view]
            if not store.synced:
                continue
            if view.only is not None:
                if view.only == key:
                    yield view
            elif view.is_partial:
                # A watch by labels tells of an object that has them, or has had them.
                if store.get(key) is not None or is_followed(view, key.name, labels or {}):
                    yield view
            elif view.on_demand or view in readable:
                yield view

    def find(self, kind: Kind[Any], key: Key) -> Store[Any] | None:
        """Where an object was seen that is written as one of a kind."""
        if kind in self and not kind.by_name:
            return self[kind]
        stores = (self[view] for view in self.views_of(kind))
        return next((store for store in stores if store.get(key) is not None), None)

    def take(self, kind: Kind[Any], key: Key, item: Object | None) -> Iterable[tuple[Kind[Any], Changed]]:
        """Take one object in as a live read found it, None if it is not there, in every view that shows it."""
        for view in self.views_of(kind):
            if view.only is not None and view.only != key:
                continue
            store = self[view]
            shown = item is not None and is_followed(view, key.name, item["metadata"].get("labels") or {})
            found = item if shown else None
            change = store.remove(key, store.version(key) or 0) if found is None else store.put(found)
            if change is not None:
                yield view, change

    def count_questions(self, kind: Kind[Any], by: int) -> bool:
        """Count the questions about an object that is followed by its name; whether there are none any more."""
        views = self._views.setdefault((kind.api_version, kind.kind), [])
        if kind not in views:
            views.append(kind)
        self._questions[kind] = left = self._questions.get(kind, 0) + by
        if not left:
            del self._questions[kind]
            views.remove(kind)
        return not left


def _several_views(kinds: Iterable[Kind[Any]]) -> dict[tuple[str, str], list[Kind[Any]]]:
    """The kinds that are one to the API, for those of which there are several."""
    found: dict[tuple[str, str], list[Kind[Any]]] = {}
    for kind in kinds:
        if not kind.by_name:
            found.setdefault((kind.api_version, kind.kind), []).append(kind)
    return {name: views for name, views in found.items() if len(views) > 1 or views[0].is_partial}
