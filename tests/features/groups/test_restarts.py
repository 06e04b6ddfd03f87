"""Groups that are made anew for pods that are gone before anybody sees them go, and for pods of the leader's own."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.testing.builders import node
from mooring.testing.groups import leader_worker_set, worker_pod
from tests.features.groups.town import Town


def set_of(policy: str, **parts: Any) -> Object:
    return leader_worker_set(replicas=1, size=3, template={"restartPolicy": policy}, **parts)


@pytest.mark.parametrize("policy", ["RecreateGroupOnPodRestart", "RecreateGroupAfterStart"])
def test_a_worker_that_is_gone_at_once_takes_its_group_with_it(policy: str) -> None:
    town = Town(set_of(policy), nodes=1)
    before = town.uids()
    town.delete("Pod", "serve-0-2", grace=0)
    town.run()
    assert not set(before.values()) & set(town.uids().values())
    assert town.conditions()["Available"] == "True"


def test_a_worker_that_is_gone_at_once_before_all_have_started_is_replaced_alone() -> None:
    town = Town(set_of("RecreateGroupAfterStart", pod={"nodeSelector": {"gpu": "yes"}}), nodes=1)
    before = town.uids()
    town.delete("Pod", "serve-0-2", grace=0)
    town.run()
    assert {name for name, uid in before.items() if town.uids()[name] != uid} == {"serve-0-2"}


def test_a_worker_that_starts_and_goes_between_two_observations_takes_its_group_with_it() -> None:
    town = Town(set_of("RecreateGroupAfterStart", pod={"nodeSelector": {"gpu": "yes"}}), nodes=1)
    before = town.uids()
    for name in before:
        town.patch("Pod", name, {"status": {"phase": "Running"}}, subresource="status")
    town.delete("Pod", "serve-0-2", grace=0)
    town.run()
    assert not set(before.values()) & set(town.uids().values())


def test_a_pod_that_belongs_to_the_leader_itself_counts_as_a_worker() -> None:
    town = Town(set_of("RecreateGroupOnPodRestart"), nodes=1)
    leader = town.get("Pod", "serve-0")
    own = worker_pod(
        "serve-0-9", size=3, labels=leader["metadata"]["labels"] | {"leaderworkerset.sigs.k8s.io/worker-index": "9"}
    )
    reference = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": "serve-0",
        "uid": leader["metadata"]["uid"],
        "controller": True,
    }
    own["metadata"]["ownerReferences"] = [reference]
    town.create(own)
    town.run()
    town.delete("Pod", "serve-0-9")
    town.run()
    assert town.uids()["serve-0"] != leader["metadata"]["uid"]


def test_before_all_have_started_nothing_is_made_anew_if_so_asked() -> None:
    policy = {"restartPolicy": "RecreateGroupAfterStart"}
    town = Town(leader_worker_set(replicas=1, size=3, template=policy, pod={"nodeSelector": {"gpu": "yes"}}))
    town.create(node("n0", labels={"gpu": "yes"}, pods=2))
    town.run()
    before = town.uids()
    running = min(town.placed())
    town.restart(running)
    town.run()
    assert town.uids() == before, "one of them is still pending"
    town.create(node("n1", labels={"gpu": "yes"}))
    town.run()
    assert not set(before.values()) & set(town.uids().values())
