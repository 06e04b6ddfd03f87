"""What a shadow makes of changes: outcomes as predicted, on a neighbouring state, or otherwise."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.placement.shadow import WATCHED, Agreement, Bound, Failed, Judgement, Shadow
from mooring.placement.shadow.judgements import RECHECK_CLAIMS_SECONDS
from mooring.placement.shadow.world import place_of

FULL = (
    "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: "
    "2 Preemption is not helpful for scheduling."
)


class Stage:
    """A cluster as watches tell of it, and what the shadow says to that."""

    def __init__(self, *nodes: str, cpu: int = 4) -> None:
        self.shadow = Shadow()
        self.now = 0.0
        self.pods: dict[str, dict[str, Any]] = {}
        for name in nodes:
            self.node(name, cpu=cpu)
        self.shadow.ready = True

    def tell(self, kind: str, value: dict[str, Any], *, gone: bool = False) -> list[Judgement]:
        view: Any = msgspec.convert(value, next(view for (_, name), view in WATCHED.items() if name == kind))
        return self.shadow.take(place_of(kind, view), None if gone else view, self.now)

    def node(self, name: str, *, cpu: int = 4, **labels: str) -> list[Judgement]:
        amounts = {"cpu": str(cpu), "memory": "64Gi", "pods": "100"}
        meta = {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}}
        return self.tell("Node", {"metadata": meta, "status": {"allocatable": amounts}})

    def pod(self, name: str, *, cpu: int = 1, **spec: Any) -> list[Judgement]:
        """A pod arrives and waits."""
        container = {"name": "main", "resources": {"requests": {"cpu": str(cpu)}}}
        meta = {"name": name, "namespace": "shop", "labels": {"app": name}}
        self.pods[name] = {"metadata": meta, "spec": {"containers": [container], **spec}, "status": {}}
        return self.tell("Pod", self.pods[name])

    def bound(self, name: str, node: str) -> list[Judgement]:
        self.pods[name] = {**self.pods[name], "spec": {**self.pods[name]["spec"], "nodeName": node}}
        return self.tell("Pod", self.pods[name])

    def failed(self, name: str, message: str, *, nominated: str = "", reason: str = "Unschedulable") -> list[Judgement]:
        condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
        status = {"phase": "Pending", "conditions": [condition]}
        if nominated:
            status["nominatedNodeName"] = nominated
        self.pods[name] = {**self.pods[name], "status": status}
        return self.tell("Pod", self.pods[name])

    def expected(self, name: str, node: str) -> list[Judgement]:
        """The scheduler says where it is about to bind a pod, or that it does not."""
        status = {**self.pods[name]["status"], "nominatedNodeName": node}
        self.pods[name] = {**self.pods[name], "status": status}
        return self.tell("Pod", self.pods[name])

    def terminates(self, name: str) -> list[Judgement]:
        """The scheduler has deleted a pod to make room, and it takes its time to leave."""
        pod = self.pods[name]
        condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
        metadata = {**pod["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
        self.pods[name] = {**pod, "metadata": metadata, "status": {"phase": "Running", "conditions": [condition]}}
        return self.tell("Pod", self.pods[name])

    def deleted(self, name: str) -> list[Judgement]:
        return self.tell("Pod", self.pods.pop(name), gone=True)

    def later(self) -> list[Judgement]:
        self.now += RECHECK_CLAIMS_SECONDS
        return self.shadow.settle(self.now)


def verdict(judgements: list[Judgement]) -> Agreement:
    (judgement,) = judgements
    return judgement.verdict


# At once


def test_a_pod_bound_to_one_of_the_tied_nodes_is_as_predicted() -> None:
    for node in ("a", "b"):
        stage = Stage("a", "b")
        assert stage.pod("web") == []
        (judgement,) = stage.bound("web", node)
        assert (judgement.verdict, judgement.outcome) == (Agreement.EXACT, Bound(node))
        assert judgement.prediction is not None
        assert judgement.prediction.best == {"a", "b"}


def test_a_pod_left_pending_with_the_same_words_is_as_predicted() -> None:
    stage = Stage("a", "b")
    stage.pod("large", cpu=5)
    (judgement,) = stage.failed("large", FULL)
    assert (judgement.verdict, judgement.outcome) == (Agreement.EXACT, Failed(FULL))


def test_other_words_are_not_as_predicted() -> None:
    stage = Stage("a", "b")
    stage.pod("large", cpu=5)
    assert stage.failed("large", "0/2 nodes are available: 2 Insufficient memory.") == []
    assert verdict(stage.later()) is Agreement.WRONG


def test_the_same_words_again_say_nothing_new() -> None:
    stage = Stage("a", "b")
    stage.pod("large", cpu=5)
    stage.failed("large", FULL)
    stage.pods["large"]["metadata"]["labels"]["seen"] = "twice"
    assert stage.tell("Pod", stage.pods["large"]) == []


def test_a_nomination_is_part_of_the_outcome() -> None:
    words = "0/2 nodes are available: 2 Insufficient cpu."
    for nominated, expected in (("a", Agreement.EXACT), ("b", Agreement.EXACT), ("", Agreement.WRONG)):
        stage = Stage("a", "b")
        for name, node in (("low-1", "a"), ("low-2", "b")):
            stage.pod(name, cpu=4)
            stage.bound(name, node)
        stage.pod("urgent", cpu=2, priority=100)
        found = stage.failed("urgent", words, nominated=nominated) or stage.later()
        assert verdict(found) is expected, nominated


def test_a_pod_that_is_about_to_be_bound_is_judged_then_and_not_again() -> None:
    """The scheduler names the node before it writes what comes before the binding, and says nothing else."""
    stage = Stage("a", "b")
    stage.node("b", cpu=8)
    stage.pod("web")
    (judgement,) = stage.expected("web", "b")
    assert (judgement.verdict, judgement.outcome) == (Agreement.EXACT, Bound("b", is_expected=True))
    assert stage.shadow.world.snapshot.cluster.pods["shop/web"].node_name == "b", "it counts there already"
    assert stage.bound("web", "b") == []


def test_a_pod_that_is_about_to_be_bound_elsewhere_is_a_disagreement() -> None:
    stage = Stage("a")
    stage.node("b", cpu=8)
    stage.pod("web")
    assert stage.expected("web", "a") == []
    assert verdict(stage.later()) is Agreement.WRONG


def test_a_binding_that_is_given_up_lets_the_pod_wait_again() -> None:
    stage = Stage("a", "b")
    stage.pod("web")
    stage.expected("web", "a")
    stage.expected("web", "")
    assert not stage.shadow.world.snapshot.cluster.pods["shop/web"].node_name
    assert verdict(stage.bound("web", "b")) is Agreement.EXACT


LEAVING = (
    "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to a "
    "terminating pod on the nominated node."
)


def preempting() -> Stage:
    """A pod that is nominated to the only node, where its victim terminates."""
    stage = Stage("a")
    stage.pod("victim", cpu=4, priority=0)
    stage.bound("victim", "a")
    stage.pod("urgent", cpu=4, priority=10)
    stage.failed("urgent", "0/1 nodes are available: 1 Insufficient cpu.", nominated="a")
    stage.terminates("victim")
    return stage


def test_a_nomination_stands_while_the_victim_terminates() -> None:
    stage = preempting()
    assert verdict(stage.failed("urgent", LEAVING, nominated="a")) is Agreement.EXACT


def test_a_nomination_that_is_lost_while_the_victim_terminates_is_not_as_predicted() -> None:
    stage = preempting()
    assert stage.failed("urgent", LEAVING) == []
    assert verdict(stage.later()) is Agreement.WRONG


def test_a_preemptor_that_was_turned_down_before_its_victim_left_is_judged_on_the_older_state() -> None:
    """A bind is predicted, as the victim is gone when the outcome is seen; the scheduler decided a moment before."""
    stage = preempting()
    stage.deleted("victim")
    assert stage.failed("urgent", LEAVING, nominated="a") == []
    (judgement,) = stage.later()
    assert (judgement.verdict, judgement.why) == (Agreement.NEAR, "without the last 1 changes")


def test_an_error_of_the_scheduler_is_an_outcome_too() -> None:
    stage = Stage("a", "b")
    affinity = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 1, "preference": {"matchExpressions": [{"key": "x", "operator": "Gt", "values": ["y"]}]}}
            ]
        }
    }
    stage.pod("odd", affinity=affinity)
    (judgement,) = stage.failed("odd", "words of its own", reason="SchedulerError") or stage.later()
    assert judgement.prediction is not None
    assert judgement.prediction.message.startswith('running PreScore plugin "NodeAffinity"')


# What is no outcome


@pytest.mark.parametrize(
    "spec",
    [
        {"schedulerName": "another"},
        {"schedulingGates": [{"name": "quota"}]},
        {"nodeName": "a"},
    ],
    ids=["of another scheduler", "gated", "bound from the start"],
)
def test_pods_that_the_scheduler_does_not_decide_on_are_not_judged(spec: dict[str, Any]) -> None:
    stage = Stage("a", "b")
    assert stage.pod("web", **spec) == []
    assert stage.bound("web", "a") == []
    assert stage.shadow.undecided == 0


def test_nothing_is_judged_before_the_picture_is_whole() -> None:
    stage = Stage("a", "b")
    stage.shadow.ready = False
    stage.pod("web")
    assert stage.bound("web", "nowhere") == []
    assert stage.later() == []


def test_what_a_new_list_brings_is_taken_in_without_being_judged() -> None:
    stage = Stage("a", "b")
    stage.pod("web", cpu=4)
    bound = {**stage.pods["web"], "spec": {**stage.pods["web"]["spec"], "nodeName": "a"}}
    view = msgspec.convert(bound, WATCHED["v1", "Pod"])
    stage.shadow.replace("Pod", {place_of("Pod", view): view})
    stage.pod("next", cpu=4)
    assert verdict(stage.bound("next", "b")) is Agreement.EXACT


def test_a_list_without_an_object_takes_it_away() -> None:
    stage = Stage("a", "b")
    stage.pod("web", cpu=4)
    stage.bound("web", "a")
    stage.shadow.replace("Pod", {})
    stage.pod("next", cpu=4, nodeSelector={"kubernetes.io/hostname": "a"})
    assert verdict(stage.bound("next", "a")) is Agreement.EXACT


def test_a_pod_with_a_volume_is_left_out_where_storage_is_not_followed() -> None:
    stage = Stage("a")
    stage.pod("db", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
    (judgement,) = stage.bound("db", "a")
    assert judgement.verdict is Agreement.SKIPPED
    assert judgement.why.startswith("claim shop/data is not known, as no PersistentVolumeClaim was read")


# A little ahead, a little behind


def test_an_outcome_that_another_one_overtook_is_judged_on_both() -> None:
    """Decided second, when the first was on a already, but seen first."""
    stage = Stage("a", "b")
    stage.pod("first", cpu=3, nodeSelector={"kubernetes.io/hostname": "a"})
    stage.pod("second", cpu=2, nodeSelector={"kubernetes.io/hostname": "a"})
    words = (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector. no new "
        "claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, "
        "1 Preemption is not helpful for scheduling."
    )
    assert stage.failed("second", words) == []
    assert verdict(stage.bound("first", "a")) is Agreement.EXACT
    (judgement,) = stage.later()
    assert (judgement.verdict, judgement.why) == (Agreement.NEAR, "with the next 1 changes")


def test_an_outcome_decided_before_a_node_changed_is_judged_on_the_older_state() -> None:
    stage = Stage("a", "b")
    stage.pod("web", nodeSelector={"disk": "ssd"})
    stage.node("a", disk="ssd")
    stage.node("a", disk="hdd")
    assert stage.bound("web", "a") == []
    (judgement,) = stage.later()
    assert (judgement.verdict, judgement.why) == (Agreement.NEAR, "without the last 1 changes")


def test_no_state_from_before_the_pod_came_excuses_an_outcome() -> None:
    stage = Stage("a", "b")
    stage.node("a", disk="ssd")
    stage.node("a", disk="hdd")
    stage.pod("web", nodeSelector={"disk": "ssd"})
    assert stage.bound("web", "a") == []
    assert verdict(stage.later()) is Agreement.WRONG


def test_second_looks_leave_the_world_as_it_was() -> None:
    stage = Stage("a", "b")
    stage.pod("web", nodeSelector={"disk": "ssd"})
    stage.bound("web", "a")
    for name in ("x", "y"):
        stage.pod(name, cpu=3)
        assert verdict(stage.bound(name, "b" if name == "x" else "a")) is Agreement.EXACT
    before = dict(stage.shadow.world.views)
    stage.later()
    assert stage.shadow.world.views == before
    cluster = stage.shadow.world.snapshot.cluster
    assert {key: cluster.names[slot] for key, slot in cluster.placed.items()} == {
        "shop/web": "a",
        "shop/x": "b",
        "shop/y": "a",
    }
    assert cluster.used_cpu[cluster.slots["a"]] == 4000


# Disagreement


def test_a_disagreement_holds_the_objects_of_the_moment_before() -> None:
    stage = Stage("a", "b")
    stage.pod("web", nodeSelector={"disk": "ssd"})
    stage.bound("web", "a")
    stage.node("c", disk="ssd")
    (judgement,) = stage.later()
    assert judgement.verdict is Agreement.WRONG
    names = {(kind, view.metadata.name) for kind, view in judgement.objects}
    assert names == {("Node", "a"), ("Node", "b"), ("Pod", "web")}
    (pod,) = [view for kind, view in judgement.objects if kind == "Pod"]
    assert pod.spec.node_name == ""


def test_a_node_that_fits_but_is_not_best_is_told_apart_where_nodes_are_sampled() -> None:
    many = [f"n{number:03d}" for number in range(100)]
    stage = Stage(*many)
    stage.pod("one", cpu=3)
    stage.bound("one", "n000")
    stage.pod("two", cpu=1)
    assert verdict(stage.bound("two", "n000")) is Agreement.FEASIBLE
    few = Stage(*many[:50])
    few.pod("one", cpu=3)
    few.bound("one", "n000")
    few.pod("two", cpu=1)
    assert few.bound("two", "n000") == []
    assert verdict(few.later()) is Agreement.WRONG


def test_a_pod_that_is_gone_meanwhile_is_still_judged() -> None:
    stage = Stage("a", "b")
    stage.pod("web", nodeSelector={"disk": "ssd"})
    stage.bound("web", "a")
    stage.deleted("web")
    assert verdict(stage.later()) is Agreement.WRONG


def test_the_only_node_that_fits_is_predicted_although_nothing_was_scored() -> None:
    stage = Stage("a")
    stage.node("b", cpu=1)
    stage.pod("web", cpu=2)
    assert verdict(stage.bound("web", "a")) is Agreement.EXACT
