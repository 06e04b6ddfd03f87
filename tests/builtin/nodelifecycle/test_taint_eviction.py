"""Eviction by taint: who must leave a node, and when."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.nodelifecycle.taint_eviction import CONTROLLER, POD_DELETIONS, Countdown, reconcile
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import ApplyStatus, Decision, Delete
from mooring.runtime.view import View
from mooring.testing import node, pod
from mooring.testing.crashes import survives_every_crash
from mooring.testing.views import NOON, view_of
from tests.builtin.town import LIFECYCLE, NODES, Town, condition

KEY = Key("", "a")
UNREACHABLE = "node.kubernetes.io/unreachable"
NOT_READY = "node.kubernetes.io/not-ready"


def tainted(*taints: tuple[str, float | None]) -> Object:
    """A node with NoExecute taints by their keys, each put on so many seconds ago."""
    found = node("a")
    found["spec"]["taints"] = [
        {"key": key, "effect": "NoExecute"}
        | ({} if ago is None else {"timeAdded": timestamp(NOON - timedelta(seconds=ago))})
        for key, ago in taints
    ]
    return found


def tolerating(*tolerations: tuple[str, int | None], since: float = 1000, **options: Any) -> Object:
    """A pod bound so many seconds ago that tolerates taints for a while, or for ever."""
    found = pod("p", node="a", **options)
    found["spec"]["tolerations"] = [
        {"key": key, "operator": "Exists"} | ({} if seconds is None else {"tolerationSeconds": seconds})
        for key, seconds in tolerations
    ]
    bound = timestamp(NOON - timedelta(seconds=since))
    found["status"]["conditions"] = [{"type": "PodScheduled", "status": "True", "lastTransitionTime": bound}]
    return found


def look(*objects: Object, memory: Any = None, now: datetime = NOON) -> tuple[Decision, View]:
    view = view_of(objects, now, memory=memory)
    return reconcile(KEY, view, now), view


@pytest.mark.parametrize(
    ("why", "found", "tolerations", "seconds"),
    [
        ("it tolerates nothing", tainted(("k", 0)), [], 0),
        ("it tolerates another", tainted(("k", 0)), [("other", None)], 0),
        ("it tolerates it for ever", tainted(("k", 0)), [("k", None)], None),
        ("it tolerates it for a while", tainted(("k", 0)), [("k", 30)], 30),
        ("some of that is over", tainted(("k", 20)), [("k", 30)], 10),
        ("all of that is over", tainted(("k", 40)), [("k", 30)], 0),
        ("less than nothing is nothing", tainted(("k", 0)), [("k", -5)], 0),
        ("the first toleration of a taint counts", tainted(("k", 0)), [("k", 30), ("k", 10)], 30),
        ("the shortest of several taints counts", tainted(("k", 0), ("l", 0)), [("k", 30), ("l", 10)], 10),
        ("one that is not tolerated counts most", tainted(("k", 0), ("l", 0)), [("k", 30)], 0),
        ("nobody said since when", tainted(("k", None)), [("k", 30)], 30),
    ],
)
def test_when_a_pod_must_leave(why: str, found: Object, tolerations: list[Any], seconds: int | None) -> None:
    decision, view = look(found, tolerating(*tolerations))
    if seconds == 0:
        assert [type(write) for write in decision.children] == [ApplyStatus], why
        return
    assert decision.empty, why
    assert view.timers == (set() if seconds is None else {NOON + timedelta(seconds=seconds)}), why


def test_a_pod_that_came_after_the_taint_has_all_its_time() -> None:
    _, view = look(tainted(("k", 100)), tolerating(("k", 30), since=10))
    assert view.timers == {NOON + timedelta(seconds=20)}


def test_an_outage_is_one_whether_the_node_was_heard_of_in_between_or_not() -> None:
    found = tolerating((NOT_READY, 300), (UNREACHABLE, 300))
    decision, _ = look(tainted((NOT_READY, 0)), found)
    later = NOON + timedelta(seconds=100)
    _, view = look(tainted((UNREACHABLE, -100)), found, memory=decision.memory, now=later)
    assert view.timers == {NOON + timedelta(seconds=300)}


def test_it_is_told_why_before_it_goes() -> None:
    found = tolerating()
    first, _ = look(tainted(("k", 0)), found)
    (mark,) = first.children
    assert isinstance(mark, ApplyStatus)
    told = mark.status["conditions"]
    # Its own condition alone: the kubelet writes the others.
    assert [(c["type"], c.get("reason")) for c in told] == [("DisruptionTarget", "DeletionByTaintManager")]
    found["status"]["conditions"] += told
    second, _ = look(tainted(("k", 0)), found)
    assert [type(write) for write in second.children] == [Delete]
    assert second.metrics == (POD_DELETIONS.add(),)
    assert [(e.reason, e.message) for e in second.events] == [
        ("TaintManagerEviction", "Marking for deletion Pod default/p")
    ]


@pytest.mark.parametrize(
    ("why", "found"),
    [("no taint at all", node("a")), ("only one that keeps others away", node("a", taints=["k:NoSchedule"]))],
)
def test_who_may_stay(why: str, found: Object) -> None:
    decision, view = look(found, tolerating())
    assert decision.empty, why
    # Nor is anybody asked about the pods of nodes that are well.
    assert len(view.questions) == 1


def test_a_pod_on_its_way_out_is_not_evicted_again() -> None:
    going = tolerating()
    going["metadata"]["deletionTimestamp"] = timestamp(NOON)
    assert look(tainted(("k", 0)), going)[0].empty


def test_when_the_taint_goes_in_time_that_is_told() -> None:
    memory = Countdown({}, (Key("default", "p"),))
    decision, _ = look(node("a"), tolerating(("k", 30)), memory=memory)
    assert [event.message for event in decision.events] == ["Cancelling deletion of Pod default/p"]
    assert decision.memory is None


# At work


def test_pods_leave_a_lost_node_after_the_five_minutes_that_every_pod_is_given() -> None:
    town = Town(node("a"), node("b"), pod("p", nodeName="a"), controllers=(NODES, *LIFECYCLE), settled=True)
    town.patch("Node", "a", {"metadata": {"annotations": {"mooring.dev/lost": "yes"}}})
    town.run(348)
    found = town.get("Pod", "p")
    assert found is not None
    assert "deletionTimestamp" not in found["metadata"]
    town.run()
    assert town.elapsed() == 350
    assert condition(town.get("Pod", "p"), "DisruptionTarget")["reason"] == "DeletionByTaintManager"
    assert town.events("TaintManagerEviction") == ["Marking for deletion Pod default/p"]


def test_a_taint_put_on_by_hand_drives_pods_off_at_once() -> None:
    town = Town(node("a"), pod("p", nodeName="a"), controllers=(NODES, *LIFECYCLE), settled=True)
    town.patch("Node", "a", {"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}})
    town.run()
    assert town.get("Pod", "p") is None
    assert town.elapsed() == 2


def test_the_mark_leaves_the_other_conditions_to_their_writers() -> None:
    held = pod("p", nodeName="a")
    held["metadata"]["finalizers"] = ["example.com/held"]
    town = Town(node("a"), held, controllers=(NODES, *LIFECYCLE), settled=True)
    town.patch("Node", "a", {"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}})
    town.run()
    found = town.get("Pod", "p")
    assert found is not None
    (own,) = (each for each in found["metadata"]["managedFields"] if each["manager"] == "mooring-taint-eviction")
    assert [*own["fieldsV1"]["f:status"]["f:conditions"]] == ['k:{"type":"DisruptionTarget"}']
    assert {each["type"] for each in found["status"]["conditions"]} > {"PodScheduled", "DisruptionTarget"}


def test_any_crash_ends_in_the_same_place() -> None:
    def populate(simulation: Any) -> None:
        registry, now = simulation.registry, simulation.now
        patient = pod("q", nodeName="a")
        patient["spec"]["tolerations"] = [
            {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 20}
        ]
        for obj in (node("a", taints=["k:NoExecute"]), pod("p", nodeName="a"), patient):
            registry.create(registry.resource("v1", obj["kind"]), obj, now=now)

    assert survives_every_crash((NODES, CONTROLLER), populate) > 5
