"""Indexed Jobs, and the policies for failures and success."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mooring.builtin.batch.job.indexes import format_indexes, parse_indexes
from mooring.kube.objects import Object
from mooring.testing.views import NOON
from tests.builtin.batch.job.objects import FAILURES, INDEX, conditions, decide, job, let_go, made, pod, said

# Indexed

INDEXED: Object = {"completionMode": "Indexed", "completions": 4, "parallelism": 2}


def test_a_pod_of_an_index_knows_it() -> None:
    first = made(decide(job(**INDEXED)))[0]
    assert first["metadata"]["annotations"][INDEX] == "0"
    assert first["metadata"]["labels"][INDEX] == "0"
    assert first["metadata"]["name"].startswith("train-0-")
    assert first["spec"]["hostname"] == "train-0"
    source = first["spec"]["containers"][0]["env"][0]["valueFrom"]["fieldRef"]["fieldPath"]
    assert source == f"metadata.labels['{INDEX}']"


def test_the_first_open_indexes_are_filled() -> None:
    running = pod("x", index=1)
    decision = decide(job({"completedIndexes": "0"}, **{**INDEXED, "parallelism": 3}), running)
    assert [obj["metadata"]["annotations"][INDEX] for obj in made(decision)] == ["2", "3"]


def test_completed_indexes_are_kept_as_ranges() -> None:
    decision = decide(job({"completedIndexes": "0,1", "succeeded": 2}, **INDEXED), pod("x", "Succeeded", index=2))
    assert said(decision)["completedIndexes"] == "0-2"
    assert said(decision)["succeeded"] == 3


def test_a_second_pod_of_an_index_is_too_many() -> None:
    decision = decide(job(**INDEXED), pod("x", index=0), pod("y", index=0, ready=True))
    assert let_go(decision) == ["x"]


def test_an_index_fails_alone() -> None:
    spec = {**INDEXED, "backoffLimit": 2**31 - 1, "backoffLimitPerIndex": 1}
    retried = decide(job(**spec), pod("x", "Failed", index=0, ended=NOON - timedelta(seconds=10)))
    assert let_go(retried) == []
    assert made(retried)[0]["metadata"]["annotations"][FAILURES] == "1"
    over = decide(job(**spec), pod("x", "Failed", index=0, failures=1))
    assert said(over)["failedIndexes"] == "0"
    assert "0" not in [obj["metadata"]["annotations"][INDEX] for obj in made(over)]


@pytest.mark.parametrize(
    ("status", "limit", "reason"),
    [
        ({"failedIndexes": "0,1"}, 1, "MaxFailedIndexesExceeded"),
        ({"failedIndexes": "0,1"}, 2, ""),
        ({"failedIndexes": "0", "completedIndexes": "1-3"}, None, "FailedIndexes"),
        ({"failedIndexes": "0", "completedIndexes": "1,2"}, None, ""),
    ],
    ids=[
        "more failed indexes than allowed",
        "as many as allowed",
        "every index has ended and one failed",
        "one index is still open",
    ],
)
def test_when_failed_indexes_end_it(status: Object, limit: int | None, reason: str) -> None:
    spec = {**INDEXED, "backoffLimit": 2**31 - 1, "backoffLimitPerIndex": 0, "maxFailedIndexes": limit}
    assert conditions(decide(job(status, **spec))).get("FailureTarget", "") == reason


DISRUPTED = [{"type": "DisruptionTarget", "status": "True"}]


def policy(action: str, **rule: Any) -> Object:
    return {"podFailurePolicy": {"rules": [{"action": action, **rule}]}, "backoffLimit": 0, "completions": 2}


@pytest.mark.parametrize(
    ("spec", "failed", "reason", "message"),
    [
        (
            policy("FailJob", onExitCodes={"operator": "In", "values": [42]}), pod("a", "Failed", code=42),
            "PodFailurePolicy",
            "Container c for pod default/a failed with exit code 42 matching FailJob rule at index 0",
        ),
        (
            policy("FailJob", onPodConditions=[{"type": "DisruptionTarget", "status": "True"}]),
            pod("a", "Failed", conditions=DISRUPTED), "PodFailurePolicy",
            "Pod default/a has condition DisruptionTarget matching FailJob rule at index 0",
        ),
        (policy("Ignore", onExitCodes={"operator": "NotIn", "values": [1]}), pod("a", "Failed", code=7), "", ""),
        (
            policy("Ignore", onExitCodes={"operator": "NotIn", "values": [1]}), pod("a", "Failed", code=1),
            "BackoffLimitExceeded", "Job has reached the specified backoff limit",
        ),
        (
            policy("Ignore", onExitCodes={"operator": "In", "values": [7], "containerName": "other"}),
            pod("a", "Failed", code=7), "BackoffLimitExceeded", "Job has reached the specified backoff limit",
        ),
    ],
    ids=[
        "a code that fails the job", "a condition that fails the job", "a code that is ignored",
        "a code that no rule matches", "a rule for another container",
    ],
)  # fmt: skip
def test_pod_failure_policies(spec: Object, failed: Object, reason: str, message: str) -> None:
    found = {c["type"]: c for c in said(decide(job(**spec), failed)).get("conditions", [])}
    target = found.get("FailureTarget", {"reason": "", "message": ""})
    assert (target["reason"], target["message"]) == (reason, message)


@pytest.mark.parametrize(
    ("rule", "met"),
    [
        ({"succeededIndexes": "0,2"}, True),
        ({"succeededIndexes": "0-3"}, False),
        ({"succeededIndexes": "0-3", "succeededCount": 2}, True),
        ({"succeededCount": 3}, False),
    ],
    ids=["all of the listed", "not all of the listed", "enough of the listed", "not enough of any"],
)
def test_success_policies(rule: Object, met: bool) -> None:
    spec = {**INDEXED, "successPolicy": {"rules": [rule]}}
    found = conditions(decide(job({"completedIndexes": "0,2"}, **spec)))
    assert found.get("SuccessCriteriaMet") == ("SuccessPolicy" if met else None)


@pytest.mark.parametrize("text", ["", "0", "0,1", "0-2", "0,2-4,7", "1,2,4-9"])
def test_indexes_are_read_as_they_are_written(text: str) -> None:
    assert format_indexes(parse_indexes(text, 100)) == text


def test_indexes_beyond_the_completions_are_forgotten() -> None:
    assert parse_indexes("0-9,12", 5) == {0, 1, 2, 3, 4}
