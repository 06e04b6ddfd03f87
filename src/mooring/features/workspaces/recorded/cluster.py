"""A cluster of plain objects in which a Workspace is reconciled until nothing moves.

No other controller is there, and nothing is defaulted, so that what was written is seen as it was written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from mooring.api.kinds import Key, Kind, extended, key_of_object
from mooring.features.workspaces.benchmark import benchmark_report
from mooring.features.workspaces.controller import CONTROLLER, decide
from mooring.features.workspaces.kinds import NODE_CLAIM
from mooring.features.workspaces.settings import Settings
from mooring.kube.objects import Object
from mooring.kube.patches.merge import merge_patch
from mooring.runtime.decision import Create, Decision, Delete, Patch, Write
from mooring.runtime.dispatcher.store import Store
from mooring.runtime.effects import Run, finished
from mooring.runtime.reads import is_followed
from mooring.runtime.view import Unavailable, View

__all__ = ["Place", "RecordedCluster"]

_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_MOST_PASSES: Final = 20
_GONE: Final = "deletionTimestamp"

Place = tuple[str, str, str, str]


class RecordedCluster:
    """`logs` are the texts that pods have written, by their names."""

    def __init__(self, objects: Iterable[Object], settings: Settings, logs: Mapping[str, str]) -> None:
        self._settings = settings
        self._logs = logs
        # Nobody schedules pods here, so that no advice is asked for.
        self._folds = {fold: fold.start() for fold in CONTROLLER.folds}
        self._objects: dict[Place, Object] = {}
        self._version = 0
        self._now = _START
        self.events: list[str] = []
        # The claims that were made here, in their order.
        self.made: list[Place] = []
        for each in objects:
            self.put(each)

    def put(self, obj: Object) -> None:
        self._version += 1
        place = _place(obj)
        before = self._objects.get(place, {"metadata": {}})
        metadata = {
            "uid": before["metadata"].get("uid") or f"uid-{self._version}",
            **obj["metadata"],
            "resourceVersion": str(self._version),
        }
        self._objects[place] = {**obj, "metadata": metadata}

    def remove(self, kind: str, namespace: str, name: str) -> None:
        """As the API does: what has finalizers stays, marked, until they are gone."""
        place = next((place for place in self._objects if place[1:] == (kind, namespace, name)), None)
        if place is None:
            return
        there = self._objects[place]
        if there["metadata"].get("finalizers"):
            self.put({**there, "metadata": {**there["metadata"], _GONE: "2026-01-01T00:00:00Z"}})
        else:
            del self._objects[place]

    def find(self, api_version: str, kind: str, namespace: str, name: str) -> Object | None:
        return self._objects.get((api_version, kind, namespace, name))

    @property
    def objects(self) -> Mapping[Place, Object]:
        return dict(self._objects)

    def reconcile(self, key: Key) -> None:
        """Until a pass writes nothing."""
        for _ in range(_MOST_PASSES):
            self._now += timedelta(seconds=1)
            decision = self._decide(key)
            if decision.empty and not any(map(self._read, decision.effects)):
                return
            self.events += (f"{event.type} {event.reason} {event.message}" for event in decision.events)
            for stage in decision.stages:
                for write in stage:
                    self._write(write)

    def _read(self, run: Run) -> bool:
        """Read the log of a pod; whether it says something new."""
        log, found = run.arguments, self._objects[run.kind.api_version, run.kind.kind, *run.key]
        problem = "" if log.pod in self._logs else "there is no such pod"
        report = benchmark_report(log, self._logs.get(log.pod, ""), problem)
        request = finished(run._replace(uid=found["metadata"]["uid"]), report, found, self._now)
        if request is None:
            return False
        self.put(merge_patch(json.loads(json.dumps(found)), request.body))
        return True

    def _decide(self, key: Key) -> Decision:
        single: set[Kind[Any]] = set()
        while True:
            stores = {kind: self._store(kind) for kind in (*CONTROLLER.kinds, *single)}
            view = View(stores, self._folds, (*CONTROLLER.kinds, *single), self._now)
            try:
                return decide(key, view, self._now, self._settings)
            except Unavailable as missing:
                if missing.kind in single:
                    raise
                single.add(missing.kind)

    def _store(self, kind: Kind[Any]) -> Store[Any]:
        store: Store[Any] = Store(extended(kind, CONTROLLER.indexers))
        store.resync((), 0)
        for (api_version, name, namespace, own), obj in self._objects.items():
            if (api_version, name) != (kind.api_version, kind.kind):
                continue
            if kind.only is not None and kind.only != Key(namespace, own):
                continue
            if is_followed(kind, own, obj["metadata"].get("labels") or {}) and (
                not kind.by_name or kind.only is not None
            ):
                store.put(obj)
        return store

    def _write(self, write: Write) -> None:
        if isinstance(write, Create):
            made = {"apiVersion": write.kind.api_version, "kind": write.kind.kind, **write.object}
            self.put(made)
            if write.kind is NODE_CLAIM:
                self.made.append(_place(made))
        elif isinstance(write, Patch):
            there = self._objects[write.kind.api_version, write.kind.kind, *write.key]
            changed = merge_patch(json.loads(json.dumps(there)), write.body)
            self.put(changed)
            if _GONE in changed["metadata"] and not changed["metadata"].get("finalizers"):
                del self._objects[_place(changed)]
        elif isinstance(write, Delete):
            self.remove(write.kind.kind, *write.key)


def _place(obj: Object) -> Place:
    return (obj["apiVersion"], obj["kind"], *key_of_object(obj))
