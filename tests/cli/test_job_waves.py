"""Jobs that do not run all of their pods at once: told in waves, and with the time that a plan takes for them."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner

from mooring.cli.main import cli
from mooring.kube.objects import Object
from mooring.placement.workloads.job_waves import job_waves
from tests.cli.world import World, requests


def job(world: World, duration: str = "", **spec: Any) -> Object:
    """Pods of 5 cpus, of which a node of 16 has room for three."""
    made = world.workload("Job", "train", requests(cpu=5), **spec)
    if duration:
        made["spec"]["template"]["metadata"]["annotations"] = {"mooring.dev/duration": duration}
    return made


def planned_seconds(world: World, obj: Object) -> float:
    """When a plan has ended the Job."""
    files = ["-f", world.manifest(obj, name="job.yaml"), "--snapshot", world.snapshot()]
    result = CliRunner().invoke(cli, ["plan", *files, "-o", "json", "--horizon", "100h"])
    assert result.exit_code == 0, result.output
    return float(json.loads(result.stdout)["seconds"])


@pytest.mark.parametrize(
    ("completions", "parallelism", "duration", "text", "seconds"),
    [
        (8, 8, "10m", "It runs 8 pods in 3 waves of 3, as pods that end make room, 30m3s in all.", 1803),
        (8, 2, "90s", "It runs 8 pods in 4 waves of 2, as its parallelism has it, 6m4s in all.", 364),
        (7, 3, "1h", "It runs 7 pods in 3 waves of 3, as its parallelism has it, 3h3s in all.", 10803),
        (5, 1, "20s", "It runs 5 pods in 5 waves of 1, as its parallelism has it, 1m45s in all.", 105),
        (8, 8, "", "It runs 8 pods in 3 waves of 3, as pods that end make room.", None),
    ],
)
def test_a_job_in_waves_takes_the_time_that_a_plan_takes(
    world: World, completions: int, parallelism: int, duration: str, text: str, seconds: float | None
) -> None:
    world.node("n1")
    obj = job(world, duration, completions=completions, parallelism=parallelism)
    assert f"  {text}\n" in world.explain(obj).stdout
    (waves,) = world.answer(obj)["waves"]
    assert (waves["workload"], waves["seconds"]) == ("Job default/train", seconds)
    if seconds is not None:
        assert planned_seconds(world, obj) == seconds


@pytest.mark.parametrize(
    ("spec", "landed"),
    [
        pytest.param({"completions": 3, "parallelism": 3}, 3, id="all at once"),
        pytest.param({"parallelism": 3}, 1, id="no number of completions"),
        pytest.param({"completions": 3, "parallelism": 3}, 0, id="no place at all"),
        pytest.param({"completions": 3, "parallelism": 1, "suspend": True}, 1, id="suspended"),
        pytest.param({"completions": "3"}, 1, id="what the API refuses"),
    ],
)
def test_a_job_without_waves(spec: Object, landed: int) -> None:
    assert job_waves(spec, landed, timedelta(seconds=1)) is None


def test_the_run_of_a_cron_job_has_waves_too(world: World) -> None:
    world.node("n1")
    template = {"spec": job(world, "10m", completions=4, parallelism=4)["spec"]}
    metadata = {"name": "nightly", "namespace": "default"}
    spec = {"schedule": "0 3 * * *", "jobTemplate": template}
    cron = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata, "spec": spec}
    assert "It runs 4 pods in 2 waves of 3" in world.explain(cron).stdout
