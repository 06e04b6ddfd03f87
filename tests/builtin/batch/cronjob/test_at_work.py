"""CronJobs in virtual time, with the Jobs and the pods that come of them."""

from __future__ import annotations

from typing import Any

from mooring.builtin.batch.cronjob.controller import CONTROLLER
from mooring.builtin.batch.job.controller import CONTROLLER as JOB_CONTROLLER
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.kube.objects import Object
from mooring.runtime.drivers.faults import Faults
from mooring.testing import node
from mooring.testing.workloads import cron_job, template
from tests.builtin.town import CONTROLLERS, NODES, Town


def night(schedule: str = "*/5 * * * *", *, duration: str = "10s", **spec: Any) -> Object:
    return cron_job("night", schedule, pods=template("night", duration=duration), **spec)


def jobs(town: Town) -> list[str]:
    return [found["metadata"]["name"] for found in town.all("Job")]


def test_it_makes_a_job_every_five_minutes_and_keeps_the_last_three() -> None:
    town = Town(node("a"), night(), controllers=(*CONTROLLERS, CONTROLLER))
    town.run(1650)
    assert len(jobs(town)) == 3
    assert len(town.events("SuccessfulCreate")) >= 5
    found = town.get("CronJob", "night")
    assert found is not None
    assert "active" not in found["status"]
    assert found["status"]["lastScheduleTime"] < found["status"]["lastSuccessfulTime"]


def test_one_that_takes_longer_than_its_interval_is_waited_for_or_replaced() -> None:
    for policy, made in (("Forbid", 1), ("Replace", 3), ("Allow", 3)):
        town = Town(node("a"), night(duration="1h", concurrencyPolicy=policy), controllers=(*CONTROLLERS, CONTROLLER))
        town.run(960)
        names = {text.removeprefix("Created job ") for text in town.events("SuccessfulCreate") if "job " in text}
        assert len(names) == made, policy
        assert len(jobs(town)) == (3 if policy == "Allow" else 1)


def test_faults_make_no_second_job_for_one_moment() -> None:
    for seed in range(4):
        controllers = (SCHEDULER, NODES, JOB_CONTROLLER, CONTROLLER)
        town = Town(node("a"), night(), controllers=controllers, seed=seed, faults=Faults.everything(0.1))
        town.run(1200)
        made = [text for text in town.events("SuccessfulCreate") if text.startswith("Created job ")]
        assert len(made) == len(set(made))
        assert jobs(town)
