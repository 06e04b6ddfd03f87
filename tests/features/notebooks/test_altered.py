"""What is decided for jobs of notebooks in a cluster in which something is not as it came to be, as recorded."""

from __future__ import annotations

from mooring.features.notebooks.feature import NOTEBOOKS
from mooring.kube.objects import Object
from mooring.testing.builders import node
from mooring.testing.notebooks import notebook_job, run_log, run_result
from tests.features.altered import Change, decided_as_recorded
from tests.features.notebooks.world import NotebookWorld, PodRun

SECRET: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "git"}, "stringData": {"token": "t"}}
FAILED = run_result("Failed", "NotebookExecutionFailed", "cell 1 failed", cells=("Success", "Failure", "Skipped"))
RUNS = {
    "long": PodRun(seconds=3000),
    "fails": PodRun(2, seconds=5, log=run_log(FAILED)),
    "clones": PodRun(clone_exit_code=3, clone_message="ref v9 not found"),
    "waits": PodRun(waiting="ImagePullBackOff"),
    "unread": PodRun(seconds=5, log_problem="the node does not answer", unreadable=99),
    "evicted": PodRun(seconds=5, ended_by_node="Evicted"),
}
ENDED = {"terminated": {"exitCode": 1, "reason": "OOMKilled", "finishedAt": "2026-01-01T00:00:30Z"}}
ALSO = {
    "NotebookValidationJob": [
        Change(("spec", "timeout"), "1m"),
        Change(("spec", "goldenNotebook"), {"path": "golden.ipynb"}),
        Change(("status", "phase"), "Pending"),
        Change(("status", "phase"), "Succeeded"),
    ],
    "Pod": [
        *(Change(("status", "phase"), phase) for phase in ("Pending", "Running", "Succeeded", "Failed", "Unknown")),
        *(Change(("status", "reason"), reason) for reason in ("Evicted", "DeadlineExceeded", "NodeLost", "Preempting")),
        *(
            Change(("status", part), [{"name": name, "restartCount": 0, "ready": False, "state": state}])
            for part, name in (("containerStatuses", "validator"), ("initContainerStatuses", "git-clone"))
            for state in (
                ENDED,
                {"waiting": {"reason": "CreateContainerConfigError", "message": "no"}},
                {"waiting": {"reason": "ErrImagePull", "message": "no"}},
                {"running": {"startedAt": "2026-01-01T00:00:01Z"}},
            )
        ),
        Change(
            ("status", "conditions"),
            [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}],
        ),
        Change(
            ("status", "conditions"),
            [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}],
        ),
    ],
    "Node": [
        Change(("spec", "unschedulable"), True),
        Change(("spec", "taints"), [{"key": "x", "effect": "NoSchedule"}]),
    ],
}


def in_all_phases() -> NotebookWorld:
    def script(pod: str) -> PodRun:
        return RUNS.get(pod.partition("-")[0], PodRun(seconds=5))

    jobs = [notebook_job(name, cpu="100m") for name in ("done", "long", "fails", "waits", "unread", "evicted")]
    more = [
        notebook_job("clones", secret="git"),
        notebook_job("keyless", secret="other"),
        notebook_job("big", cpu="100", tolerations=["gpu=yes:NoSchedule"]),
        notebook_job("elsewhere", selector={"pool": "b"}, timeout="5m"),
    ]
    world = NotebookWorld(SECRET, script=script, nodes=[node("n0"), node("n1", labels={"pool": "a"})])
    for job in (*jobs, *more):
        world.create(job)
    world.run(40)
    return world


def test_jobs_are_decided_on_as_recorded_whatever_is_otherwise() -> None:
    decided_as_recorded("notebooks", in_all_phases, NOTEBOOKS.controllers.load(), cases=130, also=ALSO)
