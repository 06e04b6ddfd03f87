"""Garbage collection: objects whose owners are all gone are deleted, and owners in foreground deletion are released.

An object goes when all its owners are gone (background), or when they are being deleted in the foreground and no other
owner keeps it. An owner deleted with `orphan` is forgotten by its dependents first.

Being absent is harder to see than being there: another kind's watch may be behind. An owner that was seen going is
gone for good. One that was never seen is given time to appear.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from mooring.api.kinds import DynamicKinds, Key, Kind
from mooring.api.meta import OwnerRef
from mooring.builtin.garbagecollector.graph import FOREGROUND, ORPHAN, Graph, Item, graph_of, kind_name
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete, Patch, Write
from mooring.runtime.folds import Fold
from mooring.runtime.view import View
from mooring.workloads.finalizers import without_finalizer
from mooring.workloads.ownerrefs import reference_objects

# How long an owner that was never seen may take to appear.
UNKNOWN_OWNER_GRACE = timedelta(seconds=30)
MAX_WRITES_PER_PASS = 500


class Owners(NamedTuple):
    """The owners of an object by what they mean for it."""

    solid: list[OwnerRef]
    gone: list[OwnerRef]
    # Being deleted in the foreground: they wait for this object.
    waiting: list[OwnerRef]


class Collection:
    """One look at the owners in trouble. `covered` are the kinds whose absence can be told at all."""

    def __init__(self, graph: Graph, view: View, covered: Container[tuple[str, str]]) -> None:
        self._graph = graph
        self._covered = covered
        self._view = view
        known: Mapping[str, datetime] = view.memory(MappingProxyType) or {}
        self._missing_since: dict[str, datetime] = {uid: known[uid] for uid in graph.troubled if uid in known}
        self.children: dict[str, Write] = {}
        self.release: list[Write] = []

    @property
    def memory(self) -> MappingProxyType[str, datetime]:
        return MappingProxyType(self._missing_since)

    def look_at(self, uid: str) -> None:
        owner = self._graph.items.get(uid)
        dependents = self._graph.dependents(uid)
        if owner is None:
            self._collect(dependents)
        elif owner.orphans:
            self._orphan(owner, dependents)
        elif not any(_blocks(dependent, uid) for dependent in dependents):
            self.release.append(_without(owner, FOREGROUND))
        else:
            self._collect(dependents)

    def _orphan(self, owner: Item, dependents: list[Item]) -> None:
        for dependent in dependents:
            left = [reference for reference in dependent.owners if reference.uid != owner.uid]
            self.children[dependent.uid] = _with_owners(dependent, left)
        if not dependents:
            self.release.append(_without(owner, ORPHAN))

    def _collect(self, dependents: list[Item]) -> None:
        for item in dependents:
            if item.deleting or item.uid in self.children:
                continue
            owners = self._owners(item)
            if owners is None:
                continue
            if not owners.solid:
                self.children[item.uid] = Delete(item.kind, item.key, propagation=self._propagation(item, owners))
            elif owners.gone or owners.waiting:
                self.children[item.uid] = _with_owners(item, owners.solid)

    def _owners(self, item: Item) -> Owners | None:
        """The owners of an object sorted; None while it is not certain that one of them is gone."""
        found = Owners([], [], [])
        uncertain = False
        for reference in item.owners:
            owner = self._graph.items.get(reference.uid)
            if owner is not None:
                (found.waiting if owner.foreground else found.solid).append(reference)
            elif not self._can_be_missed(reference):
                found.solid.append(reference)
            else:
                uncertain = not self._is_gone(reference.uid) or uncertain
                found.gone.append(reference)
        return None if uncertain else found

    def _can_be_missed(self, owner: OwnerRef) -> bool:
        """Whether it means anything that an owner is not seen. One that was seen going is gone for good."""
        return owner.uid in self._graph.seen_going or kind_name(owner.api_version, owner.kind) in self._covered

    def _is_gone(self, uid: str) -> bool:
        if uid in self._graph.seen_going:
            return True
        since = self._missing_since.setdefault(uid, self._view.now)
        return self._view.reached(since + UNKNOWN_OWNER_GRACE)

    def _propagation(self, item: Item, owners: Owners) -> Literal["Foreground", "Background", "Orphan"]:
        dependents = self._graph.dependents(item.uid)
        if owners.waiting and dependents:
            # Two that wait for each other would wait for ever.
            circular = any(dependent.foreground for dependent in dependents)
            return "Background" if circular else "Foreground"
        if ORPHAN in item.finalizers:
            return "Orphan"
        return "Foreground" if FOREGROUND in item.finalizers else "Background"


def _blocks(dependent: Item, uid: str) -> bool:
    return any(reference.uid == uid and reference.block_owner_deletion for reference in dependent.owners)


def _without(item: Item, finalizer: str) -> Patch:
    return Patch(item.kind, item.key, {"metadata": {"finalizers": without_finalizer(item.finalizers, finalizer)}})


def _with_owners(item: Item, owners: list[OwnerRef]) -> Patch:
    return Patch(item.kind, item.key, {"metadata": {"ownerReferences": reference_objects(owners) or None}})


def reconcile_with(graph: Fold[Graph], view: View) -> Decision:
    state = view.fold(graph)
    custom = () if graph.defined is None else view.defined(graph.defined)
    # What was never listed says nothing by not being there.
    read = (*graph.kinds, *(kind for kind in custom if view.readable(kind)))
    collection = Collection(state, view, {kind_name(kind.api_version, kind.kind) for kind in read})
    for uid in list(state.troubled):
        if len(collection.children) + len(collection.release) >= MAX_WRITES_PER_PASS:
            break
        collection.look_at(uid)
    return Decision(
        children=tuple(collection.children.values()),
        release=tuple(collection.release),
        memory=collection.memory,
    )


def garbage_collector(kinds: Iterable[Kind[Any]], defined: DynamicKinds | None = None) -> Controller:
    """Garbage collection of these kinds and of those that are defined. Owners of other kinds are taken to be there."""
    covered = tuple(kinds)
    graph = graph_of(covered, defined)

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        return reconcile_with(graph, view)

    return Controller(
        "garbage-collector",
        reconcile,
        reads=covered,
        writes=dict.fromkeys(covered, ("patch", "delete")),
        folds=(graph,),
        defined=defined,
        defined_writes=("patch", "delete"),
        memory=MappingProxyType,
    )
