"""What a node makes of pods that it finds when it starts."""

from __future__ import annotations

from mooring.nodes.process.pods.restored_state import LOST, restored_state
from tests.nodes.process.life import NOON, Life, bound_pod, container


def restarted(life: Life) -> Life:
    """The same pod on a node whose process was killed and started again."""
    spec = {**life.spec, "status": life.status}
    again = Life(spec, restored_state(spec, life.now))
    again.now = life.now
    return again


def test_a_pod_that_nobody_has_started_is_started() -> None:
    life = Life(bound_pod(), restored_state(bound_pod(), NOON))
    assert life.prepared().starts == ["main"]
    assert life.pod.container("main").attempt == 0


def test_what_ran_is_started_again_and_counted_as_a_restart() -> None:
    life = restarted(Life(bound_pod()).running()).prepared()
    assert life.starts == ["main"]
    life.started()
    state = life.state()
    assert state["restartCount"] == 1
    assert state["lastState"]["terminated"]["message"] == LOST
    assert state["lastState"]["terminated"]["exitCode"] == 137
    assert state["lastState"]["terminated"]["containerID"] == "process://id-main-0"


def test_what_is_never_restarted_has_failed() -> None:
    life = restarted(Life(bound_pod(restart="Never")).running()).prepared()
    assert life.starts == []
    assert life.phase == "Failed"


def test_init_containers_that_succeeded_are_not_run_again() -> None:
    life = restarted(Life(bound_pod(init=(container("prep"),))).running()).prepared()
    assert life.starts == ["main"]
    assert life.condition("Initialized")["status"] == "True"


def test_a_pod_that_was_over_stays_over() -> None:
    life = restarted(Life(bound_pod(restart="Never")).running().ended())
    before = life.spec["status"]
    assert life.step().new == ()
    assert life.phase == "Succeeded"
    assert life.status["containerStatuses"] == before["containerStatuses"]


def test_the_reason_of_a_pod_that_failed_is_kept() -> None:
    life = Life(bound_pod(activeDeadlineSeconds=1)).running().later(1).ended(code=143)
    assert restarted(life).status["reason"] == "DeadlineExceeded"


def test_a_container_in_back_off_is_started_again() -> None:
    life = restarted(Life(bound_pod()).running().ended(code=1).started().ended(code=1)).prepared()
    assert life.starts == ["main"]
    assert life.pod.container("main").attempt == 2
