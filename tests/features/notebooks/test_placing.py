"""Where a pod can land is asked before it is made: what is told, how long is waited, and what is no node."""

from __future__ import annotations

import pytest

from mooring.catalog import CATALOG
from mooring.features.notebooks.metrics import UNSCHEDULABLE_PODS
from mooring.kube.objects import Object
from mooring.testing.builders import node, pod
from mooring.testing.notebooks import notebook_job
from tests.features.notebooks.world import NotebookWorld, PodRun

GPU_TAINT = "nvidia.com/gpu=True:NoSchedule"
EXISTS = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
EQUAL = {"key": "nvidia.com/gpu", "operator": "Equal", "value": "true", "effect": "NoSchedule"}


def gpu_node(name: str = "gpu") -> Object:
    return node(name, gpu=1, taints=[GPU_TAINT])


def simulated(made: Object) -> Object:
    return {**made, "metadata": {**made["metadata"], "annotations": {"kwok.x-k8s.io/node": "fake"}}}


def test_a_taint_that_exists_is_tolerated_and_one_of_another_value_is_not() -> None:
    world = NotebookWorld(notebook_job(gpu=1, tolerations=[EXISTS]), nodes=[gpu_node(), node("plain")])
    assert world.phase() == "Succeeded"
    world = NotebookWorld(notebook_job(gpu=1, tolerations=[EQUAL]), nodes=[gpu_node(), node("plain")], run=False)
    world.run(10)
    status, reason, message = world.condition("Placeable")
    assert (status, reason) == ("False", "Unschedulable")
    assert message == (
        "no node can take pod train-validation: gpu (taint nvidia.com/gpu=True:NoSchedule is not tolerated); "
        'what would help: Correct the value of toleration 0 from "true" to "True"'
    )


def test_of_a_pod_that_is_gone_is_told_when_the_next_one_comes_and_not_what_it_waited_for() -> None:
    world = NotebookWorld(notebook_job(selector={"disk": "ssd"}), run=False)
    world.run(10)
    assert "no node can take pod train-validation" in CATALOG.progress(world.job())
    world.delete("Pod", "train-validation")
    world.run(5)
    told = CATALOG.progress(world.job())
    assert told.startswith("attempt 1 of 3 failed: pod train-validation was deleted before it reported; the next one")


def test_what_would_help_is_a_change_for_a_node_where_the_notebook_runs() -> None:
    others = [simulated(node(f"fake-{i}", gpu=8, taints=["nvidia.com/gpu=present:NoSchedule"])) for i in range(2)]
    world = NotebookWorld(notebook_job(gpu=1), nodes=[*others, gpu_node()], run=False)
    world.run(10)
    message = world.condition("Placeable")[2]
    assert "gpu (taint nvidia.com/gpu=True:NoSchedule is not tolerated)" in message
    assert message.endswith("what would help: Tolerate taint nvidia.com/gpu=True:NoSchedule")


def test_no_node_fits_is_told_at_once_and_fails_after_the_grace_period_without_a_retry() -> None:
    world = NotebookWorld(notebook_job(selector={"disk": "ssd"}), run=False)
    world.run(10)
    assert world.phase() == "Initializing", "a pod without a node does not run"
    assert world.condition("Progressing")[:2] == ("False", "Unschedulable")
    assert "nodeSelector disk=ssd" in world.status()["message"]
    assert world.pods() == ["train-validation"], "what adds nodes looks at pods that wait"
    assert world.simulation.metrics.own(UNSCHEDULABLE_PODS, "default") == 1
    assert len(world.events("Unschedulable")) == 1
    world.run()
    assert (world.phase(), world.seconds) == ("Failed", 300)
    assert world.condition("ValidationComplete")[:2] == ("False", "Unschedulable")
    assert world.status()["message"].endswith("no node could take it within 5m0s")
    assert world.status()["retryCount"] == 0
    assert world.pods() == []
    assert world.simulation.metrics.own(UNSCHEDULABLE_PODS, "default") == 0


def test_the_grace_period_is_a_setting() -> None:
    assert NotebookWorld(notebook_job(selector={"disk": "ssd"}), grace="30s").seconds == 30


def test_a_label_on_a_node_lets_it_run_at_once() -> None:
    world = NotebookWorld(notebook_job(selector={"disk": "ssd"}), run=False)
    world.run(200)
    world.patch("Node", "n0", {"metadata": {"labels": {"disk": "ssd"}}})
    world.run(1)
    assert (world.phase(), world.condition("Placeable")[:2]) == ("ValidationRunning", ("True", "Fits"))
    world.run()
    assert (world.phase(), world.status()["retryCount"]) == ("Succeeded", 0)


def test_the_clock_of_the_grace_period_begins_again_after_a_node_was_there() -> None:
    away = PodRun(clone_exit_code=7)
    world = NotebookWorld(
        notebook_job(selector={"disk": "ssd"}, timeout="2h"),
        nodes=[node("n0", labels={"disk": "ssd"})],
        script=lambda pod: away,
        run=False,
    )
    world.run(10)
    assert world.condition("Placeable")[0] == "True"
    world.patch("Node", "n0", {"metadata": {"labels": {"disk": "hdd"}}})
    world.run()
    assert world.condition("ValidationComplete")[1] == "Unschedulable"
    assert world.seconds == pytest.approx(60 + 300, abs=2)


def test_a_job_that_waits_for_other_notebooks_waits_for_its_turn() -> None:
    jobs = [notebook_job(f"job-{number}", cpu="2", timeout="2h") for number in range(4)]
    world = NotebookWorld(*jobs, nodes=[node("n0", cpu="2")], script=lambda pod: PodRun(seconds=400), run=False)
    world.run(350)
    waiting = [name for name in ("job-0", "job-1", "job-2", "job-3") if world.phase(name) == "Initializing"]
    assert len(waiting) == 3
    status, reason, message = world.condition("Placeable", waiting[0])
    assert (status, reason) == ("Unknown", "WaitingForRoom")
    assert message == f"n0 can take pod {waiting[0]}-validation once other notebooks there are done"
    world.run()
    assert {world.phase(f"job-{number}") for number in range(4)} == {"Succeeded"}
    assert world.seconds > 1600


def test_room_that_others_hold_is_no_turn_to_wait_for() -> None:
    world = NotebookWorld(
        pod("web", cpu="2", node="n0"),
        notebook_job(cpu="2"),
        nodes=[node("n0", cpu="2")],
        script=lambda pod: PodRun(seconds=10_000),
    )
    assert (world.phase(), world.condition("Ready")[1]) == ("Failed", "Unschedulable")
    assert "n0 (" in world.status()["message"]


def test_without_any_node_it_says_so_and_waits() -> None:
    world = NotebookWorld(notebook_job(), run=False)
    world.delete("Node", "n0")
    world.run(10)
    assert world.condition("Placeable")[:2] == ("False", "Unschedulable")
    assert "no nodes available" in world.status()["message"]
    world.brings(node("n1"))
    world.run()
    assert world.phase() == "Succeeded"


def test_a_pod_that_would_land_on_a_simulated_node_is_not_made() -> None:
    real = node("real", taints=["mooring.dev/process=true:NoSchedule"])
    world = NotebookWorld(notebook_job(), nodes=[simulated(node("fake")), real])
    assert (world.phase(), world.condition("Ready")[1]) == ("Failed", "SimulatedNode")
    message = world.status()["message"]
    assert "would land on node fake, which is simulated" in message
    assert "Closest real: real (taint mooring.dev/process=true:NoSchedule is not tolerated)" in message
    assert world.pods() == []
    assert world.condition("Placeable")[:2] == ("False", "SimulatedNode")


def test_a_pod_that_landed_on_a_simulated_node_fails_and_never_succeeds() -> None:
    world = NotebookWorld(notebook_job(selector={"disk": "ssd"}), run=False)
    world.run(10)
    world.brings(simulated(node("fake", labels={"disk": "ssd"})))
    world.run()
    assert (world.phase(), world.condition("Ready")[1]) == ("Failed", "SimulatedNode")
    assert world.status()["retryCount"] == 0
    assert world.pods() == []


def test_beside_a_real_node_a_simulated_one_is_no_reason_to_refuse() -> None:
    world = NotebookWorld(
        notebook_job(selector={"real": "yes"}), nodes=[simulated(node("fake")), node("real", labels={"real": "yes"})]
    )
    assert world.phase() == "Succeeded"


def test_what_a_scheduler_says_counts_where_the_engine_sees_no_reason() -> None:
    """Of volumes, for example, a scheduler knows more."""
    world = NotebookWorld(notebook_job(), scheduler=False, run=False)
    world.run(5)
    assert world.condition("Placeable")[:2] == ("True", "Fits")
    assert world.status()["message"] == "pod train-validation waits for a scheduler"
    told = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "claim data not found"}
    world.patch("Pod", "train-validation", {"status": {"conditions": [told]}}, "status")
    world.run(5)
    assert world.condition("Placeable") == ("False", "Unschedulable", "claim data not found")
    world.run()
    assert world.condition("Ready")[1] == "Unschedulable"
    assert world.seconds == pytest.approx(305, abs=1)


def test_without_a_scheduler_a_job_ends_at_its_timeout() -> None:
    world = NotebookWorld(notebook_job(timeout="10m"), scheduler=False)
    assert (world.condition("Ready")[1], world.seconds) == ("ValidationTimeout", 600)
    assert world.status()["message"].endswith("last: pod train-validation waits for a scheduler")
