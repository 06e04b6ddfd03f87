"""CronJobs in drawn stories: policies, time zones, deadlines, missed starts, and which Jobs are kept."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

import pytest

from mooring.builtin.batch.cronjob.controller import CONTROLLER
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.testing.workloads import cron_job, job
from tests.builtin.town import GARBAGE
from tests.support.traces.draws import anyone, chosen, toggle_quota
from tests.support.traces.golden import agrees
from tests.support.traces.story import Story

SECOND = timedelta(seconds=1)
SCHEDULES = (
    "* * * * *",
    "*/2 * * * *",
    "*/5 0-3 * * *",
    "10 1 * * *",
    "@hourly",
    "@every 90s",
    "0 0 31 2 *",
    "3,4 * * * 1-5",
)
ZONES = ("Europe/Berlin", "Asia/Kolkata", "America/New_York", "Etc/UTC")


def spec(draw: Random) -> dict[str, Any]:
    found = chosen(draw, 0.5, concurrencyPolicy=["Allow", "Forbid", "Replace"], timeZone=[*ZONES])
    found |= chosen(draw, 0.4, startingDeadlineSeconds=[1, 30, 200], failedJobsHistoryLimit=[0, 1, 2])
    found |= chosen(draw, 0.4, successfulJobsHistoryLimit=[0, 1, 2])
    found |= chosen(draw, 0.1, suspend=True)
    return found


def finish(story: Story, some: Object, end: str) -> None:
    """Say of a Job that it has ended."""
    now = timestamp(story.simulation.now)
    before = "SuccessCriteriaMet" if end == "Complete" else "FailureTarget"
    conditions = [
        {"type": kind, "status": "True", "reason": "Because", "lastTransitionTime": now, "lastProbeTime": now}
        for kind in (before, end)
    ]
    status: Object = {"conditions": conditions, "startTime": now, "uncountedTerminatedPods": {}}
    if end == "Complete":
        status |= {"completionTime": now}
    if some["status"].get("startTime"):
        del status["startTime"]
    story.patch("Job", some["metadata"]["name"], {"status": status}, "status")


def disturb(story: Story, draw: Random, step: int) -> None:
    some = anyone(story, draw, "Job")
    name = some["metadata"]["name"] if some else ""
    match draw.randrange(14):
        case 0 | 1 | 2 | 3 if some is not None and not some.get("status", {}).get("conditions"):
            finish(story, {"status": {}, **some}, draw.choice(["Complete", "Complete", "Failed"]))
        case 4 if name:
            story.delete("Job", name, propagation="Background")
        case 5:
            story.patch("CronJob", "tick", {"spec": {"suspend": draw.choice([True, False])}})
        case 6:
            story.patch("CronJob", "tick", {"spec": {"schedule": draw.choice(SCHEDULES)}})
        case 7:
            story.patch("CronJob", "tick", {"spec": spec(draw)})
        case 8:
            toggle_quota(story, draw, "count/jobs.batch")
        case 9:
            owner = story.get("CronJob", "tick")
            assert owner is not None
            by_hand = job(f"by-hand-{step}")
            reference = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "uid": owner["metadata"]["uid"]}
            by_hand["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
            story.create(by_hand)
        case 10:
            # The controllers stand still for a while, and start anew.
            story.simulation.now += draw.choice([120, 900, 9000]) * SECOND
            story.say("time has passed")
            story.simulation._boot()
        case 11 | 12:
            template = {"metadata": {"labels": {"batch": f"b{step}"}, "annotations": {"note": "x"}}}
            story.patch("CronJob", "tick", {"spec": {"jobTemplate": template}})
        case 13:
            story.patch("CronJob", "tick", {"spec": {"timeZone": draw.choice(ZONES)}})


def play(number: int) -> str:
    draw = Random(f"cron job {number}")
    story = Story((CONTROLLER, GARBAGE), cron_job("tick", draw.choice(SCHEDULES), **spec(draw)), seed=number)
    for step in range(14):
        story.run(draw.choice([10, 61, 130, 130, 600, 3700]))
        disturb(story, draw, step)
    story.delete("CronJob", "tick", propagation=draw.choice(["Foreground", "Background", "Orphan"]))
    story.run(5)
    return story.text()


@pytest.mark.parametrize("number", range(14))
def test_a_drawn_cron_job_goes_as_it_did(number: int) -> None:
    agrees("cron-jobs", f"drawn {number}", play(number))
