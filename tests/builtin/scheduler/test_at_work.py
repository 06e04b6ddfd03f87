"""The scheduler in a cluster that changes: who is woken, who waits, and what a crash leaves behind."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from mooring.builtin.nodelifecycle.controller import CONTROLLER as NODE_LIFECYCLE
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.kube.objects import Object
from mooring.runtime.drivers.faults import Faults
from mooring.testing import node, pod
from mooring.testing.crashes import survives_every_crash
from tests.builtin.town import NODES, Town, condition

ANTI = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
}
NEAR = {"podAffinity": ANTI["podAntiAffinity"]}


def ready(name: str, **facts: Any) -> Object:
    return node(name, **facts)


def town(*objects: Object, **options: Any) -> Town:
    return Town(*objects, controllers=(SCHEDULER, NODES, NODE_LIFECYCLE), **options)


def test_a_pod_that_waits_lands_when_a_node_comes() -> None:
    place = town(pod("p"), settled=True)
    assert condition(place.get("Pod", "p"), "PodScheduled")["reason"] == "Unschedulable"
    place.create(ready("a"))
    place.run()
    assert place.placed() == {"p": "a"}


def test_a_pod_that_waits_lands_when_another_goes() -> None:
    place = town(ready("a", cpu="2"), settled=True)
    place.create(pod("first", cpu="2"))
    place.run()
    place.create(pod("second", cpu="2"))
    place.run()
    assert place.placed() == {"first": "a"}
    place.delete("Pod", "first")
    place.run()
    assert place.placed() == {"second": "a"}


@pytest.mark.parametrize(
    ("obstacle", "waiting", "change"),
    [
        ({"labels": {}}, {"nodeSelector": {"disk": "ssd"}}, {"metadata": {"labels": {"disk": "ssd"}}}),
        ({"taints": ["gpu=yes:NoSchedule"]}, {}, {"spec": {"taints": None}}),
        ({"unschedulable": True}, {}, {"spec": {"unschedulable": False, "taints": None}}),
    ],
    ids=["a label", "a taint that goes", "an end to the cordon"],
)
def test_a_pod_lands_for_what_changes_on_a_node(obstacle: Object, waiting: Object, change: Object) -> None:
    place = town(ready("a", **obstacle), pod("p", **waiting), settled=True)
    assert not place.placed()
    place.patch("Node", "a", change)
    place.run()
    assert place.placed() == {"p": "a"}


def test_affinity_is_met_by_a_pod_that_comes_later() -> None:
    place = town(ready("a"), pod("p", affinity=NEAR), settled=True)
    assert not place.placed()
    place.create(pod("db", labels={"app": "db"}))
    place.run()
    assert set(place.placed()) == {"p", "db"}


def test_anti_affinity_ends_when_the_other_pod_goes() -> None:
    place = town(ready("a"), settled=True)
    place.create(pod("db", labels={"app": "db"}))
    place.run()
    place.create(pod("p", affinity=ANTI))
    place.run()
    assert set(place.placed()) == {"db"}
    place.delete("Pod", "db")
    place.run()
    assert set(place.placed()) == {"p"}


def test_what_cannot_help_does_not_wake() -> None:
    place = town(ready("a", cpu="2"), pod("p", cpu="4"), settled=True)
    told = [event for event in place.all("Event") if event["reason"] == "FailedScheduling"]
    place.create(pod("other", cpu="1"))
    place.run()
    place.delete("Pod", "other")
    place.run()
    assert [event for event in place.all("Event") if event["reason"] == "FailedScheduling"] == told


def test_a_gate_that_is_lifted_lets_a_pod_land() -> None:
    place = town(ready("a"), pod("p", schedulingGates=[{"name": "example.com/quota"}]), settled=True)
    assert condition(place.get("Pod", "p"), "PodScheduled")["reason"] == "SchedulingGated"
    place.patch("Pod", "p", {"spec": {"schedulingGates": None}})
    place.run()
    assert place.placed() == {"p": "a"}


def preemption() -> list[Object]:
    # Priorities come from classes: an API server does not take a bare number.
    classes = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in (("low", 1), ("high", 1000))
    ]
    return [*classes, ready("a", cpu="2")]


def test_a_preemptor_takes_the_place_of_its_victim() -> None:
    place = town(*preemption(), settled=True)
    place.create(pod("low", cpu="2", priorityClassName="low", terminationGracePeriodSeconds=5))
    place.run()
    place.create(pod("high", cpu="2", priorityClassName="high"))
    place.run(0.5)
    high, low = place.get("Pod", "high"), place.get("Pod", "low")
    assert high is not None
    assert high["status"]["nominatedNodeName"] == "a"
    assert condition(low, "DisruptionTarget")["reason"] == "PreemptionByScheduler"
    assert low is not None
    assert "deletionTimestamp" in low["metadata"]
    place.run()
    assert place.placed() == {"high": "a"}
    assert place.events("Preempted") == [f"Preempted by pod {high['metadata']['uid']} on node a"]


def test_any_crash_ends_in_the_same_place() -> None:
    def populate(simulation: Any) -> None:
        registry = simulation.registry
        for obj in (*preemption(), pod("low", cpu="2", priorityClassName="low", terminationGracePeriodSeconds=1)):
            registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=simulation.now)
        simulation.run()
        for obj in (pod("high", cpu="2", priorityClassName="high"), pod("more", cpu="2", priorityClassName="low")):
            registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=simulation.now)

    assert survives_every_crash((SCHEDULER, NODES), populate) > 5


@pytest.mark.parametrize("seed", range(6))
def test_a_pod_that_waits_says_so_whatever_became_of_the_first_word(seed: int) -> None:
    place = town(pod("p"), seed=seed, faults=Faults(fail_before=0.5, conflict=0.3))
    place.run()
    place.simulation.quiet()
    place.run()
    assert condition(place.get("Pod", "p"), "PodScheduled")["reason"] == "Unschedulable"


@pytest.mark.parametrize("seed", range(6))
def test_faults_never_overcommit_a_node_or_lose_a_pod(seed: int) -> None:
    nodes = [ready(f"n{i}", cpu="4") for i in range(5)]
    pods = [pod(f"p{i}", cpu="1") for i in range(25)]
    place = town(*nodes, *pods, seed=seed, faults=Faults.everything(0.02))
    place.run()
    place.simulation.quiet()
    place.run()
    assert sorted(Counter(place.placed().values()).values()) == [4, 4, 4, 4, 4]


@pytest.mark.parametrize("seed", [*range(12), 39])
def test_faults_never_cost_more_victims_than_needed(seed: int) -> None:
    classes, nodes = preemption()[:-1], [ready(f"n{i}", cpu="4") for i in range(3)]
    place = town(*classes, *nodes, settled=True)
    for i in range(12):
        place.create(pod(f"low{i}", cpu="1", priorityClassName="low", terminationGracePeriodSeconds=2))
    place.run()
    stormy = town(after=place, seed=seed, faults=Faults.everything(0.02))
    for i in range(6):
        stormy.create(pod(f"high{i}", cpu="1", priorityClassName="high"))
    stormy.run()
    stormy.simulation.quiet()
    stormy.run()
    assert Counter(stormy.placed().values()) == {"n0": 4, "n1": 4, "n2": 4}
    assert sum(name.startswith("high") for name in stormy.placed()) == 6
