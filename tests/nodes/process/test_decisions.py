"""What the node does about a pod, step by step, by the kubelet's rules."""

from __future__ import annotations

from mooring.nodes.process.pods.model import Kill, Prepare, RecordEvent, Remove, Start, Stop
from tests.nodes.process.life import Life, bound_pod, container, sidecar


def test_volumes_come_before_containers() -> None:
    life = Life(bound_pod()).step()
    assert life.new == (Prepare(),)
    assert life.phase == "Pending"
    assert life.state()["state"] == {"waiting": {"reason": "ContainerCreating"}}
    assert life.prepared().starts == ["main"]


def test_volumes_that_cannot_be_made_are_tried_again_ever_more_seldom() -> None:
    life = Life(bound_pod()).step()
    waits = []
    for _ in range(8):
        life.prepared('configmap "x" not found')
        assert not life.new
        assert life.wake is not None
        waits.append((life.wake - life.now).total_seconds())
        assert life.later(waits[-1]).new == (Prepare(),)
    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30]


def test_nothing_is_started_twice() -> None:
    life = Life(bound_pod()).prepared()
    assert life.starts == ["main"]
    assert life.step().starts == []
    assert life.started().step().starts == []


def test_init_containers_run_one_after_the_other() -> None:
    life = Life(bound_pod(init=(container("one"), container("two")))).prepared()
    assert life.starts == ["one"]
    assert life.started("one").starts == []
    assert life.ended("one").starts == ["two"]
    assert life.phase == "Pending"
    assert life.condition("Initialized")["message"] == "containers with incomplete status: [two]"
    assert life.started("two").ended("two").starts == ["main"]
    assert life.started().phase == "Running"
    assert life.condition("Initialized")["status"] == "True"


def test_an_init_container_that_fails_is_tried_again() -> None:
    life = Life(bound_pod(init=(container("one"),))).prepared().started("one").ended("one", 1)
    assert life.starts == ["one"]
    assert life.pod.container("one").attempt == 1
    assert life.started("one").ended("one", 1).starts == []
    assert life.later(10).starts == ["one"]


def test_an_init_container_that_fails_fails_a_pod_that_is_never_restarted() -> None:
    life = Life(bound_pod(init=(container("one"),), restart="Never")).prepared().started("one").ended("one", 1)
    assert life.starts == []
    assert life.phase == "Failed"
    assert life.pod.over


def test_a_sidecar_is_waited_for_until_it_has_started_and_then_runs_on() -> None:
    life = Life(bound_pod(init=(sidecar(), container("prep")))).prepared()
    assert life.starts == ["side"]
    assert life.started("side", settled=False).starts == []
    assert life.probed("startup", True, "side").starts == ["prep"]
    assert life.started("prep").ended("prep").starts == ["main"]


def test_a_sidecar_that_ends_comes_back_while_the_pod_lives() -> None:
    life = Life(bound_pod(init=(sidecar(),), restart="Never")).running()
    assert life.ended("side", 0).starts == ["side"]
    assert life.phase == "Running"


def test_sidecars_end_when_all_others_have_the_last_one_first() -> None:
    life = Life(bound_pod(init=(sidecar("a"), sidecar("b")), restart="Never")).running().ended("main")
    assert [action.name for action in life.did(Stop)] == ["b"]
    assert life.phase == "Running"
    assert [action.name for action in life.ended("b", 143).did(Stop)] == ["a"]
    life.ended("a", 143)
    assert life.phase == "Succeeded"
    assert not life.starts


def test_a_container_that_ends_is_restarted_at_once_then_after_ever_longer_pauses() -> None:
    life = Life(bound_pod()).running()
    pauses = []
    for _ in range(8):
        life.later(1).ended(code=1)
        pause = 0.0
        if not life.starts:
            assert life.wake is not None
            pause = (life.wake - life.now).total_seconds()
            life.later(pause)
        assert life.starts == ["main"]
        pauses.append(pause)
        life.started()
    assert pauses == [0, 10, 20, 40, 80, 160, 300, 300]
    assert life.state()["restartCount"] == 8


def test_who_ran_for_ten_minutes_begins_anew() -> None:
    life = Life(bound_pod()).running().ended(code=1).started().ended(code=1).later(10).started()
    life.later(601).ended(code=1)
    assert life.starts == ["main"]
    assert life.pod.container("main").pause == 10


def test_a_container_in_back_off_says_so() -> None:
    life = Life(bound_pod()).running().ended(code=3).started().ended(code=3)
    state = life.state()
    assert state["state"]["waiting"] == {
        "reason": "CrashLoopBackOff",
        "message": "back-off 10s restarting failed container=main pod=web_default(u-1)",
    }
    assert state["lastState"]["terminated"]["exitCode"] == 3
    assert state["restartCount"] == 1
    assert life.phase == "Running"
    told = RecordEvent(
        "Warning", "BackOff", "Back-off restarting failed container main in pod web_default(u-1)", "main"
    )
    assert told in life.new
    assert told not in life.later(1).new


def test_a_pod_that_restarts_on_failure_ends_with_success() -> None:
    life = Life(bound_pod(restart="OnFailure")).running().ended(code=1)
    assert life.starts == ["main"]
    life.started().ended()
    assert life.phase == "Succeeded"
    assert life.condition("Ready")["reason"] == "PodCompleted"


def test_a_pod_that_is_never_restarted_fails_when_all_have_ended() -> None:
    life = Life(bound_pod(container("a"), container("b"), restart="Never")).running().ended("a", 2)
    assert life.phase == "Running"
    life.ended("b")
    assert life.phase == "Failed"
    assert life.state("a")["state"]["terminated"]["exitCode"] == 2
    assert life.condition("ContainersReady")["reason"] == "PodFailed"


def test_a_rule_of_a_container_restarts_it_where_its_pod_would_not() -> None:
    rule = {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}
    life = Life(bound_pod(container(restartPolicyRules=[rule], restartPolicy="Never"), restart="Never")).running()
    assert life.ended(code=42).starts == ["main"]
    assert life.started().ended(code=1).starts == []


def test_a_container_that_cannot_be_made_waits_and_is_tried_again() -> None:
    life = Life(bound_pod()).prepared().failed()
    assert life.starts == []
    waiting = life.state()["state"]["waiting"]
    assert waiting == {"reason": "CreateContainerConfigError", "message": 'secret "x" not found'}
    assert life.phase == "Pending"
    assert life.later(5).starts == ["main"]
    assert life.pod.container("main").attempt == 0


def test_what_nothing_can_change_is_not_tried_again() -> None:
    life = Life(bound_pod()).prepared().failed(again=False)
    assert life.wake is None
    assert life.later(3600).starts == []


def test_a_restart_that_cannot_be_made_keeps_the_last_end_and_its_count() -> None:
    life = Life(bound_pod()).running().ended(code=1).failed()
    state = life.state()
    assert state["restartCount"] == 0
    assert state["lastState"]["terminated"]["exitCode"] == 1
    assert state["state"]["waiting"]["reason"] == "CreateContainerConfigError"


def test_a_container_is_ready_when_its_probes_say_so() -> None:
    life = Life(bound_pod()).prepared().started(settled=False, ready=False)
    assert life.condition("Ready")["message"] == "containers with unready status: [main]"
    assert life.state()["started"] is False
    life.probed("startup", True).probed("readiness", True)
    assert life.state()["started"] is True
    assert life.condition("Ready")["status"] == "True"
    assert life.probed("readiness", False).condition("ContainersReady")["status"] == "False"


def test_a_readiness_gate_holds_a_pod_back() -> None:
    spec = bound_pod(readinessGates=[{"conditionType": "lb/attached"}])
    life = Life(spec).running()
    assert life.condition("ContainersReady")["status"] == "True"
    assert life.condition("Ready")["reason"] == "ReadinessGatesNotReady"
    spec["status"] = {"conditions": [{"type": "lb/attached", "status": "True"}]}
    assert life.condition("Ready")["status"] == "True"
    assert life.condition("lb/attached")["status"] == "True"


def test_a_container_that_fails_its_liveness_probe_is_stopped_and_restarted() -> None:
    life = Life(bound_pod(terminationGracePeriodSeconds=7)).running().probe_failed()
    assert (
        RecordEvent("Normal", "Killing", "Container main failed liveness probe, will be restarted", "main") in life.new
    )
    assert life.did(Stop) == [Stop("main", 7)]
    assert life.probe_failed().new == ()
    assert life.later(6.9).did(Kill) == []
    assert life.later(0.2).did(Kill) == [Kill("main")]
    assert life.ended(code=137).starts == ["main"]


def test_a_probe_may_have_a_grace_of_its_own() -> None:
    probe = {"exec": {"command": ["false"]}, "terminationGracePeriodSeconds": 2}
    life = Life(bound_pod(container(livenessProbe=probe))).running().probe_failed()
    assert life.did(Stop) == [Stop("main", 2)]


def test_a_pod_that_is_deleted_is_stopped_killed_when_late_and_removed() -> None:
    life = Life(bound_pod()).running().deleted(grace=30)
    assert life.did(Stop) == [Stop("main", 30)]
    assert RecordEvent("Normal", "Killing", "Stopping container main", "main") in life.new
    assert life.later(29).did(Kill) == []
    assert life.later(1).did(Kill) == [Kill("main")]
    assert life.later(1).did(Kill) == []
    assert life.wake is None
    life.ended(code=137)
    assert life.new == (Remove(),)
    assert life.phase == "Failed"
    assert not life.starts


def test_a_second_deletion_shortens_the_grace() -> None:
    life = Life(bound_pod()).running().deleted(grace=30).later(5).deleted(grace=2)
    assert life.later(1.9).did(Kill) == []
    assert life.later(0.2).did(Kill) == [Kill("main")]


def test_a_pod_that_is_gone_from_the_api_is_stopped_within_a_second() -> None:
    life = Life(bound_pod()).running().step(gone=True)
    assert life.did(Stop) == [Stop("main", 1)]
    life.now = life.now.replace(second=2)
    assert life.step(gone=True).did(Kill) == [Kill("main")]


def test_sidecars_are_stopped_after_the_main_containers_when_a_pod_is_deleted() -> None:
    life = Life(bound_pod(init=(sidecar(),))).running().deleted(grace=10)
    assert [stop.name for stop in life.did(Stop)] == ["main"]
    assert [stop.name for stop in life.ended(code=143).did(Stop)] == ["side"]
    assert life.later(10).did(Kill) == [Kill("side")]
    assert life.ended("side", 137).new == (Remove(),)


def test_a_container_that_is_just_starting_is_stopped_once_it_runs() -> None:
    life = Life(bound_pod()).prepared().deleted()
    assert life.did(Stop) == []
    assert life.did(Remove) == []
    assert life.started().did(Stop) == [Stop("main", 30)]


def test_a_pod_that_never_started_is_removed_at_once() -> None:
    assert Life(bound_pod()).deleted().new == (Remove(),)


def test_a_pod_whose_volumes_are_being_made_is_removed_after_that() -> None:
    life = Life(bound_pod()).step().deleted()
    assert life.new == ()
    assert life.prepared().new == (Remove(),)


def test_a_pod_is_ended_when_its_time_is_over() -> None:
    life = Life(bound_pod(activeDeadlineSeconds=60)).running()
    assert life.wake is not None
    assert (life.wake - life.now).total_seconds() == 60
    life.later(60)
    assert life.did(Stop) == [Stop("main", 30)]
    assert life.phase == "Failed"
    assert life.status["reason"] == "DeadlineExceeded"
    life.ended(code=143)
    assert life.starts == []
    assert life.pod.over


def test_a_command_that_cannot_be_run_counts_as_a_run_that_failed() -> None:
    life = Life(bound_pod(restart="Never")).prepared().ended(code=128, reason="StartError")
    terminated = life.state()["state"]["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (128, "StartError")
    assert terminated["startedAt"] == "1970-01-01T00:00:00Z"
    assert life.phase == "Failed"


def test_a_start_is_never_asked_for_after_the_end() -> None:
    life = Life(bound_pod()).running().deleted().ended(code=0)
    assert not [action for action in life.later(3600).new if isinstance(action, Start)]


def test_an_ephemeral_container_is_started_once_and_is_no_part_of_the_pod() -> None:
    life = Life(bound_pod()).running()
    life.spec["spec"]["ephemeralContainers"] = [container("debugger")]
    assert life.step().starts == ["debugger"]
    life.started("debugger")
    assert [each["name"] for each in life.status["ephemeralContainerStatuses"]] == ["debugger"]
    assert not life.status["ephemeralContainerStatuses"][0]["ready"]
    assert life.ended("debugger", 1).starts == []
    assert life.later(1000).starts == []
    assert life.phase == "Running"
    assert life.condition("Ready")["status"] == "True"


def test_an_ephemeral_container_starts_though_an_init_container_fails() -> None:
    pod = bound_pod(init=(container("one"),), ephemeralContainers=[container("debugger")])
    life = Life(pod).prepared()
    assert life.starts == ["debugger", "one"]
    life.started("debugger").started("one").ended("one", 1)
    assert life.phase == "Pending"


def test_an_ephemeral_container_ends_with_its_pod() -> None:
    life = Life(bound_pod(restart="Never", ephemeralContainers=[container("debugger")])).prepared()
    life.started("debugger").started("main").ended("main", 0)
    assert [action.name for action in life.did(Stop)] == ["debugger"]
    assert not life.pod.over
    life.ended("debugger", 143)
    assert (life.pod.over, life.phase) == (True, "Succeeded")

    life = Life(bound_pod(ephemeralContainers=[container("debugger")])).running().deleted()
    assert sorted(action.name for action in life.did(Stop)) == ["debugger", "main"]
