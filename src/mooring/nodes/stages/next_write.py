"""The next write of a Stage to an object, with its events.

A Stage may change an object, its status and its finalizers, and delete it. Each is a write of its own, decided on what
the one before has left: first what is not status, then the status. After a crash in between it continues with
the next write, because the Stage still matches.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from mooring.api.kinds import Key, Kind
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.patches.merge import apply_merge, merge_diff
from mooring.kube.patches.operations import json_patch
from mooring.kube.patches.strategic import strategic_merge_patch
from mooring.kube.schemas.builtin import builtin_schema
from mooring.kube.times import moment
from mooring.manifests.loader import load
from mooring.nodes.stages.lexer import TemplateError
from mooring.nodes.stages.lifecycle import CompiledStage, StageStep
from mooring.runtime.decision import Delete, Event, Patch, Write

Environment = Mapping[str, Callable[..., Any]]

_MOMENTS: Final = ("Time", "At", "Timestamp")


class StageFailure(MooringError):
    """A Stage that was compiled but cannot be applied to an object."""


class NextWrite(NamedTuple):
    write: Write
    events: tuple[Event, ...]


def next_write(stage: CompiledStage, obj: Object, kind: Kind[Any], environment: Environment) -> NextWrite | None:
    """The write that comes next; None if the object is as the Stage wants it. Raises StageFailure."""
    after = outcome(stage, obj, environment)
    key = Key(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
    events = tuple(_event(kind, key, step.event) for step in stage.steps if step.event is not None)
    before = {name: value for name, value in obj.items() if name != "status"}
    body = merge_diff(before, {name: value for name, value in after.items() if name != "status"})
    deletes = any(step.delete for step in stage.steps)
    last = not deletes and after.get("status") == obj.get("status")
    if body:
        return NextWrite(Patch(kind, key, body), events if last else ())
    if deletes:
        return NextWrite(Delete(kind, key, grace=0), events)
    status = merge_diff(obj.get("status") or {}, after.get("status") or {})
    return NextWrite(Patch(kind, key, {"status": status}, "status"), events) if status else None


def outcome(stage: CompiledStage, obj: Object, environment: Environment) -> Object:
    """The object as the Stage leaves it."""
    made = copy.deepcopy(obj)
    for step in stage.steps:
        if step.finalizers is not None:
            made["metadata"] = _with_finalizers(made["metadata"], step.finalizers)
        if step.template is not None:
            made = _patched(stage, step, made, obj, environment)
    return made


def is_heartbeat(stage: CompiledStage, obj: Object, environment: Environment) -> bool:
    """Whether a Stage changes nothing but moments: it may go on for ever and leads nowhere."""
    if any(step.delete for step in stage.steps):
        return False
    return bool(_timeless(outcome(stage, obj, environment)) == _timeless(obj))


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(item) for name, item in value.items() if not name.endswith(_MOMENTS)}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def last_moment(obj: Object) -> datetime | None:
    """The latest moment that an object tells of, which is when it came to be as it is."""
    found: list[str] = []
    _moments(obj.get("status"), found)
    metadata = obj["metadata"]
    found += [metadata["creationTimestamp"]] if "creationTimestamp" in metadata else []
    moments = [moment(text) for text in found]
    deleted = metadata.get("deletionTimestamp")
    if deleted is not None:
        grace = metadata.get("deletionGracePeriodSeconds") or 0
        moments.append(datetime.fromtimestamp(moment(deleted).timestamp() - grace, moment(deleted).tzinfo))
    return max(moments, default=None)


def _moments(value: Any, found: list[str]) -> None:
    if isinstance(value, dict):
        for name, item in value.items():
            if name.endswith(_MOMENTS) and isinstance(item, str):
                found.append(item)
            else:
                _moments(item, found)
    elif isinstance(value, list):
        for item in value:
            _moments(item, found)


def _with_finalizers(metadata: Object, change: Object) -> Object:
    present = metadata.get("finalizers") or []
    removed = {item.get("value") for item in change.get("remove") or ()}
    kept = [] if change.get("empty") else [name for name in present if name not in removed]
    # One that is removed and added is removed, unless none would be left.
    known = present if kept else []
    added = [item.get("value") for item in change.get("add") or ()]
    wanted = [*kept, *(name for name in dict.fromkeys(added) if name not in known)]
    rest = {name: value for name, value in metadata.items() if name != "finalizers"}
    return {**rest, "finalizers": wanted} if wanted else rest


def _patched(stage: CompiledStage, step: StageStep, obj: Object, before: Object, environment: Environment) -> Object:
    """The object with one patch more; every template sees it as it was before all of them."""
    assert step.template is not None
    try:
        patch = load(step.template.render(before, environment))
        if step.patch == "json":
            root = f"/{step.root}" if step.root else ""
            patched = json_patch(obj, [{**each, "path": root + each.get("path", "")} for each in patch or ()])
        else:
            if not isinstance(patch, dict | None):
                raise StageFailure("its template makes no object")
            wrapped = {step.root: patch or {}} if step.root else patch or {}
            if step.patch == "strategic":
                patched = strategic_merge_patch(obj, wrapped, builtin_schema("v1", stage.kind))
            else:
                patched = apply_merge(obj, wrapped)
    except (TemplateError, MooringError, AttributeError, TypeError) as error:
        raise StageFailure(f"Stage {stage.name} cannot be applied: {error}") from None
    part = ("status",) if step.subresource == "status" else tuple(name for name in patched if name != "status")
    return {**obj, **{name: patched[name] for name in part if name in patched}}


def _event(kind: Kind[Any], key: Key, said: Object) -> Event:
    if said.get("type") == "Warning":
        return Event(kind, key, "Warning", said.get("reason", ""), said.get("message", ""))
    return Event(kind, key, "Normal", said.get("reason", ""), said.get("message", ""))
