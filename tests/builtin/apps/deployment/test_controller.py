"""Deployment: rollouts step by step, their arithmetic, and what status says on the way."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.apps.deployment.controller import CONTROLLER, reconcile
from mooring.builtin.apps.deployment.replicasets import DESIRED, HISTORY, MAXIMUM, REVISION
from mooring.builtin.apps.replicaset import controller as replicaset
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Create, Decision, Delete, Patch
from mooring.testing.views import NOON, view_of
from mooring.workloads.revisions import content_hash
from tests.builtin.fixpoint import World, never_starts, same_end_after_any_crash

KEY = Key("default", "web")
UID = "Deployment/default/web"
LABELS = {"app": "web"}


def template(image: str = "web:1", **labels: str) -> Object:
    return {"metadata": {"labels": {**LABELS, **labels}}, "spec": {"containers": [{"name": "main", "image": image}]}}


def deployment(replicas: int = 3, image: str = "web:1", status: Object | None = None, **spec: Any) -> Object:
    body = {
        "replicas": replicas,
        "selector": {"matchLabels": LABELS},
        "template": template(image),
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
        **spec,
    }
    metadata = {"name": "web", "namespace": "default", "generation": 1, "uid": UID, "annotations": {REVISION: "1"}}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": body, "status": status or {},
    }  # fmt: skip


def rolling(surge: int | str, unavailable: int | str) -> Object:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def replica_set(
    name: str,
    image: str,
    replicas: int,
    available: int | None = None,
    *,
    revision: int = 1,
    desired: int = 10,
    most: int = 13,
    age: int = 100,
    owned: bool = True,
    actual: int | None = None,
) -> Object:
    metadata: Object = {
        "name": f"web-{name}",
        "namespace": "default",
        "generation": 1,
        "labels": {**LABELS, "pod-template-hash": name},
        "creationTimestamp": timestamp(NOON - timedelta(seconds=age)),
        "annotations": {REVISION: str(revision), DESIRED: str(desired), MAXIMUM: str(most)},
    }
    if owned:
        metadata["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": UID, "controller": True}
        ]
    labels = {**LABELS, "pod-template-hash": name}
    ready = replicas if available is None else available
    count = replicas if actual is None else actual
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": metadata,
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": template(image, **{"pod-template-hash": name}),
        },
        "status": {
            "replicas": count,
            "readyReplicas": ready,
            "availableReplicas": ready,
            "terminatingReplicas": 0,
            "observedGeneration": 1,
        },
    }


def decide(*objects: Object) -> Decision:
    return reconcile(KEY, view_of(objects), NOON)


def sizes(decision: Decision) -> dict[str, int]:
    return {
        write.key.name.removeprefix("web-"): write.body["spec"]["replicas"]
        for write in decision.children
        if isinstance(write, Patch) and "replicas" in write.body.get("spec", {})
    }


def made(decision: Decision) -> Object:
    (write,) = (write for write in decision.children if isinstance(write, Create))
    return write.object


def said(decision: Decision) -> Object:
    (write,) = decision.status
    assert isinstance(write, Patch)
    status: Object = write.body["status"]
    return status


def reasons(obj: Object) -> dict[str, tuple[str, str]]:
    return {c["type"]: (c["status"], c["reason"]) for c in obj.get("conditions", ())}


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


COMPLETE = {
    "observedGeneration": 1,
    "replicas": 10,
    "updatedReplicas": 10,
    "readyReplicas": 10,
    "availableReplicas": 10,
    "terminatingReplicas": 0,
}


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
