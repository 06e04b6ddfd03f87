"""Which runs of a decision are to be carried out, and what puts them on record first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from mooring.api.kinds import Key, Kind
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.patches import merge_patch
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Patch
from mooring.runtime.dispatcher.store import Store
from mooring.runtime.effects import Run, record_of, started

# Where an object of a kind was seen, if it was.
Find = Callable[[Kind[Any], Key], Store[Any] | None]


def wanted_runs(controller: Controller, runs: Iterable[Run], find: Find) -> tuple[Run, ...]:
    """The runs of a decision that have not ended, with the uids of their objects."""
    found = []
    for run in runs:
        if run.effect not in controller.effects:
            raise MooringError(f"{controller.name} runs effect {run.effect.name}, which it does not declare")
        obj = _seen(run, find)
        if run.effect.done is not None:
            if obj is not None and not run.effect.done(obj):
                found.append(run._replace(uid=obj.metadata.uid))
            continue
        record = None if obj is None else record_of(run, obj)
        if obj is not None and not (record is not None and record.id == run.id and record.is_finished):
            found.append(run._replace(uid=obj.metadata.uid))
    return tuple(found)


def records_of(runs: Iterable[Run], find: Find, now: datetime) -> tuple[Patch, ...]:
    """What puts the runs on record that are not, one write for each object."""
    found: dict[tuple[Kind[Any], Key], Object] = {}
    for run in runs:
        if run.effect.done is not None:
            continue
        record = record_of(run, _seen(run, find))
        if record is None or record.id != run.id:
            target = run.kind, run.key
            found[target] = merge_patch(found.get(target, {}), started(run, now))
    return tuple(Patch(kind, key, body, "status") for (kind, key), body in found.items())


def _seen(run: Run, find: Find) -> Any:
    store = find(run.kind, run.key)
    return None if store is None else store.get(run.key)
