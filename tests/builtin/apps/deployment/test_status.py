"""Status of Deployments: progress, its deadline, and counts."""

from __future__ import annotations

from datetime import timedelta

from mooring.builtin.apps.deployment.controller import reconcile
from mooring.builtin.apps.deployment.replicasets import REVISION
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Decision
from mooring.testing.views import NOON, view_of
from tests.builtin.apps.deployment.objects import COMPLETE, KEY, decide, deployment, reasons, replica_set, said


def condition(type_: str, status: str, reason: str, ago: int) -> Object:
    stamp = timestamp(NOON - timedelta(seconds=ago))
    return {
        "type": type_, "status": status, "reason": reason, "message": 'ReplicaSet "web-a" says so.',
        "lastUpdateTime": stamp, "lastTransitionTime": stamp,
    }  # fmt: skip


def stuck(ago: int, reason: str = "ReplicaSetUpdated") -> list[Object]:
    counts = {"observedGeneration": 1, "replicas": 10, "updatedReplicas": 10, "unavailableReplicas": 10}
    known = [condition("Available", "False", "MinimumReplicasUnavailable", 900)]
    known.append(condition("Progressing", "True", reason, ago))
    return [
        deployment(10, "web:1", counts | {"terminatingReplicas": 0, "conditions": known}),
        replica_set("a", "web:1", 10, 0),
    ]


def test_no_progress_within_the_deadline_is_reported() -> None:
    status = said(decide(*stuck(601)))
    assert reasons(status)["Progressing"] == ("False", "ProgressDeadlineExceeded")
    assert status["conditions"][1]["message"] == 'ReplicaSet "web-a" has timed out progressing.'


def test_the_deadline_is_a_timer() -> None:
    view = view_of(stuck(100))
    assert reconcile(KEY, view, NOON) == Decision()
    assert view.timers == {NOON + timedelta(seconds=500)}


def test_progress_renews_the_condition() -> None:
    objects = stuck(599)
    objects[1]["status"] |= {"readyReplicas": 1, "availableReplicas": 1}
    found = said(decide(*objects))["conditions"][1]
    assert (found["reason"], found["lastUpdateTime"]) == ("ReplicaSetUpdated", timestamp(NOON))
    assert found["lastTransitionTime"] == timestamp(NOON - timedelta(seconds=599))


def test_a_finished_rollout_says_so_and_is_not_timed_any_more() -> None:
    objects = stuck(100)
    objects[1]["status"] |= {"readyReplicas": 10, "availableReplicas": 10}
    assert reasons(said(decide(*objects))) == {
        "Progressing": ("True", "NewReplicaSetAvailable"),
        "Available": ("True", "MinimumReplicasAvailable"),
    }
    view = view_of(stuck(100, "NewReplicaSetAvailable"))
    reconcile(KEY, view, NOON)
    assert not view.timers


def test_without_a_deadline_nothing_is_said_about_progress() -> None:
    objects = stuck(100)
    del objects[0]["spec"]["progressDeadlineSeconds"]
    assert set(reasons(said(decide(*objects)))) == {"Available"}


def test_a_pause_and_its_end_are_noted() -> None:
    subject = deployment(10, "web:1", COMPLETE, paused=True)
    paused = said(decide(subject, replica_set("a", "web:1", 10)))
    assert reasons(paused)["Progressing"] == ("Unknown", "DeploymentPaused")
    subject["spec"]["paused"] = False
    subject["status"] = COMPLETE | {"conditions": [condition("Progressing", "Unknown", "DeploymentPaused", 9000)]}
    subject["status"]["replicas"] = 9
    resumed = said(decide(subject, replica_set("a", "web:1", 10, 9)))
    assert reasons(resumed)["Progressing"] == ("Unknown", "DeploymentResumed")


def test_failures_of_sets_show_on_the_deployment() -> None:
    failing = replica_set("a", "web:1", 10, 0, actual=0)
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "quota"}
    failing["status"]["conditions"] = [failure]
    assert reasons(said(decide(deployment(10, "web:1"), failing)))["ReplicaFailure"] == ("True", "FailedCreate")


def test_counts_are_sums_over_the_sets() -> None:
    sets = [replica_set("a", "web:1", 8), replica_set("b", "web:2", 5, 2, revision=2)]
    sets[0]["status"]["terminatingReplicas"] = 2
    subject = deployment(10, "web:2")
    subject["metadata"]["annotations"][REVISION] = "2"
    status = said(decide(subject, *sets))
    assert (status["replicas"], status["updatedReplicas"], status["availableReplicas"]) == (13, 5, 10)
    assert (status["unavailableReplicas"], status["terminatingReplicas"]) == (3, 2)


def test_a_deployment_that_is_being_deleted_is_only_described() -> None:
    dying = deployment(3)
    dying["metadata"]["deletionTimestamp"] = timestamp(NOON)
    decision = decide(dying)
    assert not decision.children
    assert decision.status
