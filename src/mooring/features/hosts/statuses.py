"""Statuses of hosts and of what claims them, written only where they say something new."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from mooring.api.conditions import condition_objects, set_conditions
from mooring.api.kinds import HasMeta, Kind
from mooring.api.meta import Condition
from mooring.kube.objects import Object
from mooring.runtime.decision import Patch, status


def waiting(type_: str, reason: str, message: str, severity: str = "Info") -> Condition:
    """A condition that does not hold yet."""
    return Condition(type_, "False", reason, message, severity=severity)


def holds(type_: str, reason: str = "", message: str = "") -> Condition:
    return Condition(type_, "True", reason, message)


def status_patch(
    kind: Kind[Any],
    obj: HasMeta,
    known: Any,
    conditions: Iterable[Condition],
    now: datetime,
    fields: Object | None = None,
    without: Iterable[str] = (),
) -> tuple[Patch, ...]:
    """The write of these conditions and fields; none where the status has them. `without` names conditions that go."""
    gone = frozenset(without)
    kept = tuple(each for each in known.conditions if each.type not in gone)
    told = set_conditions(kept, conditions, now)
    body: Object = {}
    if told != known.conditions:
        body["conditions"] = condition_objects(told)
    # As the API has it: with lists, where views have tuples.
    have = msgspec.json.decode(msgspec.json.encode(known))
    body |= {name: value for name, value in (fields or {}).items() if have.get(name) != value}
    return (status(kind, obj, body),) if body else ()
