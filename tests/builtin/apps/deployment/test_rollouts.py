"""Whole rollouts of Deployments, with a crash after any write."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mooring.builtin.apps.deployment.controller import CONTROLLER
from mooring.builtin.apps.deployment.replicasets import REVISION
from mooring.builtin.apps.replicaset import controller as replicaset
from mooring.kube.objects import Object
from mooring.testing.views import NOON
from tests.builtin.apps.deployment.objects import deployment, reasons, rolling, template
from tests.builtin.fixpoint import World, never_starts, same_end_after_any_crash

# Whole rollouts

BOTH = (CONTROLLER, replicaset.CONTROLLER)


def world(*objects: Object, **options: Any) -> World:
    return World(BOTH, objects, **options)


def rolled_out(subject: Object) -> World:
    """A world in which a first template is out, and a second one has just been asked for."""
    start = world(subject)
    start.run()
    start.edit("Deployment", "web", {"spec": {"template": template("web:2")}})
    return start


STORIES: dict[str, Object] = {
    "with the usual surge": deployment(4),
    "without surge": deployment(3, strategy=rolling(0, 1)),
    "with nothing missing": deployment(3, strategy=rolling(1, 0)),
    "by Recreate": deployment(3, strategy={"type": "Recreate"}),
    "without history": deployment(2, revisionHistoryLimit=0),
    "of one pod that must be ready for a while": deployment(1, minReadySeconds=30),
    "of nothing": deployment(0),
}


@pytest.mark.parametrize("subject", STORIES.values(), ids=STORIES.keys())
def test_a_rollout_ends_the_same_after_any_crash(subject: Object) -> None:
    end = same_end_after_any_crash(lambda: rolled_out(subject))
    found = end.get("Deployment", "web")
    replicas = subject["spec"]["replicas"]
    images = [pod["spec"]["containers"][0]["image"] for pod in end.of("Pod")]
    assert images == ["web:2"] * replicas
    assert found["metadata"]["annotations"][REVISION] == "2"
    assert reasons(found["status"]) == {
        "Progressing": ("True", "NewReplicaSetAvailable"),
        "Available": ("True", "MinimumReplicasAvailable"),
    }
    assert len(end.of("ReplicaSet")) == (1 if subject["spec"]["revisionHistoryLimit"] == 0 else 2)


def test_a_rollout_never_exceeds_its_surge() -> None:
    start = world(deployment(10))
    start.run()
    start.edit("Deployment", "web", {"spec": {"template": template("web:2")}})
    start.graceful = False
    start.most = {}
    start.run()
    assert start.most["Pod"] == 13


def test_a_rollback_ends_the_same_after_any_crash() -> None:
    def make() -> World:
        start = rolled_out(deployment(2))
        start.run()
        start.edit("Deployment", "web", {"spec": {"template": template("web:1")}})
        return start

    end = same_end_after_any_crash(make)
    assert end.get("Deployment", "web")["metadata"]["annotations"][REVISION] == "3"
    assert sorted(one["metadata"]["annotations"][REVISION] for one in end.of("ReplicaSet")) == ["2", "3"]


def test_a_resize_in_the_middle_of_a_rollout_ends_the_same_after_any_crash() -> None:
    def make() -> World:
        start = world(deployment(4), kubelet=lambda pod: pod["spec"]["containers"][0]["image"] == "web:1")
        start.run()
        start.edit("Deployment", "web", {"spec": {"template": template("web:2"), "progressDeadlineSeconds": None}})
        start.run()
        start.edit("Deployment", "web", {"spec": {"replicas": 8}})
        return start

    end = same_end_after_any_crash(make)
    assert sum(one["spec"]["replicas"] for one in end.of("ReplicaSet")) == 10


def test_pods_that_never_start_run_into_the_deadline() -> None:
    end = world(deployment(2), kubelet=never_starts)
    end.run()
    assert end.now == NOON + timedelta(seconds=600)
    assert reasons(end.get("Deployment", "web")["status"])["Progressing"] == ("False", "ProgressDeadlineExceeded")
