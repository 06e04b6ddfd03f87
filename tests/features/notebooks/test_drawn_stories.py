"""Jobs in the hands of busy users, as recorded: nodes, failures, endings and changes that were drawn."""

from __future__ import annotations

from random import Random

import pytest

from mooring.features.notebooks.api.names import KIND
from mooring.kube.objects import Object
from mooring.testing.builders import node, taint
from mooring.testing.notebooks import notebook_job, run_log, run_result
from tests.features.chance import Deed, busy_hours
from tests.features.notebooks.world import NotebookWorld, PodRun

FAILED = run_result("Failed", "NotebookExecutionFailed", "cell 1 failed", cells=("Success", "Failure", "Skipped"))
COMPARED = {
    "strategy": "normalized",
    "result": "failed",
    "totalCells": 2,
    "matchedCells": 1,
    "mismatchedCells": 1,
    "diffs": [{"cellIndex": 1, "cellType": "code", "diffType": "output_mismatch", "severity": "major"}],
}
RUNS = (
    PodRun(),
    PodRun(seconds=3000),
    PodRun(2, log=run_log(FAILED)),
    PodRun(2, log=run_log({**FAILED, "comparisonResult": COMPARED})),
    PodRun(0, log="nothing"),
    PodRun(1, log=""),
    PodRun(2),
    PodRun(3, log=""),
    PodRun(4, log=run_log(run_result("Error", "KernelDied", "the kernel died"))),
    PodRun(137, state={"reason": "OOMKilled"}),
    PodRun(clone_exit_code=3, clone_message="ref v9 not found"),
    PodRun(clone_exit_code=1, clone_message=""),
    PodRun(waiting="ImagePullBackOff"),
    PodRun(waiting="CreateContainerConfigError"),
    PodRun(waiting="ContainerCreating"),
    PodRun(ended_by_node="Evicted"),
    PodRun(ended_by_node="Preempting"),
    PodRun(log_problem="the node does not answer", unreadable=2),
    PodRun(log_problem="the container is gone", unreadable=99),
    PodRun(seconds=5000, stops=False),
    PodRun(lingers=40),
)


class Users:
    def __init__(self, world: NotebookWorld) -> None:
        self.world = world
        self.made = 0

    def ask(self, dice: Random) -> None:
        self.made += 1
        tolerations = ["gpu=yes:NoSchedule"] if dice.random() < 0.5 else []
        job = notebook_job(
            f"job{self.made}",
            gpu=dice.choice((0, 0, 1, 4)),
            cpu=dice.choice(("", "1", "6", "100")),
            timeout=dice.choice(("", "5m", "1h")),
            tolerations=tolerations,
            golden=dice.choice(("", "golden.ipynb")),
            secret=dice.choice(("", "", "git")),
            selector={"pool": "a"} if dice.random() < 0.3 else None,
        )
        self.world.create(job)

    def job(self, dice: Random) -> str:
        return f"job{dice.randint(1, max(1, self.made))}"

    def bring(self, dice: Random) -> None:
        self.made += 1
        taints = ["gpu=yes:NoSchedule"] if dice.random() < 0.5 else []
        labels = {"pool": dice.choice("ab")}
        self.world.brings(node(f"n{self.made}", gpu=dice.choice((0, 1)), labels=labels, taints=taints))

    def cordon(self, dice: Random) -> None:
        self.world.patch("Node", f"n{dice.randint(0, self.made)}", {"spec": {"unschedulable": dice.random() < 0.5}})

    def set_apart(self, dice: Random) -> None:
        taints = dice.choice(([], [taint("team=ml:NoSchedule")]))
        self.world.patch("Node", f"n{dice.randint(0, self.made)}", {"spec": {"taints": taints}})

    def give_key(self, dice: Random) -> None:
        secret: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "git"}}
        self.world.create({**secret, "stringData": {"token": "t"}})

    def delete_job(self, dice: Random) -> None:
        self.world.delete(KIND, self.job(dice))

    def delete_pod(self, dice: Random) -> None:
        self.world.delete("Pod", f"{self.job(dice)}-validation")

    def delete_node(self, dice: Random) -> None:
        self.world.delete("Node", f"n{dice.randint(0, self.made)}")

    def change(self, dice: Random) -> None:
        self.world.patch(KIND, self.job(dice), {"spec": {"timeout": dice.choice(("1m", "2h"))}})


@pytest.mark.parametrize("seed", range(10))
def test_busy_users_of_jobs_get_what_was_recorded(seed: int) -> None:
    dice = Random(f"notebooks/{seed}")
    runs: dict[str, PodRun] = {}

    def script(pod: str) -> PodRun:
        return runs.setdefault(pod, Random(f"{seed}/{pod}").choice(RUNS))

    world = NotebookWorld(script=script, nodes=[node("n0")], grace=dice.choice(("5m", "30s")), seed=seed)
    users = Users(world)
    deeds: dict[Deed, int] = {
        users.ask: 6, users.bring: 3, users.cordon: 2, users.set_apart: 1, users.give_key: 1, users.delete_job: 1,
        users.delete_pod: 2, users.delete_node: 1, users.change: 1,
    }  # fmt: skip
    busy_hours(dice, deeds, world.run, rounds=16)
    settled = world.run(7200)
    assert not settled.moving
