"""LeaderWorkerSets: Mooring's own controllers and webhooks, in the embedded cluster and beside a real control plane."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mooring.kube.objects import Object
from mooring.testing.groups import leader_worker_set
from tests.e2e.town import Town

Scenes = Iterator[tuple[str, ...] | None]

_KIND = "LeaderWorkerSet"
_POD = {"automountServiceAccountToken": False, "terminationGracePeriodSeconds": 1}


def made(town: Town, **settings: Any) -> Object:
    return leader_worker_set("serve", namespace=town.namespace, pod=_POD, **settings)


def wait_for(town: Town, groups: int, size: int) -> None:
    def is_done() -> bool:
        whole = town.get(_KIND, "serve")
        status = whole.get("status") or {}
        told = [status.get(key, 0) for key in ("replicas", "readyReplicas", "updatedReplicas")]
        return told == [groups] * 3 and len(town.pods()) == groups * size == len(town.pods(phase="Running"))

    town.until(is_done, f"{groups} groups of {size}")


def a_leader_worker_set_comes_and_is_scaled(town: Town) -> Scenes:
    town.create(made(town, replicas=2, size=2))
    wait_for(town, 2, 2)
    yield None
    town.scale(_KIND, "serve", 1)
    wait_for(town, 1, 2)
    yield None
    town.delete(_KIND, "serve")
    town.until(lambda: not town.pods() and not town.all("StatefulSet"), "nothing")
    yield None


def a_leader_worker_set_rolls_over(town: Town) -> Scenes:
    town.create(made(town, replicas=2, size=2))
    wait_for(town, 2, 2)
    town.merge(_KIND, "serve", {"spec": made(town, replicas=2, size=2, image="registry.example.com/serve:2")["spec"]})
    images = "registry.example.com/serve:2"
    town.until(lambda: all(images in str(pod["spec"]) for pod in town.pods()), "new pods")
    wait_for(town, 2, 2)
    yield None


def a_leader_worker_set_that_cannot_work_is_refused(town: Town) -> Scenes:
    answer = town.api.post(town.path(_KIND), made(town, size=0))
    assert (answer.code, answer.body["reason"]) == (422, "Invalid"), answer.body
    fields = {cause["field"] for cause in answer.body["details"]["causes"]}
    assert fields == {"spec.leaderWorkerTemplate.size"}
    yield None


STORIES = (
    a_leader_worker_set_comes_and_is_scaled,
    a_leader_worker_set_rolls_over,
    a_leader_worker_set_that_cannot_work_is_refused,
)
