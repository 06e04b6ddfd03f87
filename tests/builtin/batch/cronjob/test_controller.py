"""CronJobs: which Jobs are made when, which go, and what is said of them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.batch.cronjob.controller import CONTROLLER
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Create, Decision, Delete, Patch
from mooring.runtime.view import View
from mooring.testing.views import NOON, view_of

KEY = Key("default", "report")
AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"
HOUR = timedelta(hours=1)


def cron_job(
    schedule: str = "0 * * * *",
    *,
    created: datetime = NOON - 2 * HOUR + timedelta(minutes=30),
    status: Object | None = None,
    deleting: bool = False,
    **spec: Any,
) -> Object:
    template = {"metadata": {"labels": {"app": "report"}}, "spec": {"template": {}}}
    metadata: Object = {"name": "report", "namespace": "default", "creationTimestamp": timestamp(created)}
    if deleting:
        metadata["deletionTimestamp"] = timestamp(NOON)
    body = {"schedule": schedule, "jobTemplate": template, **spec}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata, "spec": body, "status": status or {}}


def name_at(moment: datetime) -> str:
    return f"report-{int(moment.timestamp()) // 60}"


def job(moment: datetime | None, *, end: str = "", name: str = "", started: int = 0) -> Object:
    """A Job of the CronJob, made for a moment, or by hand."""
    owner = {
        "apiVersion": "batch/v1", "kind": "CronJob", "name": "report", "uid": "CronJob/default/report",
        "controller": True,
    }  # fmt: skip
    metadata: Object = {"name": name or name_at(moment or NOON), "namespace": "default", "ownerReferences": [owner]}
    if moment is not None:
        metadata["annotations"] = {AT: timestamp(moment)}
    status: Object = {"startTime": timestamp(NOON + timedelta(seconds=started))}
    if end:
        status["conditions"] = [{"type": end, "status": "True"}]
    if end == "Complete":
        status["completionTime"] = timestamp(NOON + timedelta(seconds=started + 5))
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {}, "status": status}


def reference(found: Object) -> Object:
    name = found["metadata"]["name"]
    uid = f"Job/default/{name}"
    return {"apiVersion": "batch/v1", "kind": "Job", "name": name, "namespace": "default", "uid": uid}


def look(*objects: Object, now: datetime = NOON) -> tuple[Decision, View]:
    view = view_of(objects, now)
    return CONTROLLER.reconcile(KEY, view, now), view


def made(decision: Decision) -> list[str]:
    return [write.key.name for write in decision.status if isinstance(write, Create)]


def gone(decision: Decision) -> list[str]:
    return [write.key.name for write in decision.children if isinstance(write, Delete)]


def said(decision: Decision) -> Object:
    (patch,) = decision.intent
    assert isinstance(patch, Patch)
    return dict(patch.body["status"])


def told(decision: Decision) -> list[str]:
    return [event.reason for event in decision.events]


def test_nothing_is_made_before_its_time() -> None:
    decision, view = look(cron_job(created=NOON), now=NOON + timedelta(minutes=10))
    assert decision == Decision()
    assert view.timers == {NOON + HOUR}


def test_a_job_is_made_at_its_moment_and_named_after_it() -> None:
    decision, _ = look(cron_job(created=NOON - timedelta(minutes=30), timeZone="Europe/Berlin"))
    (create,) = decision.status
    assert isinstance(create, Create)
    assert create.object["metadata"] == {
        "name": name_at(NOON),
        "namespace": "default",
        "labels": {"app": "report"},
        "annotations": {AT: f"{NOON:%Y-%m-%d}T{(NOON + HOUR):%H}:00:00+01:00"},
        "ownerReferences": [
            {
                "apiVersion": "batch/v1", "kind": "CronJob", "name": "report", "uid": "CronJob/default/report",
                "controller": True, "blockOwnerDeletion": True,
            }
        ],
    }  # fmt: skip
    assert [event.message for event in decision.events] == [f"Created job {name_at(NOON)}"]


def test_of_several_moments_without_a_job_the_last_one_counts() -> None:
    decision, _ = look(cron_job(created=NOON - 5 * HOUR))
    assert (made(decision), told(decision)) == ([name_at(NOON)], ["SuccessfulCreate"])


def test_very_many_moments_without_a_job_are_told() -> None:
    decision, _ = look(cron_job("* * * * *", created=NOON - 5 * HOUR))
    assert (made(decision), told(decision)) == ([name_at(NOON)], ["TooManyMissedTimes", "SuccessfulCreate"])


def test_moments_before_the_deadline_are_passed_over() -> None:
    objects = cron_job(startingDeadlineSeconds=60)
    decision, view = look(objects, now=NOON + timedelta(minutes=2))
    assert decision == Decision()
    # As soon as there is something to do by the schedule, which was already: the next look is at the next moment.
    assert view.timers == {NOON + HOUR}


def test_a_moment_that_was_met_is_not_met_again() -> None:
    met = job(NOON)
    decision, view = look(cron_job(status={"lastScheduleTime": timestamp(NOON), "active": [reference(met)]}), met)
    assert decision == Decision()
    assert view.timers == {NOON + HOUR}


def test_the_status_tells_of_what_is_at_work_and_of_the_last_moment() -> None:
    decision, _ = look(cron_job(), job(NOON))
    assert made(decision) == []
    assert said(decision) == {"active": [reference(job(NOON))], "lastScheduleTime": timestamp(NOON)}


def test_a_job_that_ended_is_told_and_counted() -> None:
    done = job(NOON, end="Complete")
    decision, _ = look(cron_job(status={"lastScheduleTime": timestamp(NOON), "active": [reference(done)]}), done)
    assert said(decision) == {"active": None, "lastSuccessfulTime": timestamp(NOON + timedelta(seconds=5))}
    assert [event.message for event in decision.events] == [f"Saw completed job: {name_at(NOON)}, condition: Complete"]


def test_a_job_that_is_gone_is_told() -> None:
    status = {"lastScheduleTime": timestamp(NOON), "active": [reference(job(NOON))]}
    decision, _ = look(cron_job(status=status))
    assert (said(decision), told(decision)) == ({"active": None}, ["MissingJob"])


def test_a_job_made_by_hand_is_told_and_does_not_count() -> None:
    decision, _ = look(cron_job(concurrencyPolicy="Forbid"), job(None, name="by-hand"))
    assert (made(decision), told(decision)) == ([name_at(NOON)], ["UnexpectedJob", "SuccessfulCreate"])


def test_forbid_waits_for_the_one_at_work() -> None:
    decision, view = look(cron_job(concurrencyPolicy="Forbid"), job(NOON - HOUR))
    assert (made(decision), told(decision)) == ([], ["JobAlreadyActive"])
    assert view.timers == {NOON + HOUR}


def test_replace_ends_the_one_at_work() -> None:
    before = job(NOON - HOUR)
    status = {"lastScheduleTime": timestamp(NOON - HOUR), "active": [reference(before)]}
    decision, _ = look(cron_job(concurrencyPolicy="Replace", status=status), before)
    assert (made(decision), gone(decision)) == ([name_at(NOON)], [name_at(NOON - HOUR)])
    assert said(decision) == {"active": None}


def test_the_one_at_work_is_gone_before_another_takes_its_place() -> None:
    decision, _ = look(cron_job(concurrencyPolicy="Replace"), job(NOON - HOUR))
    order = [write.__class__ for stage in decision.stages for write in stage if isinstance(write, Create | Delete)]
    assert order == [Delete, Create]
    assert not any({Create, Delete} <= {write.__class__ for write in stage} for stage in decision.stages)


def test_allow_makes_another_one() -> None:
    decision, _ = look(cron_job(), job(NOON - HOUR))
    assert (made(decision), gone(decision)) == ([name_at(NOON)], [])


def test_a_suspended_one_makes_none_and_still_cleans_up() -> None:
    done = [job(NOON - number * HOUR, end="Complete", started=-number) for number in range(1, 4)]
    decision, _ = look(cron_job(suspend=True, successfulJobsHistoryLimit=1), *done)
    assert (made(decision), gone(decision)) == ([], [name_at(NOON - 3 * HOUR), name_at(NOON - 2 * HOUR)])


def test_failed_ones_have_a_limit_of_their_own() -> None:
    jobs = [job(NOON - HOUR, end="Failed", started=-2), job(NOON - 2 * HOUR, end="Complete", started=-3)]
    decision, _ = look(cron_job(suspend=True, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=0), *jobs)
    assert gone(decision) == [name_at(NOON - HOUR)]


def test_one_that_is_deleted_makes_none() -> None:
    assert look(cron_job(deleting=True))[0] == Decision()


@pytest.mark.parametrize(
    ("schedule", "zone", "reason"),
    [
        ("0 0 31 2 *", None, "InvalidSchedule"),
        ("soon", None, "UnparseableSchedule"),
        ("@daily", "Mars/X", "UnknownTimeZone"),
    ],
)
def test_what_has_no_moments_is_told(schedule: str, zone: str | None, reason: str) -> None:
    decision, view = look(cron_job(schedule, timeZone=zone))
    assert (decision.stages[1:3], told(decision), view.timers) == (((), ()), [reason], set())


def test_a_refusal_is_told_and_tried_again() -> None:
    view = view_of([cron_job()], NOON, problem="exceeded quota: jobs")
    decision = CONTROLLER.reconcile(KEY, view, NOON)
    assert made(decision) == [name_at(NOON)]
    assert decision.events[0].message == "Error creating job: exceeded quota: jobs"
