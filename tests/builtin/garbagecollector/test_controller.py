"""Garbage collection: who goes, who stays, who is forgotten."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.builtin.garbagecollector.controller import UNKNOWN_OWNER_GRACE, garbage_collector, reconcile_with
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Decision, Delete, Patch
from mooring.runtime.view import View
from mooring.testing import pod
from mooring.testing.crashes import survives_every_crash
from mooring.testing.views import NOON, identified, view_of
from mooring.workloads import kinds as k
from tests.builtin.town import Town

COLLECTOR = garbage_collector((k.POD, k.REPLICA_SET, k.DEPLOYMENT, k.JOB))
GRAPH = COLLECTOR.folds[0]


def thing(kind: str, name: str, *owners: str, deleting: str = "", blocking: bool = True, **meta: Any) -> Object:
    """An object; `owners` are `Kind/name`, `deleting` is the finalizer it waits with."""
    references = []
    for owner in owners:
        owner_kind, _, owner_name = owner.partition("/")
        reference = {"apiVersion": _version(owner_kind), "kind": owner_kind, "name": owner_name}
        references.append(reference | {"uid": f"{owner_kind}/default/{owner_name}", "blockOwnerDeletion": blocking})
    metadata: Object = {"name": name, "namespace": "default", "ownerReferences": references, **meta}
    if deleting:
        metadata |= {"deletionTimestamp": timestamp(NOON), "finalizers": [deleting]}
    return {"apiVersion": _version(kind), "kind": kind, "metadata": metadata}


def _version(kind: str) -> str:
    return {"Pod": "v1", "Node": "v1", "Job": "batch/v1"}.get(kind, "apps/v1")


def scene(*objects: Object, gone: tuple[Object, ...] = (), now: datetime = NOON, memory: Any = None) -> View:
    """A view of objects, after others were seen going."""
    view = view_of((*gone, *objects), now, memory=memory, folds=[GRAPH])
    for obj in gone:
        kind = next(kind for kind in GRAPH.kinds if kind.kind == obj["kind"])
        store = view._stores[kind]
        meta = identified(obj, 0)["metadata"]
        change = store.remove(next(key for key in store._views if key.name == meta["name"]), 10_000)
        assert change is not None
        GRAPH.apply(view.fold(GRAPH), kind, change)
    return view


def decide(*objects: Object, **options: Any) -> Decision:
    return reconcile_with(GRAPH, scene(*objects, **options))


def gone(decision: Decision) -> dict[str, str | None]:
    return {w.key.name: w.propagation for w in decision.children if isinstance(w, Delete)}


def owners(decision: Decision) -> dict[str, list[str]]:
    """Who is left as owner where that was changed."""
    patches = [w for w in decision.children if isinstance(w, Patch)]
    return {w.key.name: [o["name"] for o in w.body["metadata"]["ownerReferences"] or ()] for w in patches}


def test_what_has_no_owner_left_goes() -> None:
    decision = decide(thing("Pod", "p", "ReplicaSet/web"), gone=(thing("ReplicaSet", "web"),))
    assert gone(decision) == {"p": "Background"}


def test_an_owner_of_the_same_name_and_another_uid_is_another() -> None:
    new = thing("ReplicaSet", "web", uid="new")
    assert gone(decide(thing("Pod", "p", "ReplicaSet/web"), new, gone=(thing("ReplicaSet", "old", uid="x"),))) == {}
    later = NOON + UNKNOWN_OWNER_GRACE
    first = decide(thing("Pod", "p", "ReplicaSet/web"), new)
    assert gone(decide(thing("Pod", "p", "ReplicaSet/web"), new, now=later, memory=first.memory)) == {"p": "Background"}


def test_an_owner_that_was_never_seen_has_time_to_appear() -> None:
    view = scene(thing("Pod", "p", "ReplicaSet/web"))
    decision = reconcile_with(GRAPH, view)
    assert decision.empty
    assert view.timers == {NOON + UNKNOWN_OWNER_GRACE}
    owner = thing("ReplicaSet", "web")
    assert decide(
        thing("Pod", "p", "ReplicaSet/web"), owner, now=NOON + UNKNOWN_OWNER_GRACE, memory=decision.memory
    ).empty


def test_an_owner_of_a_kind_that_is_not_covered_is_taken_to_be_there() -> None:
    assert decide(thing("Pod", "p", "StatefulSet/db")).empty


def test_a_second_owner_keeps_it_and_the_first_is_forgotten() -> None:
    shared = thing("Pod", "p", "ReplicaSet/web", "Job/train")
    decision = decide(shared, thing("Job", "train"), gone=(thing("ReplicaSet", "web"),))
    assert gone(decision) == {}
    assert owners(decision) == {"p": ["train"]}


def test_what_is_on_its_way_out_is_not_deleted_again() -> None:
    going = thing("Pod", "p", "ReplicaSet/web", deleting="example.com/hold")
    assert decide(going, gone=(thing("ReplicaSet", "web"),)).empty


def test_foreground_deletes_dependents_first_and_then_lets_the_owner_go() -> None:
    web = thing("ReplicaSet", "web", deleting="foregroundDeletion")
    assert gone(decide(web, thing("Pod", "p", "ReplicaSet/web"))) == {"p": "Background"}
    going = thing("Pod", "p", "ReplicaSet/web", deleting="example.com/hold")
    assert decide(web, going).empty
    released = decide(web).release
    assert [(w.key.name, w.body) for w in released if isinstance(w, Patch)] == [
        ("web", {"metadata": {"finalizers": None}})
    ]


def test_foreground_goes_down_the_tree() -> None:
    web = thing("Deployment", "web", deleting="foregroundDeletion")
    middle = thing("ReplicaSet", "web-1", "Deployment/web")
    decision = decide(web, middle, thing("Pod", "p", "ReplicaSet/web-1"))
    assert gone(decision) == {"web-1": "Foreground"}


def test_a_dependent_that_does_not_block_is_not_waited_for() -> None:
    web = thing("ReplicaSet", "web", deleting="foregroundDeletion")
    decision = decide(web, thing("Pod", "p", "ReplicaSet/web", blocking=False))
    assert [w.key.name for w in decision.release] == ["web"]


def test_two_that_own_each_other_do_not_wait_for_ever() -> None:
    one = thing("ReplicaSet", "one", "Job/two", deleting="foregroundDeletion")
    two = thing("Job", "two", "ReplicaSet/one")
    assert gone(decide(one, two)) == {"two": "Background"}


def test_orphans_are_forgotten_by_their_owner_first() -> None:
    web = thing("ReplicaSet", "web", deleting="orphan")
    decision = decide(web, thing("Pod", "p", "ReplicaSet/web"), thing("Pod", "q", "ReplicaSet/web", "Job/train"))
    assert owners(decision) == {"p": [], "q": ["train"]}
    assert not decision.release
    assert [w.key.name for w in decide(web).release] == ["web"]


# In a cluster


def replica_set(name: str, uid: str = "") -> Object:
    template = {"metadata": {"labels": {"app": name}}, "spec": pod("x")["spec"]}
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name}, "spec": spec}


def owned(name: str, uid: str) -> Object:
    found = pod(name)
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": uid, "blockOwnerDeletion": True}
    found["metadata"]["ownerReferences"] = [reference]
    return found


@pytest.mark.parametrize(
    ("propagation", "left"), [("Background", set()), ("Foreground", set()), ("Orphan", {"p0", "p1"})]
)  # fmt: skip
def test_a_deletion_ends_as_it_was_asked(propagation: str, left: set[str]) -> None:
    town = Town(controllers=(COLLECTOR,))
    uid = town.create(replica_set("web"))["metadata"]["uid"]
    for i in range(2):
        town.create(owned(f"p{i}", uid))
    town.run()
    town.delete("ReplicaSet", "web", propagation=propagation)
    town.run()
    assert town.get("ReplicaSet", "web") is None
    assert set(town.pods()) == left
    assert town.elapsed() == 0


@pytest.mark.parametrize("propagation", ["Background", "Foreground", "Orphan"])
def test_any_crash_ends_in_the_same_place(propagation: Any) -> None:
    def populate(simulation: Any) -> None:
        registry = simulation.registry
        sets, pods = registry.resource("apps/v1", "ReplicaSet"), registry.resource("v1", "Pod")
        now = simulation.now
        uid = registry.create(sets, replica_set("web"), now=now, namespace="default")["metadata"]["uid"]
        for i in range(3):
            registry.create(pods, owned(f"p{i}", uid), now=now, namespace="default")
        simulation.run()
        registry.delete(sets, "default", "web", now=now, propagation=propagation)

    assert survives_every_crash((COLLECTOR,), populate) >= 3


def test_it_waits_no_longer_than_it_must() -> None:
    assert timedelta(minutes=1) > UNKNOWN_OWNER_GRACE
