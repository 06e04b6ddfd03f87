"""A result comes out of a log whole, or it is none."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from mooring.features.notebooks.api.jobs import NotebookValidationJob
from mooring.features.notebooks.kinds import ValidationPod
from mooring.features.notebooks.result_log import READ_RESULT, Reading, read_result, result_report
from mooring.kube.times import timestamp
from mooring.runtime.effects import PodLog, Report
from mooring.testing.notebooks import notebook_job, run_log, run_result
from mooring.testing.views import NOON, view_of

LOG = PodLog("default", "train-validation", "validator", 400)
DIFF = {"cellIndex": 1, "cellType": "code", "diffType": "output_mismatch", "severity": "major", "diff": "- 1\n+ 2"}
COMPARISON = {
    "strategy": "normalized", "result": "failed", "totalCells": 3, "matchedCells": 2, "mismatchedCells": 1,
    "diffs": [DIFF],
}  # fmt: skip


def report(text: str, problem: str = "") -> Report:
    return result_report(LOG, text, problem)


def test_a_result_is_taken_as_the_status_has_it() -> None:
    found = report(
        run_log(run_result("Failed", "ComparisonFailed", "1 of 3 cells differs", comparisonResult=COMPARISON))
    )
    assert (found.phase, found.output, found.message) == (
        "Succeeded",
        "Failed/ComparisonFailed",
        "1 of 3 cells differs",
    )
    assert found.status["comparisonResult"] == COMPARISON
    assert [each["status"] for each in found.status["results"]] == ["Success", "Success", "Skipped"]


def test_a_log_that_cannot_be_read_may_be_read_later() -> None:
    found = report("", "the node is away")
    assert (found.phase, found.message, found.status) == ("Failed", "the node is away", {})


def broken(**parts: Any) -> str:
    return run_log({**run_result(), **parts})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cell 0 ...\ncell 1 ...\n",
        run_log().rpartition("-----END")[0],
        run_log().replace("-----BEGIN", "-----BEGAN"),
        broken(results=[{"cellIndex": 0, "status": "Great"}]),
        broken(results=[{"cellIndex": -1, "status": "Success"}]),
        broken(comparisonResult={**COMPARISON, "diffs": [{**DIFF, "cellType": "raw"}]}),
        broken(format=2),
        broken(outcome="Splendid"),
        run_log(run_result(message="x" * 600_000)),
    ],
)
def test_anything_less_than_a_whole_result_is_none(text: str) -> None:
    found = report(text)
    assert found.output == "NoResult/ResultMissing"
    assert found.status == {}
    assert "train-validation" in found.message


def test_a_changed_byte_is_no_result() -> None:
    lines = run_log().splitlines()
    payload = lines[2]
    lines[2] = payload[:20] + ("A" if payload[20] != "A" else "B") + payload[21:]
    assert report("\n".join(lines)).output == "NoResult/ResultMissing"


POD = msgspec.convert({"metadata": {"name": "train-validation", "uid": "u1"}}, ValidationPod)


def reading(record: dict[str, Any] | None, seconds: float = 0) -> Reading:
    """How far the reading is, some seconds after noon, when the record was written."""
    status = {"effects": {} if record is None else {"read-result": {"startedAt": timestamp(NOON), **record}}}
    job = msgspec.convert({**notebook_job(), "status": status}, NotebookValidationJob)
    return read_result(view_of([], NOON + timedelta(seconds=seconds)), job, POD, READ_RESULT)


def wanted(found: Reading) -> list[str]:
    return [run.id for run in found.runs]


def test_the_log_of_another_pod_says_nothing_of_this_one() -> None:
    assert wanted(reading(None)) == ["u1/0"]
    passed = {"id": "u0/3", "phase": "Succeeded", "output": "Passed/ValidationComplete"}
    assert reading(passed).verdict is None
    assert wanted(reading(passed)) == ["u1/0"]


def test_a_reader_that_is_at_work_is_left_alone_and_one_that_went_is_followed_by_another() -> None:
    at_work = {"id": "u1/0", "phase": "Started"}
    assert wanted(reading(at_work, 59)) == ["u1/0"]
    assert wanted(reading(at_work, 64)) == [], "the next one gives the node a moment"
    assert wanted(reading(at_work, 65)) == ["u1/1"]
    assert "6 times: reading it takes too long" in reading({"id": "u1/5", "phase": "Started"}, 60).given_up


@pytest.mark.parametrize(("number", "pause"), [(0, 5), (1, 10), (4, 80)])
def test_a_log_that_could_not_be_read_is_read_again_after_a_longer_pause_each_time(number: int, pause: int) -> None:
    record = {"id": f"u1/{number}", "phase": "Failed", "finishedAt": timestamp(NOON), "message": "away"}
    assert wanted(reading(record, pause - 1)) == []
    assert wanted(reading(record, pause)) == [f"u1/{number + 1}"]
