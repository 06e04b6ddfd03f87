"""The scheduler as a table: objects in, decision out."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.scheduler.controller import reconcile
from mooring.builtin.scheduler.queue import Attempt, Queue
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.placement import messages
from mooring.placement.engine import Explanation
from mooring.placement.pods import PodInfo
from mooring.runtime.decision import ApplyStatus, Bind, Decision, Delete, Patch
from mooring.testing import cluster, node, pending_because, placed_on, pod
from mooring.testing.views import NOON, view_of
from mooring.workloads.cluster_state import CLUSTER

ALL = Key("", "all")


def decide(*objects: Object, now: datetime = NOON, memory: Any = None) -> Decision:
    return reconcile(ALL, view_of(objects, now, memory=memory, folds=[CLUSTER]), now)


def bound(decision: Decision) -> dict[str, str]:
    return {write.key.name: write.node for write in decision.children if isinstance(write, Bind)}


def said(decision: Decision, name: str) -> Object:
    """The status that a pod is given."""
    for write in (*decision.intent, *decision.status):
        if isinstance(write, Patch) and write.key.name == name:
            body: Object = write.body["status"]
            return body
        if isinstance(write, ApplyStatus) and write.key.name == name:
            return write.status
    return {}


def created(obj: Object, moment: datetime) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "creationTimestamp": timestamp(moment)}}


def gated(name: str) -> Object:
    return pod(name, schedulingGates=[{"name": "example.com/quota"}])


def condition(reason: str, message: str) -> Object:
    return {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}


WORLDS: dict[str, tuple[list[Object], Object]] = {
    "an empty node": ([node("a"), node("b")], pod("p", cpu="1")),
    "nodes of unequal load": ([node("a"), node("b"), pod("x", cpu="6", node="a")], pod("p", cpu="1")),
    "a taint in the way": ([node("a", taints=["gpu=yes:NoSchedule"]), node("b")], pod("p")),
    "no node at all": ([], pod("p")),
    "too little of everything": ([node("a", cpu="1"), node("b", unschedulable=True)], pod("p", cpu="2")),
    "a node that cannot be had": ([node("a")], pod("p", nodeSelector={"disk": "ssd"})),
}


@pytest.mark.parametrize("world", WORLDS)
def test_it_agrees_with_the_engine(world: str) -> None:
    objects, waiting = WORLDS[world]
    decision = decide(*objects, waiting)
    expected = placed_on(cluster(*objects), waiting)
    if expected is not None:
        assert bound(decision) == {"p": expected}
        assert [e.message for e in decision.events] == [f"Successfully assigned default/p to {expected}"]
    else:
        message = pending_because(cluster(*objects), waiting)
        assert said(decision, "p")["conditions"][0]["message"] == message
        assert said(decision, "p")["conditions"][0]["reason"] == "Unschedulable"
        assert [(e.reason, e.message) for e in decision.events] == [("FailedScheduling", message)]


def test_a_batch_never_overcommits_a_node() -> None:
    pods = [pod(f"p{i}", cpu="3") for i in range(5)]
    decision = decide(node("a"), node("b"), *pods)
    assert sorted(bound(decision).values()) == ["a", "a", "b", "b"]
    assert said(decision, "p4")["conditions"][0]["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_higher_priority_comes_first_then_whoever_waited_longer() -> None:
    objects = [
        created(pod("late", cpu="3"), NOON - timedelta(seconds=1)),
        created(pod("early", cpu="3"), NOON - timedelta(seconds=9)),
        created(pod("urgent", cpu="3", priority=10), NOON),
    ]
    assert list(bound(decide(node("a", cpu="16"), *objects))) == ["urgent", "early", "late"]


def test_gated_pods_wait_and_say_so() -> None:
    decision = decide(node("a"), gated("p"))
    assert not bound(decision)
    expected = {**condition("SchedulingGated", messages.GATED), "lastTransitionTime": timestamp(NOON)}
    assert said(decision, "p")["conditions"] == [expected]
    assert not decision.events


def test_what_is_known_is_not_said_again() -> None:
    waiting = pod("p")
    waiting["status"]["conditions"] = [condition("Unschedulable", messages.NO_NODES)]
    assert decide(waiting).empty


def test_what_is_not_on_record_is_said_again() -> None:
    """A write may fail, and a pod that nobody knows to be unschedulable gets no new node from an autoscaler."""
    first = decide(pod("p"))
    assert said(decide(pod("p"), memory=first.memory), "p")["conditions"] == said(first, "p")["conditions"]
    again = decide(pod("p"), memory=decide(pod("p"), memory=first.memory).memory)
    assert said(again, "p")["conditions"] == said(first, "p")["conditions"]
    assert not again.events
    known, other, gone = pod("p"), pod("p"), pod("q")
    known["status"]["conditions"] = [condition("Unschedulable", messages.NO_NODES)]
    assert decide(known, memory=first.memory).empty
    other["metadata"]["uid"] = "another"
    assert decide(other, memory=first.memory).events
    assert not said(decide(gone, memory=first.memory), "p")


def test_another_scheduler_s_pods_and_those_that_go_are_left_alone() -> None:
    foreign = pod("foreign", schedulerName="other")
    going = pod("going")
    going["metadata"]["deletionTimestamp"] = timestamp(NOON)
    assert decide(node("a"), foreign, going, pod("there", node="a")).empty


@pytest.mark.parametrize(
    ("failures", "seconds"), [(1, 2), (2, 3), (3, 5), (4, 9), (5, 11), (9, 11)]
)  # fmt: skip
def test_backoff_doubles_to_ten_seconds_and_ends_with_the_window(failures: int, seconds: int) -> None:
    attempt = Attempt("uid", NOON, unschedulable=failures)
    assert attempt.backoff_ends == NOON + timedelta(seconds=seconds)
    within = attempt._replace(failed_at=NOON + timedelta(milliseconds=700))
    assert within.backoff_ends - NOON in (timedelta(seconds=seconds), timedelta(seconds=seconds + 1))


def test_an_error_sits_its_backoff_out_and_others_do_not() -> None:
    waiting = {"default/p": Attempt("Pod/default/p", NOON, errors=1, waiting=False)}
    view = view_of([node("a"), pod("p")], NOON, memory=Queue(waiting, 10**9), folds=[CLUSTER])
    assert reconcile(ALL, view, NOON).empty
    assert view.timers == {NOON + timedelta(seconds=2)}
    waiting = {"default/p": Attempt("Pod/default/p", NOON, unschedulable=1, waiting=False)}
    assert bound(decide(node("a"), pod("p"), memory=Queue(waiting, 10**9))) == {"p": "a"}


def test_a_pod_that_waits_is_not_tried_until_something_happens() -> None:
    attempts = {"default/p": Attempt("Pod/default/p", NOON, unschedulable=1)}
    view = view_of([node("a"), pod("p")], NOON, folds=[CLUSTER])
    position = view.fold(CLUSTER).position
    view._memory = Queue(attempts, position)
    assert reconcile(ALL, view, NOON).empty


def test_preemption_nominates_marks_and_tells() -> None:
    decision = decide(node("a", cpu="2"), pod("low", cpu="2", node="a", priority=1), pod("high", cpu="2", priority=9))
    assert not bound(decision)
    assert not [write for write in decision.children if isinstance(write, Delete)]
    mark = said(decision, "low")["conditions"][0]
    assert (mark["type"], mark["reason"]) == ("DisruptionTarget", "PreemptionByScheduler")
    assert mark["message"] == "default-scheduler: preempting to accommodate a higher priority pod"
    assert said(decision, "high")["nominatedNodeName"] == "a"
    told = {event.reason: event.message for event in decision.events}
    assert told["Preempted"] == "Preempted by pod Pod/default/high on node a"


def test_a_marked_victim_goes_whoever_marked_it() -> None:
    low = pod("low", cpu="2", node="a", priority=1)
    low["status"]["conditions"] = [
        {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "m"}
    ]
    decision = decide(node("a", cpu="2"), low)
    assert decision.children == (Delete(next(iter(decision.children)).kind, Key("default", "low")),)


def test_a_lower_nomination_on_the_same_node_is_cleared() -> None:
    middle = pod("middle", cpu="2", priority=5)
    middle["status"]["nominatedNodeName"] = "a"
    attempts = {"default/middle": Attempt("Pod/default/middle", NOON, unschedulable=1)}
    objects = [node("a", cpu="2"), pod("low", cpu="2", node="a", priority=1), middle, pod("high", cpu="2", priority=9)]
    view = view_of(objects, NOON, folds=[CLUSTER])
    view._memory = Queue(attempts, view.fold(CLUSTER).position)
    decision = reconcile(ALL, view, NOON)
    assert said(decision, "middle") == {"nominatedNodeName": None}
    assert said(decision, "high")["nominatedNodeName"] == "a"


def test_deciding_leaves_the_cluster_as_it_was() -> None:
    on_a = {"kubernetes.io/hostname": "a"}
    middle = pod("middle", cpu="2", priority=5, nodeSelector=on_a)
    middle["status"]["nominatedNodeName"] = "a"
    crowd = [pod("high", cpu="2", priority=9, nodeSelector=on_a), *(pod(f"p{i}", cpu="1") for i in range(6))]
    objects = [node("a", cpu="2"), node("b", cpu="4"), pod("low", cpu="2", node="a", priority=1), middle, *crowd]
    view = view_of(objects, NOON, folds=[CLUSTER])
    state = view.fold(CLUSTER)
    before = state.facts()
    first = reconcile(ALL, view, NOON)
    assert state.facts() == before
    assert reconcile(ALL, view, NOON) == first
    assert len(bound(first)) == 4
    assert said(first, "low")["conditions"], "there is a victim too"


def test_what_is_decided_is_held_until_it_is_seen() -> None:
    view = view_of([node("a", cpu="4"), *(pod(f"p{i}", cpu="2") for i in range(3))], NOON, folds=[CLUSTER])
    state = view.fold(CLUSTER)
    (assumed,) = reconcile(ALL, view, NOON).assumes
    state.assume(assumed.assumptions)
    assert state.cluster.used_cpu[state.cluster.slots["a"]] == 4000
    assert not state.engine.fits(state.cluster.pods["default/p2"]).any()
    state.assume(())
    assert state.engine.fits(state.cluster.pods["default/p2"]).any()
    assert state.cluster.used_cpu[state.cluster.slots["a"]] == 0


def test_the_next_search_begins_where_the_last_one_ended() -> None:
    named = {"key": "metadata.name", "operator": "In", "values": ["b"]}
    terms = {"nodeSelectorTerms": [{"matchFields": [named]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    daemon = pod("daemon", affinity=affinity)
    nodes = [node(name) for name in "abcd"]
    decision = decide(*nodes, daemon)
    assert bound(decision) == {"daemon": "b"}
    assert decision.memory.start == 1
    after = decide(*nodes, pod("p"), memory=decision.memory)
    assert bound(after) == {"p": "b"}, "all are equal, and the search begins at the second"


def test_deciding_again_without_memory_decides_the_same() -> None:
    objects = [node("a"), node("b"), *(pod(f"p{i}", cpu="3") for i in range(6))]
    view = view_of(objects, NOON, folds=[CLUSTER])
    first = reconcile(ALL, view, NOON)
    again = reconcile(ALL, view, NOON)
    assert bound(first) == bound(again)
    assert first.status == again.status


def test_many_pods_alike_are_explained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    view = view_of([node("a", cpu="1"), *(pod(f"p{i}", cpu="2") for i in range(50))], NOON, folds=[CLUSTER])
    engine = view.fold(CLUSTER).engine
    asked: list[str] = []
    explain = engine.explain

    def listen(info: PodInfo) -> Explanation:
        asked.append(info.key)
        return explain(info)

    monkeypatch.setattr(engine, "explain", listen)
    decision = reconcile(ALL, view, NOON)
    assert len(decision.status) == 50
    assert len(asked) == 1
