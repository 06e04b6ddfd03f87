"""A result comes out of a log whole, or it is none."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.features.notebooks.result_log import result_report
from mooring.runtime.effects import PodLog, Report
from mooring.testing.notebooks import run_log, run_result

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
