"""Placeable for a workload of any kind: how many pods would be scheduled, and what keeps the first that does not."""

from __future__ import annotations

from datetime import timedelta

from mooring.api.core.views import Pod
from mooring.kube.objects import Object
from mooring.runtime.view import View
from mooring.testing.builders import node, pod
from mooring.testing.views import NOON, view_of
from mooring.workloads.cluster_state import CLUSTER
from mooring.workloads.kinds import POD
from mooring.workloads.placeable import MAX_ADVICE_AGE, Placing, pods_placeable

WHY = "0/1 nodes are available: 1 Insufficient cpu"


def waiting(name: str, cpu: str) -> Object:
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": f"{WHY}. preemption: no."}
    return pod(name, cpu=cpu) | {"status": {"phase": "Pending", "conditions": [said]}}


def bound(name: str) -> Object:
    made = pod(name)
    return made | {"spec": {**made["spec"], "nodeName": "n0"}, "status": {"phase": "Running"}}


def scene(*pods: Object) -> View:
    return view_of([node("n0", cpu="2"), *pods], folds=(CLUSTER,))


def told(view: View, placing: Placing | None = None) -> Placing:
    return pods_placeable(view, pods_of(view), None if placing is None else placing.advice)


def pods_of(view: View) -> tuple[Pod, ...]:
    return tuple(view.list(POD, "namespace", "default"))


def said(placing: Placing) -> tuple[str, str, str]:
    (found,) = placing.conditions
    return found.status, found.reason, found.message


def test_a_workload_whose_pods_all_have_nodes_fits() -> None:
    placing = told(scene(bound("a"), bound("b")))
    assert said(placing) == ("True", "Fits", "2 of 2 pods can be scheduled")
    assert placing.advice is None


def test_the_first_pod_that_no_node_takes_says_why_and_what_would_help() -> None:
    placing = told(scene(bound("a-0"), waiting("a-10", cpu="4"), waiting("a-2", cpu="4")))
    status, reason, message = said(placing)
    assert (status, reason) == ("False", "Unschedulable")
    assert message.startswith(f"1 of 3 pods can be scheduled; a-2 cannot: {WHY}; what would help: ")
    assert placing.advice is not None
    assert message.endswith(placing.advice.text)


def test_advice_is_remembered_for_a_while_and_asked_for_again_then() -> None:
    first = told(scene(waiting("a", cpu="4")))
    assert first.advice is not None
    view = scene(waiting("a", cpu="4"))
    view.now = NOON + MAX_ADVICE_AGE - timedelta(seconds=1)
    assert told(view, first).advice is first.advice
    assert view.polls == {NOON + MAX_ADVICE_AGE}
    view.now = NOON + MAX_ADVICE_AGE
    renewed = told(view, first).advice
    assert renewed is not None
    assert renewed.found == NOON + MAX_ADVICE_AGE


def test_telling_changes_nothing_and_tells_the_same_again() -> None:
    view = scene(bound("a"), waiting("b", cpu="4"))
    before = view.peek(CLUSTER).facts()
    assert told(view) == told(view)
    assert view.peek(CLUSTER).facts() == before
