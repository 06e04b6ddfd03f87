"""The report of an effect: what of it is written, and on which object."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mooring.api.core.types import View
from mooring.api.kinds import Key, Kind
from mooring.api.meta import Condition, Meta
from mooring.kube.objects import Object
from mooring.runtime.effects import Effect, Report, Run, finished

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


class Measured(View, frozen=True):
    metadata: Meta = Meta()
    value: str = ""


MEASURED = Kind("example.com/v1", "Measured", Measured)
RECORDED: Effect[None] = Effect(
    "measure", "process", type(None), timedelta(seconds=1), lambda _: (timedelta(), Report("Succeeded"))
)
UNRECORDED: Effect[None] = Effect(
    "measure",
    "process",
    type(None),
    timedelta(seconds=1),
    lambda _: (timedelta(), Report("Succeeded")),
    done=lambda obj: bool(obj.value),
)
TRUE = Condition("Measured", "True", "Done", "all of it")
OTHER = {"type": "Other", "status": "False", "reason": "Waiting", "message": ""}


def measured(**parts: object) -> Object:
    record = {"id": "1", "phase": "Started"}
    status = {"conditions": [OTHER], "effects": {"measure": record}}
    return {"metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}, "status": status, **parts}


def run(effect: Effect[None]) -> Run:
    return Run(effect, MEASURED, Key("", "a"), "1", None, "u")


def written(effect: Effect[None], report: Report, obj: Object) -> Object | None:
    request = finished(run(effect), report, obj, NOW)
    return None if request is None else request.body["status"]


def test_conditions_are_set_among_those_that_the_object_has() -> None:
    for effect in (RECORDED, UNRECORDED):
        body = written(effect, Report("Succeeded", conditions=(TRUE,)), measured())
        assert body is not None
        first, second = body["conditions"]
        assert first == OTHER
        assert (second["type"], second["reason"], second["lastTransitionTime"]) == (
            "Measured",
            "Done",
            "2026-11-16T12:00:00Z",
        )


def test_a_report_that_says_nothing_new_is_not_written_where_there_is_no_record() -> None:
    report = Report("Succeeded", conditions=(TRUE,))
    known = {"type": "Measured", "status": "True", "reason": "Done", "message": "all of it"}
    status = {"conditions": [OTHER, {**known, "lastTransitionTime": "2026-11-16T11:00:00Z", "observedGeneration": 3}]}
    assert written(UNRECORDED, report, measured(status=status)) is None
    assert written(UNRECORDED, Report("Failed"), measured()) is None


def test_a_result_that_is_there_is_not_written_again_nor_on_a_namesake() -> None:
    report = Report("Succeeded", conditions=(TRUE,))
    assert written(UNRECORDED, report, measured(value="known")) is None
    namesake = {"name": "a", "uid": "another", "resourceVersion": "9"}
    assert written(UNRECORDED, report, measured(metadata=namesake)) is None
    assert written(RECORDED, report, measured(metadata=namesake)) is None
