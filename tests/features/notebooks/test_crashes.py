"""Whatever breaks in between: a job ends as it would in peace, no two of its pods live at once, and nothing succeeds
without a result."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest

from mooring.catalog import CATALOG
from mooring.features.notebooks.api.names import API_VERSION, KIND
from mooring.features.notebooks.feature import NOTEBOOKS
from mooring.kube.objects import Object
from mooring.registry import AdmissionRequest, ClusterView
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing.builders import node
from mooring.testing.crashes import survives_every_crash
from mooring.testing.notebooks import notebook_job, run_log, run_result
from tests.features.notebooks.world import NotebookWorld, PodRun, Script, notebook_controllers, put_node
from tests.simulations.extent import FULL, Extent

FAILED_CELL = PodRun(2, log=run_log(run_result("Failed", "NotebookExecutionFailed", "cell 1 failed")))
AWAY = PodRun(clone_exit_code=7)


def one_away(pod: str) -> PodRun:
    return PodRun() if pod.endswith("-1") else AWAY


@pytest.mark.parametrize(
    ("job", "script"),
    [
        (notebook_job(), lambda pod: PodRun()),
        (notebook_job(), lambda pod: FAILED_CELL),
        (notebook_job(annotations={"argocd.argoproj.io/sync-wave": "1"}), one_away),
        (notebook_job(timeout="2m"), lambda pod: PodRun(seconds=1000)),
        (notebook_job(selector={"disk": "ssd"}), lambda pod: PodRun()),
        (notebook_job(), lambda pod: PodRun(log="")),
        (notebook_job(ttlSecondsAfterFinished=60), lambda pod: PodRun()),
    ],
    ids=["passes", "cell fails", "second attempt", "timeout", "no node", "no result", "ttl"],
)
def test_a_job_ends_the_same_after_a_crash_at_any_write(job: Object, script: Script) -> None:
    def populate(simulation: Simulation) -> None:
        put_node(simulation, node("n0"))
        registry = simulation.registry
        registry.create(registry.resource(API_VERSION, KIND), job, now=simulation.now)

    controllers = notebook_controllers(script)
    before = CATALOG.definitions(NOTEBOOKS.names)
    assert survives_every_crash(controllers, populate, before=before, of=controllers[:1]) > 4


def _is_live(pod: Object) -> bool:
    return pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")


class Watched(NotebookWorld):
    """A world in which every write is held against what must never be."""

    def __init__(self, *objects: Object, **parts: Any) -> None:
        super().__init__(*objects, **parts, run=False)
        self.created: list[str] = []
        self.registry.admission.validating.append(self._validate)
        self.run()

    def _validate(self, request: AdmissionRequest, view: ClusterView) -> None:
        obj = request.object or {}
        if obj.get("kind") == "Pod" and request.operation == "CREATE":
            job = obj["metadata"]["labels"]["notebookvalidationjob"]
            others = [
                pod["metadata"]["name"]
                for pod in self.all("Pod").values()
                if pod["metadata"]["labels"]["notebookvalidationjob"] == job and _is_live(pod)
            ]
            assert others == [], f"{obj['metadata']['name']} is made while {others} live"
            assert obj["metadata"]["name"] not in self.created, "a name is taken twice"
            self.created.append(obj["metadata"]["name"])
        status, before = obj.get("status") or {}, (request.old_object or {}).get("status") or {}
        if obj.get("kind") == KIND:
            if status.get("phase") == "Succeeded":
                assert status.get("results"), "a success without a result"
            if before.get("phase") in ("Succeeded", "Failed"):
                assert {**status, "effects": None} == {**before, "effects": None}, "an end was changed"
            assert status.get("retryCount", 0) <= 2


def ends(world: NotebookWorld, names: Iterable[str]) -> set[str]:
    return {world.phase(name) for name in names}


def disturbed_jobs(seed: int, extent: Extent) -> None:
    pulling = PodRun(waiting="ImagePullBackOff", lingers=300)
    unread = PodRun(log_problem="away", unreadable=2)
    scripts = [PodRun(), FAILED_CELL, PodRun(log=""), AWAY, PodRun(137), unread, pulling]

    def script(pod: str) -> PodRun:
        return scripts[int(pod.split("-")[1]) % len(scripts)]

    ends = ["Succeeded", "Failed", "Failed", "Failed", "Failed", "Succeeded", "Failed"]
    draw = Random(seed)
    numbers = sorted(draw.sample(range(7), extent.of(7, draw)))
    jobs = [notebook_job(f"job-{number}", timeout="6h") for number in numbers]
    world = Watched(*jobs, script=script, seed=seed, faults=extent.faults(0.1, seed))
    world.run()
    assert {number: world.phase(f"job-{number}") for number in numbers} == {number: ends[number] for number in numbers}
    assert all(world.status(f"job-{number}")["completionTime"] for number in numbers)


@pytest.mark.parametrize("seed", range(6))
def test_faults_lose_no_job_and_make_no_second_pod(seed: int) -> None:
    disturbed_jobs(seed, FULL)


def test_a_hundred_jobs_on_a_node_with_room_for_four_are_all_done_four_at_a_time() -> None:
    """The API has no field for how many run at once: it is the node's capacity and the jobs' requests."""
    names = [f"job-{number}" for number in range(100)]
    jobs = [notebook_job(name, cpu="500m", timeout="6h") for name in names]
    nodes, script = [node("n0", cpu="2")], lambda pod: PodRun(seconds=20)
    world = NotebookWorld(*jobs, nodes=nodes, script=script, seed=3, faults=Faults(crash=0.002), run=False)
    most = 0
    while "Initializing" in ends(world, names) or "" in ends(world, names):
        world.run(25)
        running = [pod for pod in world.all("Pod").values() if pod["spec"].get("nodeName") and _is_live(pod)]
        most = max(most, len(running))
    world.run()
    assert most == 4
    assert ends(world, names) == {"Succeeded"}
    assert {world.status(name)["retryCount"] for name in names} == {0}
    assert world.simulation.crashes > 0
