"""A view made from plain objects, so that a reconcile is tested as a table: objects in, decision out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from mooring.api.kinds import Indexers, Kind
from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.runtime.dispatcher.store import Store
from mooring.runtime.folds import Fold
from mooring.runtime.gates import FeatureGates, all_gates
from mooring.runtime.settings import Setting, ToldSettings
from mooring.runtime.view import View
from mooring.testing.controllers import whole_control_plane
from mooring.workloads import kinds as builtin

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BUILTIN: tuple[Kind[Any], ...] = tuple(kind for kind in vars(builtin).values() if isinstance(kind, Kind))

# What controllers ask beyond that: views of tests answer all of it.
INDEXERS = tuple(each for controller in whole_control_plane() for each in controller.indexers)
GATES = all_gates(controller.gates for controller in whole_control_plane())
SETTINGS = {setting: setting.default for setting in CATALOG.settings}


def identified(obj: Object, version: int) -> Object:
    """An object with what an API server adds to it: a uid that follows from its name, and a resourceVersion."""
    meta = obj["metadata"]
    uid = "/".join((obj["kind"], meta.get("namespace", ""), meta["name"]))
    return {**obj, "metadata": {"uid": uid, "resourceVersion": str(version), **meta}}


def view_of(
    objects: Iterable[Object],
    now: datetime = NOON,
    kinds: Iterable[Kind[Any]] = BUILTIN,
    memory: Any = None,
    folds: Iterable[Fold[Any]] = (),
    problem: str = "",
    gates: Mapping[str, bool] | None = None,
    settings: Mapping[Setting[Any], Any] | None = None,
    indexers: Iterable[Indexers[Any]] = (),
    running: Iterable[str] = (),
) -> View:
    """A view of exactly these objects, in which every kind may be read; `problem` is why the last writes failed.

    `indexers` are those of the controller that is asked, where it is a feature's.
    """
    stores: dict[Kind[Any], Store[Any]] = {kind: Store(kind, (*INDEXERS, *indexers)) for kind in kinds}
    by_name = {(kind.api_version, kind.kind): store for kind, store in stores.items()}
    for store in stores.values():
        store.resync((), 0)
    states = {fold: fold.start() for fold in folds}
    for version, obj in enumerate(objects, start=1):
        store = by_name[obj["apiVersion"], obj["kind"]]
        change = store.put(identified(obj, version))
        for fold, state in states.items():
            if change is not None and store.kind in fold.kinds:
                fold.apply(state, store.kind, change)
    opened = FeatureGates({**GATES, **(gates or {})})
    told = ToldSettings({**SETTINGS, **(settings or {})})
    return View(stores, states, stores, now, memory, problem, gates=opened, settings=told, running=frozenset(running))
