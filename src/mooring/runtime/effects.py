"""Effects: what a feature does outside the API, such as helm, git or a script.

A decision says with `Run` which effect it wants, under an id that follows from what it is for. The runtime writes the
id into the object's status, and hands the run to an executor once that write was answered. An executor reports only by
writing the record in the status. So after any crash the record tells what is known: a run that is on record and not
finished is handed to an executor again under the same id, which makes effects at least once; an executor knows by the
id what it is running.

A run is wanted for as long as the decisions of its key contain it. One that is no longer wanted, because the object
changed or is gone, is cancelled.

Built-in kinds have no room for records. An effect on one of them says by `done` whether its result is in the object,
which is then all that is recorded: a run is handed to an executor until the result is there, so running it twice must
come to the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, NamedTuple, Protocol, TypeVar

import msgspec

from mooring.api.conditions import condition_objects
from mooring.api.core.types import View as Typed
from mooring.api.kinds import Key, Kind
from mooring.api.meta import Condition
from mooring.client.transport import Request
from mooring.kube.conditions import conditions_of, find_condition, set_conditions
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.times import timestamp

A = TypeVar("A")
Phase = Literal["Started", "Succeeded", "Failed", "TimedOut", "Cancelled"]

# The field of a status in which records stand, by the names of effects.
RECORDS: Final = "effects"
# An object must stay small: of what an effect prints, its end is kept.
LONGEST_OUTPUT_CHARACTERS: Final = 4096


class EffectRecord(Typed, frozen=True):
    """What is known of the last run of an effect. A kind that has effects has these in `status.effects`, by name."""

    id: str = ""
    phase: Phase = "Started"
    started_at: str | None = None
    finished_at: str | None = None
    exit_code: int | None = None
    output: str = ""
    message: str = ""

    @property
    def is_finished(self) -> bool:
        return self.phase != "Started"


class Report(NamedTuple):
    """How a run ended, and with `status` what else it has to say in the object's status.

    `conditions` are set among those that the object has. `subresource` is where the status of an effect without records
    is written.
    """

    phase: Phase
    exit_code: int | None = None
    output: str = ""
    message: str = ""
    status: Mapping[str, Any] = MappingProxyType({})
    subresource: str = "status"
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, eq=False)
class Effect(Generic[A]):
    """One thing that can be done. `executor` names who does it, `model` says how it goes in a simulation.

    A model gives how long a run takes and how it ends, and may not do anything itself. For the executor `process`,
    `command` gives the program and its arguments. For the executor `pod-log`, whose arguments are a `PodLog`, `parse`
    makes a report of the text, or of why there is none. `done` is for effects without records.
    """

    name: str
    executor: str
    arguments: type[A]
    timeout: timedelta
    model: Callable[[A], tuple[timedelta, Report]] = field(repr=False)
    command: Callable[[A], tuple[str, ...]] | None = field(default=None, repr=False)
    parse: Callable[[A, str, str], Report] | None = field(default=None, repr=False)
    done: Callable[[Any], bool] | None = field(default=None, repr=False)


class PodLog(Typed, frozen=True):
    """The end of a container's log, which the executor `pod-log` reads."""

    namespace: str
    pod: str
    container: str
    lines: int


class Run(NamedTuple):
    """A run of an effect on behalf of an object, in whose status it is recorded."""

    effect: Effect[Any]
    kind: Kind[Any]
    key: Key
    id: str
    arguments: Any
    # The uid of the object; the runtime fills it in.
    uid: str = ""

    @property
    def identity(self) -> str:
        """What tells this run from all others, wherever they run."""
        return f"{self.uid}/{self.effect.name}/{self.id}"


class Executor(Protocol):
    """Who carries runs out. Neither may wait."""

    def start(self, run: Run) -> None:
        """Begin a run, unless one of its identity is under way."""

    def cancel(self, run: Run) -> None:
        """End a run that is not wanted any more, if it is under way."""


def record_of(run: Run, obj: Any) -> EffectRecord | None:
    """What an object's status says about an effect."""
    try:
        records = getattr(obj.status, RECORDS)
    except AttributeError:
        raise MooringError(
            f"effect {run.effect.name} cannot be recorded: the view of {run.kind} has no status.{RECORDS}"
        ) from None
    found: EffectRecord | None = records.get(run.effect.name)
    return found


def started(run: Run, now: datetime) -> Object:
    """The patch of a status that puts a run on record, in place of an earlier one."""
    gone = dict.fromkeys(("finishedAt", "exitCode", "output", "message"))
    record = {"id": run.id, "phase": "Started", "startedAt": timestamp(now), **gone}
    return {"status": {RECORDS: {run.effect.name: record}}}


def finished(run: Run, report: Report, found: Object, now: datetime) -> Request | None:
    """The write of a report, on an object as it is now; None if another run is on record."""
    meta = found["metadata"]
    if run.effect.done is not None:
        return _result(run, report, found, now)
    record = (found.get("status") or {}).get(RECORDS, {}).get(run.effect.name, {})
    if meta["uid"] != run.uid or record.get("id") != run.id or record.get("phase") != "Started":
        return None
    body = {
        "phase": report.phase,
        "finishedAt": timestamp(now),
        "exitCode": report.exit_code,
        "output": report.output[-LONGEST_OUTPUT_CHARACTERS:] or None,
        "message": report.message or None,
    }
    return Request(
        "patch",
        run.kind.api_version,
        run.kind.kind,
        *run.key,
        {"status": {**report.status, **_conditions(report, found, now), RECORDS: {run.effect.name: body}}},
        "status",
        f"mooring-effect-{run.effect.name}",
        resource_version=meta["resourceVersion"],
    )


def _result(run: Run, report: Report, found: Object, now: datetime) -> Request | None:
    """The write of a result that is its own record; None if there is none, or one is there already."""
    meta = found["metadata"]
    assert run.effect.done is not None
    if meta["uid"] != run.uid or run.effect.done(msgspec.convert(found, run.kind.view)):
        return None
    body = {**report.status, **_conditions(report, found, now)}
    if not body:
        return None
    return Request(
        "patch",
        run.kind.api_version,
        run.kind.kind,
        *run.key,
        {"status": body},
        report.subresource,
        f"mooring-effect-{run.effect.name}",
        resource_version=meta["resourceVersion"],
    )


def _conditions(report: Report, found: Object, now: datetime) -> Object:
    """What a report says of conditions, if it is new; who observes the object says which generation it was."""
    known = conditions_of(found)
    wanted = [
        each
        for each in condition_objects(report.conditions, complete=True)
        if not each.items() <= (find_condition(known, each["type"]) or {}).items()
    ]
    changed = set_conditions(known, wanted, timestamp(now))
    return {} if changed is None else {"conditions": changed}
