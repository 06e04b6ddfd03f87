"""Workers whose leader is gone, in a plan: they stop coming, then go, then the set that made them goes."""

from __future__ import annotations

from mooring.api.kinds import Key
from mooring.features.groups.api import NAME
from mooring.features.groups.plan_garbage import reconcile
from mooring.kube.objects import Object
from mooring.runtime.decision import Decision, Delete, Patch
from mooring.testing.views import NOON, view_of
from mooring.workloads.kinds import POD, STATEFUL_SET

KEY = Key("default", "llm-0")


def owned(kind: str, name: str, owner: str, uid: str, **metadata: object) -> Object:
    group = "apps/v1" if kind == "StatefulSet" else "v1"
    reference = {"apiVersion": "v1", "kind": owner, "name": "llm-0", "uid": uid, "controller": True}
    meta = {"name": name, "namespace": "default", "uid": name, "ownerReferences": [reference], **metadata}
    return {"apiVersion": group, "kind": kind, "metadata": meta}


def workers(owner: str = "Pod", **metadata: object) -> Object:
    return owned("StatefulSet", "llm-0", owner, "leader", **{"labels": {NAME: "llm"}, **metadata})


def leader(uid: str) -> Object:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "llm-0", "namespace": "default", "uid": uid}}


def decide(*objects: Object) -> Decision:
    return reconcile(KEY, view_of(objects), NOON)


GOING: Object = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"]}


def test_workers_of_a_leader_that_is_there_stay() -> None:
    assert decide(workers(), leader("leader")) == Decision()


def test_workers_of_a_leader_that_is_gone_go() -> None:
    gone = Decision(intent=(Delete(STATEFUL_SET, KEY, propagation="Foreground"),))
    assert decide(workers()) == gone
    assert decide(workers(), leader("another of its name")) == gone


def test_first_their_pods_go_and_then_the_set_itself() -> None:
    pod = owned("Pod", "llm-0-1", "StatefulSet", "llm-0")
    assert decide(workers(**GOING), pod) == Decision(children=(Delete(POD, Key("default", "llm-0-1"), grace=0),))
    assert decide(workers(**GOING)) == Decision(release=(Patch(STATEFUL_SET, KEY, {"metadata": {"finalizers": None}}),))


def test_sets_that_are_no_workers_are_left_alone() -> None:
    assert decide(workers(labels={})) == Decision()
    assert decide(workers(owner="LeaderWorkerSet")) == Decision()
    assert decide() == Decision()
