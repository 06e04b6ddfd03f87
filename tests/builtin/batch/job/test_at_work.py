"""Jobs run to their end in virtual time, with crashes and faults."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.builtin.batch.job.controller import CONTROLLER as JOB_CONTROLLER
from mooring.builtin.batch.job.orphans import CONTROLLER as JOB_ORPHANS
from mooring.builtin.nodelifecycle.controller import CONTROLLER as NODE_LIFECYCLE
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.kube.objects import Object
from mooring.runtime.drivers.faults import Faults
from mooring.testing import node
from mooring.testing.conditions import has_condition
from mooring.testing.crashes import survives_every_crash
from tests.builtin.town import NODES, Town, condition

CONTROLLERS = (SCHEDULER, JOB_CONTROLLER, JOB_ORPHANS, NODES, NODE_LIFECYCLE)


def job(name: str = "train", code: int = 0, duration: str = "10s", **spec: Any) -> Object:
    notes = {"mooring.dev/duration": duration, "mooring.dev/exit-code": str(code)}
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}
    template = {"metadata": {"annotations": notes}, "spec": {"restartPolicy": "Never", "containers": [container]}}
    return {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default"},
        "spec": {"template": template, **spec},
    }  # fmt: skip


def test_it_runs_wave_after_wave_until_enough_have_succeeded() -> None:
    town = Town(node("a"), job(parallelism=2, completions=5), settled=True)
    found = town.get("Job", "train")
    assert found is not None
    assert found["status"]["succeeded"] == 5
    assert has_condition(found, "Complete")
    # Three waves of a second to start and ten to run.
    assert town.elapsed() == 33
    assert all("finalizers" not in pod["metadata"] for pod in town.pods().values())


def test_it_gives_up_after_its_backoff_limit() -> None:
    town = Town(node("a"), job(code=1, backoffLimit=2), settled=True)
    found = town.get("Job", "train")
    assert found is not None
    assert found["status"]["failed"] == 3
    assert condition(found, "Failed")["reason"] == "BackoffLimitExceeded"
    # Three runs of eleven seconds, and twenty seconds of backoff in between that the runs do not cover.
    assert town.elapsed() == pytest.approx(11 + 10 + 11 + 20 + 11, abs=1)


def test_each_index_runs_once() -> None:
    town = Town(node("a"), job(completionMode="Indexed", completions=3, parallelism=3), settled=True)
    found = town.get("Job", "train")
    assert found is not None
    assert found["status"]["completedIndexes"] == "0-2"


def test_a_deadline_ends_it_and_its_pods() -> None:
    town = Town(node("a"), job(duration="1h", activeDeadlineSeconds=30), settled=True)
    assert condition(town.get("Job", "train"), "Failed")["reason"] == "DeadlineExceeded"
    assert not town.pods()
    assert town.elapsed() == pytest.approx(31, abs=1)


def test_a_deleted_pod_is_replaced_after_a_while_also_when_it_is_gone_by_then() -> None:
    town = Town(node("a"), job(duration="1h"))
    town.run(60)
    (name,) = town.pods()
    town.delete("Pod", name, grace=0)
    town.run(9)
    assert not [found for found in town.pods() if found != name]
    town.run(3)
    assert [found for found in town.pods() if found != name]


def test_why_its_pods_are_refused_is_told() -> None:
    hard = {"spec": {"hard": {"pods": "1"}}}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, **hard}
    town = Town(node("a"), quota, job(duration="1h", parallelism=3))
    town.run(30)
    assert len(town.pods()) == 1
    found = town.get("Job", "train")
    assert found is not None
    assert (found["status"]["active"], found["status"]["ready"]) == (1, 1)
    (told,) = set(town.events("FailedCreate"))
    assert "exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1" in told


def test_it_goes_with_its_pods_after_its_time_to_live() -> None:
    town = Town(node("a"), job(ttlSecondsAfterFinished=60), settled=True)
    assert town.get("Job", "train") is None
    assert not town.pods()


def test_suspended_pods_are_not_failures() -> None:
    town = Town(node("a"), job(duration="1h"))
    town.run(5)
    town.patch("Job", "train", {"spec": {"suspend": True}})
    town.run(60)
    found = town.get("Job", "train")
    assert found is not None
    assert "failed" not in found["status"]
    assert not town.pods()


def test_pods_of_a_job_that_is_gone_are_let_go() -> None:
    town = Town(node("a"), job(duration="1h"), controllers=CONTROLLERS)
    town.run(5)
    town.delete("Job", "train", propagation="Background")
    town.run(5)
    assert all("finalizers" not in pod["metadata"] for pod in town.pods().values())


@pytest.mark.parametrize(
    "made",
    [
        job(parallelism=2, completions=3),
        job(code=1, backoffLimit=1),
        job(completionMode="Indexed", completions=2, parallelism=2),
        job(duration="1h", activeDeadlineSeconds=5),
    ],
    ids=["one that succeeds", "one that fails", "an indexed one", "one that is late"],
)
def test_any_crash_ends_in_the_same_place(made: Object) -> None:
    def populate(simulation: Any) -> None:
        registry = simulation.registry
        for obj in (node("a"), made):
            registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=simulation.now)

    assert survives_every_crash(CONTROLLERS, populate) > 10


@pytest.mark.parametrize("seed", range(4))
def test_faults_never_count_a_pod_twice(seed: int) -> None:
    town = Town(node("a"), job(parallelism=3, completions=9), seed=seed, faults=Faults.everything(0.02))
    town.run()
    town.simulation.quiet()
    town.run()
    found = town.get("Job", "train")
    assert found is not None
    assert has_condition(found, "Complete")
    assert found["status"]["succeeded"] == 9
