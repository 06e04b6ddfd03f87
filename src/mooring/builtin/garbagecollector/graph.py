"""Who owns whom, by uid, over all kinds that garbage collection covers: a fold, because the answer spans the cluster.

Only owners in trouble are looked at: those that are gone, and those that are being deleted and want something done
about their dependents first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from mooring.api.kinds import DynamicKinds, HasMeta, Key, Kind
from mooring.api.meta import OwnerRef
from mooring.runtime.dispatcher.store import Changed
from mooring.runtime.folds import Fold

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"


class Item(NamedTuple):
    """An object as garbage collection sees it."""

    kind: Kind[Any]
    key: Key
    uid: str
    owners: tuple[OwnerRef, ...]
    finalizers: tuple[str, ...]
    deleting: bool

    @property
    def foreground(self) -> bool:
        """Waits for the dependents that block it."""
        return self.deleting and FOREGROUND in self.finalizers

    @property
    def orphans(self) -> bool:
        """Waits until its dependents have forgotten it."""
        return self.deleting and ORPHAN in self.finalizers


class Graph:
    def __init__(self) -> None:
        self.items: dict[str, Item] = {}
        self._dependents: dict[str, dict[str, None]] = {}
        # Owners that were there and are not any more, as long as something refers to them.
        self.seen_going: set[str] = set()
        self.troubled: dict[str, None] = {}

    def dependents(self, uid: str) -> list[Item]:
        return [self.items[dependent] for dependent in self._dependents.get(uid, ())]

    def change(self, kind: Kind[Any], change: Changed) -> bool:
        """Take a change in; returns whether there is, or was, an object to delete or an owner to release."""
        old, new = _item(kind, change.key, change.old), _item(kind, change.key, change.new)
        if old == new:
            return False
        trouble = bool(self.troubled)
        touched: dict[str, None] = {}
        if old is not None:
            touched |= self._forget(old, replaced=new is not None and new.uid == old.uid)
        if new is not None:
            touched |= self._take_in(new)
        for uid in touched:
            self._review(uid)
        return trouble or bool(self.troubled)

    def _forget(self, item: Item, *, replaced: bool) -> dict[str, None]:
        self.items.pop(item.uid, None)
        if not replaced:
            self.seen_going.add(item.uid)
        for owner in item.owners:
            members = self._dependents.get(owner.uid, {})
            members.pop(item.uid, None)
            if not members:
                self._dependents.pop(owner.uid, None)
        return dict.fromkeys((item.uid, *(owner.uid for owner in item.owners)))

    def _take_in(self, item: Item) -> dict[str, None]:
        self.items[item.uid] = item
        self.seen_going.discard(item.uid)
        for owner in item.owners:
            self._dependents.setdefault(owner.uid, {})[item.uid] = None
        return dict.fromkeys((item.uid, *(owner.uid for owner in item.owners)))

    def _review(self, uid: str) -> None:
        owner = self.items.get(uid)
        if owner is None:
            in_trouble = uid in self._dependents
            if not in_trouble:
                self.seen_going.discard(uid)
        else:
            in_trouble = owner.foreground or owner.orphans
        if in_trouble:
            self.troubled[uid] = None
        else:
            self.troubled.pop(uid, None)


def _item(kind: Kind[Any], key: Key, obj: HasMeta | None) -> Item | None:
    if obj is None:
        return None
    meta = obj.metadata
    return Item(kind, key, meta.uid, meta.owner_references, meta.finalizers, meta.deleting)


def kind_name(api_version: str, kind: str) -> tuple[str, str]:
    """What a kind is called in every version of its group."""
    return api_version.rpartition("/")[0], kind


def graph_of(kinds: Iterable[Kind[Any]], defined: DynamicKinds | None = None) -> Fold[Graph]:
    """The graph over these kinds, and over those that are defined while it is kept."""
    return Fold("garbage-graph", tuple(kinds), Graph, Graph.change, defined=defined)
