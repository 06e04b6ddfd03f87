"""What the controller of Deployments decides: ReplicaSets, their sizes, their history."""

from __future__ import annotations

import pytest

from mooring.builtin.apps.deployment.replicasets import DESIRED, HISTORY, MAXIMUM, REVISION
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Create, Decision, Delete, Patch
from mooring.testing.views import NOON
from mooring.workloads.revisions import content_hash
from tests.builtin.apps.deployment.objects import (
    COMPLETE,
    LABELS,
    decide,
    deployment,
    reasons,
    replica_set,
    rolling,
    said,
    template,
)


def sizes(decision: Decision) -> dict[str, int]:
    return {
        write.key.name.removeprefix("web-"): write.body["spec"]["replicas"]
        for write in decision.children
        if isinstance(write, Patch) and "replicas" in write.body.get("spec", {})
    }


def made(decision: Decision) -> Object:
    (write,) = (write for write in decision.children if isinstance(write, Create))
    return write.object


def test_a_first_template_gets_a_set_of_the_full_size() -> None:
    decision = decide(deployment(3))
    word = content_hash(template(), None)
    made_set = made(decision)
    assert made_set["metadata"]["name"] == f"web-{word}"
    assert made_set["spec"]["replicas"] == 3
    assert made_set["spec"]["selector"] == {"matchLabels": {**LABELS, "pod-template-hash": word}}
    assert made_set["spec"]["template"]["metadata"]["labels"] == {**LABELS, "pod-template-hash": word}
    assert made_set["metadata"]["annotations"] == {REVISION: "1", DESIRED: "3", MAXIMUM: "4"}
    assert [event.message for event in decision.events] == [f"Scaled up replica set web-{word} from 0 to 3"]
    assert reasons(said(decision)) == {
        "Progressing": ("True", "NewReplicaSetCreated"),
        "Available": ("False", "MinimumReplicasUnavailable"),
    }


def test_a_hash_follows_from_the_template_and_the_collisions() -> None:
    shuffled = dict(reversed(template().items()))
    assert content_hash(template(), None) == content_hash(shuffled, None)
    assert len({content_hash(template(), count) for count in (None, 0, 1, 2)}) == 4
    assert content_hash(template("a"), None) != content_hash(template("b"), None)


def test_a_name_that_is_taken_counts_as_a_collision() -> None:
    word = content_hash(template(), None)
    taken = replica_set(word, "other:1", 0, owned=False)
    taken["metadata"]["labels"] = {}
    decision = decide(deployment(3), taken)
    assert said(decision)["collisionCount"] == 1
    assert not decision.children
    again = decide(deployment(3, status={"collisionCount": 1}), taken)
    assert made(again)["metadata"]["name"] == f"web-{content_hash(template(), 1)}"


ROLLS: dict[str, tuple[Object, list[Object], dict[str, int]]] = {
    "the new set grows by the surge": (
        deployment(10, "web:2"),
        [replica_set("a", "web:1", 10), replica_set("b", "web:2", 0, revision=2)],
        {"b": 3},
    ),
    "then the old one shrinks by what may be missing": (
        deployment(10, "web:2"),
        [replica_set("a", "web:1", 10), replica_set("b", "web:2", 3, 0, revision=2)],
        {"a": 8},
    ),
    "new pods that are not available hold the old ones": (
        deployment(10, "web:2"),
        [replica_set("a", "web:1", 8), replica_set("b", "web:2", 5, 0, revision=2)],
        {},
    ),
    "new pods that are available let old ones go": (
        deployment(10, "web:2"),
        [replica_set("a", "web:1", 8), replica_set("b", "web:2", 5, 4, revision=2)],
        {"a": 4},
    ),
    "old pods that do no good go first": (
        deployment(10, "web:3", strategy=rolling(3, 2)),
        [
            replica_set("a", "web:1", 8, 8, age=300),
            replica_set("b", "web:2", 5, 0, revision=2, age=200),
            replica_set("c", "web:3", 0, revision=3),
        ],
        {"b": 0},
    ),
    "nothing may be missing, so one comes before one goes": (
        deployment(1, "web:2", strategy=rolling("25%", "25%")),
        [
            replica_set("a", "web:1", 1, desired=1, most=2),
            replica_set("b", "web:2", 0, revision=2, desired=1, most=2),
        ],
        {"b": 1},
    ),
    "no surge and too little to be missing means that one may be missing": (
        deployment(2, "web:2", strategy=rolling(0, "1%")),
        [
            replica_set("a", "web:1", 2, desired=2, most=2),
            replica_set("b", "web:2", 0, revision=2, desired=2, most=2),
        ],
        {"a": 1},
    ),
    "a new set that is too large shrinks": (
        deployment(10, "web:1"),
        [replica_set("a", "web:1", 12)],
        {"a": 10},
    ),
    "Recreate takes all old pods away first": (
        deployment(10, "web:2", strategy={"type": "Recreate"}),
        [replica_set("a", "web:1", 10, most=10)],
        {"a": 0},
    ),
    "a change of size goes to all sets in proportion": (
        deployment(20, "web:2", strategy=rolling("30%", "20%")),
        [replica_set("a", "web:1", 8, most=13), replica_set("b", "web:2", 5, 0, revision=2, most=13)],
        {"a": 16, "b": 10},
    ),
    "what is left over goes to the largest": (
        deployment(11, "web:3", strategy=rolling(0, 5)),
        [
            replica_set("a", "web:1", 4, most=10),
            replica_set("b", "web:2", 3, revision=2, most=10),
            replica_set("c", "web:3", 3, revision=3, most=10),
        ],
        {"a": 5},
    ),
    "shrinking to nothing takes everything": (
        deployment(0, "web:2"),
        [replica_set("a", "web:1", 8, most=13), replica_set("b", "web:2", 5, 0, revision=2, most=13)],
        {"a": 0, "b": 0},
    ),
    "the only set with pods gets the whole change": (
        deployment(20, "web:1"),
        [replica_set("a", "web:1", 10), replica_set("z", "web:0", 0, revision=0)],
        {"a": 20},
    ),
    "a paused Deployment follows its size": (
        deployment(20, "web:2", paused=True),
        [replica_set("a", "web:1", 10)],
        {"a": 20},
    ),
    "a paused Deployment does not roll": (
        deployment(10, "web:2", paused=True),
        [replica_set("a", "web:1", 10)],
        {},
    ),
}


@pytest.mark.parametrize(("subject", "sets", "wanted"), ROLLS.values(), ids=ROLLS.keys())
def test_one_step(subject: Object, sets: list[Object], wanted: dict[str, int]) -> None:
    decision = decide(subject, *sets)
    assert sizes(decision) == wanted
    was = {one["metadata"]["name"].removeprefix("web-"): one["spec"]["replicas"] for one in sets}
    texts = {
        f"Scaled {'up' if size > was[name] else 'down'} replica set web-{name} from {was[name]} to {size}"
        for name, size in wanted.items()
    }
    assert {event.message for event in decision.events} == texts


def test_recreate_waits_for_the_last_old_pod() -> None:
    old = replica_set("a", "web:1", 0, most=10)
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-a", "controller": True}
    owner["uid"] = "ReplicaSet/default/web-a"
    metadata = {"name": "last", "namespace": "default", "ownerReferences": [owner]}
    metadata["deletionTimestamp"] = timestamp(NOON)
    last = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": {"phase": "Running"}}
    subject = deployment(10, "web:2", strategy={"type": "Recreate"})
    assert not decide(subject, old, last).children
    assert made(decide(subject, old))["spec"]["replicas"] == 10


def test_going_back_to_an_earlier_template_gives_its_set_the_newest_number() -> None:
    sets = [replica_set("a", "web:1", 0, revision=1), replica_set("b", "web:2", 10, revision=2)]
    decision = decide(deployment(10, "web:1"), *sets)
    (patch,) = (w for w in decision.children if isinstance(w, Patch) and w.key.name == "web-a")
    assert patch.body["metadata"]["annotations"] == {REVISION: "3", HISTORY: "1"}
    assert patch.body["spec"] == {"replicas": 3}


def test_the_deployment_takes_the_number_of_its_set() -> None:
    sets = [replica_set("a", "web:1", 0, revision=1), replica_set("b", "web:2", 10, revision=2)]
    (patch,) = decide(deployment(10, "web:2"), *sets).status
    assert isinstance(patch, Patch)
    assert patch.body["metadata"] == {"annotations": {REVISION: "2"}}
    assert patch.body["status"]["replicas"] == 10


def test_annotations_of_the_deployment_are_copied_to_its_set() -> None:
    subject = deployment(10, "web:1")
    subject["metadata"]["annotations"] |= {"team": "a", "kubectl.kubernetes.io/last-applied-configuration": "{}"}
    (patch,) = (w for w in decide(subject, replica_set("a", "web:1", 10)).children if isinstance(w, Patch))
    assert patch.body == {"metadata": {"annotations": {"team": "a"}}}


def test_an_orphan_set_is_adopted_and_a_stranger_released() -> None:
    stranger = replica_set("s", "web:1", 1)
    stranger["metadata"]["labels"] = {"app": "other"}
    decision = decide(deployment(10, "web:1"), replica_set("a", "web:1", 10, owned=False), stranger)
    assert {write.key.name for write in decision.intent} == {"web-a", "web-s"}
    assert not decision.children


def test_old_sets_beyond_the_limit_are_deleted_once_the_rollout_is_over() -> None:
    sets = [replica_set("new", "web:9", 10, revision=9)]
    sets += [replica_set(f"r{n}", f"web:{n}", 0, revision=n) for n in range(1, 5)]
    sets[2]["status"]["replicas"] = 1
    subject = deployment(10, "web:9", COMPLETE, revisionHistoryLimit=1)
    subject["metadata"]["annotations"][REVISION] = "9"
    gone = [write.key.name for write in decide(subject, *sets).children if isinstance(write, Delete)]
    assert gone == ["web-r1", "web-r3"]
    subject["status"] = {}
    assert not decide(subject, *sets).children
