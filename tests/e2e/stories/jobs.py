"""Jobs: to completion, by index, failing, suspended, out of time, cleaned up."""

from __future__ import annotations

from collections.abc import Iterator

from mooring.testing.conditions import has_condition
from mooring.testing.workloads import cron_job, job, template
from tests.e2e.town import Town

Scenes = Iterator[tuple[str, ...] | None]


def wait_for(town: Town, name: str, condition: str) -> None:
    town.until(lambda: has_condition({"status": town.status("Job", name)}, condition), f"{name} is {condition}")


def a_job_runs_to_completion(town: Town) -> Scenes:
    town.create(job("work", completions=4, parallelism=2))
    wait_for(town, "work", "Complete")
    yield None


def a_job_by_index(town: Town) -> Scenes:
    town.create(job("work", completions=3, parallelism=3, completionMode="Indexed"))
    wait_for(town, "work", "Complete")
    yield None


def a_job_that_fails_too_often(town: Town) -> Scenes:
    town.create(job("work", backoffLimit=1, pods=template("work", duration="1s", exit_code=3)))
    wait_for(town, "work", "Failed")
    yield None


def a_job_that_fails_by_its_policy(town: Town) -> Scenes:
    rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
    pods = template("work", duration="1s", exit_code=42)
    town.create(job("work", pods=pods, podFailurePolicy={"rules": [rule]}, backoffLimit=3))
    wait_for(town, "work", "Failed")
    yield None


def a_job_that_ignores_a_failure_goes_on(town: Town) -> Scenes:
    rule = {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [7]}}
    pods = template("work", duration="1s", exit_code=7)
    town.create(job("work", pods=pods, podFailurePolicy={"rules": [rule]}, backoffLimit=0, activeDeadlineSeconds=4))
    wait_for(town, "work", "Failed")
    # How often it was tried in the time is chance.
    yield ("Pod", "Job")


def a_job_with_a_limit_for_each_index(town: Town) -> Scenes:
    pods = template("work", duration="1s", exit_code=1)
    indexed = {"completions": 2, "parallelism": 2, "completionMode": "Indexed"}
    town.create(job("work", pods=pods, backoffLimitPerIndex=0, maxFailedIndexes=2, **indexed))
    wait_for(town, "work", "Failed")
    yield None


def a_job_that_succeeds_early(town: Town) -> Scenes:
    policy = {"rules": [{"succeededIndexes": "0", "succeededCount": 1}]}
    town.create(job("work", completions=2, parallelism=1, completionMode="Indexed", successPolicy=policy))
    wait_for(town, "work", "Complete")
    yield None


def a_job_that_is_suspended_and_goes_on(town: Town) -> Scenes:
    pods = template("work", duration="8s")
    town.create(job("work", pods=pods, suspend=True, parallelism=2, completions=2))
    wait_for(town, "work", "Suspended")
    yield None
    town.patch("Job", "work", {"spec": {"suspend": False}})
    town.until(lambda: len(town.pods(phase="Running")) == 2, "two pods")
    town.patch("Job", "work", {"spec": {"suspend": True}})
    town.until(lambda: not town.pods(), "no pods")
    wait_for(town, "work", "Suspended")
    yield None
    town.patch("Job", "work", {"spec": {"suspend": False}})
    wait_for(town, "work", "Complete")
    yield None


def a_job_that_is_scaled(town: Town) -> Scenes:
    town.create(job("work", pods=template("work", duration="12s"), parallelism=1, completions=3))
    town.until(lambda: len(town.pods(phase="Running")) == 1, "one pod")
    town.patch("Job", "work", {"spec": {"parallelism": 3}})
    town.until(lambda: len(town.pods(phase="Running")) == 3, "three pods")
    wait_for(town, "work", "Complete")
    yield None


def a_job_out_of_time(town: Town) -> Scenes:
    town.create(job("work", pods=template("work", duration="60s"), activeDeadlineSeconds=3))
    wait_for(town, "work", "Failed")
    yield None


def a_job_that_is_cleaned_up(town: Town) -> Scenes:
    town.create(job("work", ttlSecondsAfterFinished=1))
    town.until(lambda: not town.get("Job", "work"), "the job is gone")
    town.until(lambda: not town.pods(), "its pods are gone")
    yield None


def a_job_that_replaces_only_what_has_failed(town: Town) -> Scenes:
    pods = template("work", duration="8s")
    town.create(job("work", pods=pods, podReplacementPolicy="Failed"))
    town.until(lambda: town.pods(phase="Running"), "a pod")
    town.delete_a_pod()
    wait_for(town, "work", "Complete")
    yield None


def a_job_whose_pod_is_deleted_starts_another(town: Town) -> Scenes:
    town.create(job("work", pods=template("work", duration="8s")))
    town.until(lambda: town.pods(phase="Running"), "a pod")
    town.delete_a_pod()
    wait_for(town, "work", "Complete")
    yield None


def a_cron_job_makes_a_job_in_its_minute(town: Town) -> Scenes:
    town.create(cron_job("tick", "* * * * *", pods=template("tick", duration="1s")))
    town.until(lambda: town.all("Job"), "a Job")
    # Before the next minute.
    town.patch("CronJob", "tick", {"spec": {"suspend": True}})
    town.until(lambda: town.status("CronJob", "tick").get("lastSuccessfulTime"), "that it has ended")
    yield None


STORIES = (
    a_cron_job_makes_a_job_in_its_minute,
    a_job_runs_to_completion,
    a_job_by_index,
    a_job_that_fails_too_often,
    a_job_that_fails_by_its_policy,
    a_job_that_ignores_a_failure_goes_on,
    a_job_with_a_limit_for_each_index,
    a_job_that_succeeds_early,
    a_job_that_is_suspended_and_goes_on,
    a_job_that_is_scaled,
    a_job_out_of_time,
    a_job_that_is_cleaned_up,
    a_job_that_replaces_only_what_has_failed,
    a_job_whose_pod_is_deleted_starts_another,
)
