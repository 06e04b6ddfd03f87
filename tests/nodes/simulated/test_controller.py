"""Simulated nodes: they get ready, run pods, and can be lost."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mooring.builtin.nodelifecycle.pod_gc import CONTROLLER as NODE_ORPHANS
from mooring.builtin.nodelifecycle.pod_gc import QUARANTINE_TIME
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.kube.durations import parse_duration
from mooring.kube.objects import Object
from mooring.nodes.simulated.controller import simulated_nodes
from mooring.testing import node, pod
from mooring.testing.conditions import has_condition
from mooring.testing.crashes import survives_every_crash
from tests.builtin.town import LIFECYCLE, NODES, Town, condition

CONTROLLERS = (SCHEDULER, NODES, NODE_ORPHANS, *LIFECYCLE)
LOST = {"metadata": {"annotations": {"mooring.dev/lost": "true"}}}


def lasting(name: str, duration: str = "", code: str = "", **spec: Any) -> Object:
    found = pod(name, **spec)
    notes = {"mooring.dev/duration": duration, "mooring.dev/exit-code": code}
    found["metadata"]["annotations"] = {key: value for key, value in notes.items() if value}
    return found


def phase(town: Town, name: str) -> str:
    found = town.get("Pod", name)
    return "" if found is None else str(found["status"]["phase"])


def test_a_new_node_gets_ready_loses_its_taint_and_keeps_a_lease() -> None:
    town = Town(node("a"), controllers=CONTROLLERS, settled=True)
    found = town.get("Node", "a")
    assert found is not None
    assert has_condition(found, "Ready")
    assert "taints" not in found["spec"]
    lease = town.get("Lease", "a", "kube-node-lease")
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == "a"


def test_heartbeats_do_not_keep_time_moving_but_go_on_while_it_does() -> None:
    town = Town(node("a"), lasting("p", "95s"), controllers=CONTROLLERS, settled=True)
    assert town.elapsed() == 96
    lease = town.get("Lease", "a", "kube-node-lease")
    assert lease is not None
    assert lease["spec"]["renewTime"] == "2026-01-01T00:01:30.000000Z"


def test_only_nodes_that_are_annotated_are_simulated_unless_all_are() -> None:
    fake = node("fake")
    fake["metadata"]["annotations"] = {"kwok.x-k8s.io/node": "fake"}
    town = Town(fake, node("real"), controllers=(simulated_nodes(),), settled=True)
    assert has_condition(town.get("Node", "fake"), "Ready")
    assert condition(town.get("Node", "real"), "Ready") == {}


def test_a_pod_runs_and_is_ready_a_moment_after_it_was_bound() -> None:
    town = Town(node("a"), pod("p"), controllers=CONTROLLERS, settled=True)
    assert phase(town, "p") == "Running"
    assert has_condition(town.get("Pod", "p"), "Ready")
    assert town.elapsed() == 1


@pytest.mark.parametrize(("code", "end"), [("", "Succeeded"), ("3", "Failed")])
def test_a_pod_that_is_told_to_ends(code: str, end: str) -> None:
    town = Town(node("a"), lasting("p", "1m30s", code, restartPolicy="Never"), controllers=CONTROLLERS, settled=True)
    assert phase(town, "p") == end
    assert town.elapsed() == 91
    assert has_condition(town.get("Pod", "p"), "Ready", "False")


def test_a_deleted_pod_stops_within_a_second_whatever_its_grace() -> None:
    town = Town(node("a"), pod("p", terminationGracePeriodSeconds=70), controllers=CONTROLLERS, settled=True)
    town.delete("Pod", "p")
    town.run(0.5)
    assert phase(town, "p") == "Running"
    town.run()
    assert phase(town, "p") == ""
    assert town.elapsed() == 2


def test_pods_of_a_lost_node_are_never_stopped_and_go_with_the_node() -> None:
    town = Town(
        node("a"),
        node("b"),
        pod("p", nodeSelector={"kubernetes.io/hostname": "a"}),
        controllers=CONTROLLERS,
        settled=True,
    )
    town.patch("Node", "a", LOST)
    town.run()
    going = town.get("Pod", "p")
    assert going is not None
    assert "deletionTimestamp" in going["metadata"]
    assert town.elapsed() == 50 + 300
    town.run()
    assert town.get("Pod", "p") is not None
    town.delete("Node", "a")
    town.run()
    assert town.get("Pod", "p") is None


def test_pods_of_a_node_that_is_gone_fail_and_go_even_for_one_who_never_saw_it() -> None:
    stray = pod("p", node="gone")
    town = Town(stray, controllers=(NODE_ORPHANS,))
    town.run(39)
    assert phase(town, "p") == "Pending"
    town.run()
    assert phase(town, "p") == ""
    assert town.elapsed() == QUARANTINE_TIME.total_seconds()


def test_a_node_that_comes_back_is_ready_again() -> None:
    town = Town(node("a"), controllers=CONTROLLERS, settled=True)
    town.patch("Node", "a", LOST)
    town.run()
    town.patch("Node", "a", {"metadata": {"annotations": {"mooring.dev/lost": None}}})
    town.run()
    found = town.get("Node", "a")
    assert has_condition(found, "Ready")
    assert found is not None
    assert "taints" not in found["spec"]


@pytest.mark.parametrize(
    ("said", "ends", "seconds"),
    [
        ({"restartPolicy": "Never"}, "Succeeded", 11),
        ({"restartPolicy": "OnFailure"}, "Succeeded", 11),
        ({"restartPolicy": "Always"}, "Running", 1),
        ({"restartPolicy": "Never", "duration": "30s", "code": "3"}, "Failed", 31),
        ({"restartPolicy": "Never", "activeDeadlineSeconds": 5}, "Failed", 6),
        ({"restartPolicy": "Never", "activeDeadlineSeconds": 50}, "Succeeded", 11),
        ({"activeDeadlineSeconds": 5}, "Failed", 6),
    ],
    ids=str,
)
def test_a_pod_that_nobody_owns_ends_by_its_policy_and_deadline(said: dict[str, Any], ends: str, seconds: int) -> None:
    town = Town(node("a"), lasting("p", **said), controllers=CONTROLLERS, settled=True)
    assert (phase(town, "p"), town.elapsed()) == (ends, seconds)


def test_a_pod_past_its_deadline_says_so() -> None:
    town = Town(node("a"), lasting("p", activeDeadlineSeconds=5), controllers=CONTROLLERS, settled=True)
    found = town.get("Pod", "p")
    assert found is not None
    told = "Pod was active on the node longer than the specified deadline"
    assert (found["status"]["reason"], found["status"]["message"]) == ("DeadlineExceeded", told)


@pytest.mark.parametrize(
    ("text", "seconds"), [("10s", 10.0), ("1h30m", 5400.0), ("500ms", 0.5), ("1.5m", 90.0), ("", None), ("soon", None)]
)  # fmt: skip
def test_durations(text: str, seconds: float | None) -> None:
    assert parse_duration(text) == (None if seconds is None else timedelta(seconds=seconds))


def test_any_crash_ends_in_the_same_place() -> None:
    def populate(simulation: Any) -> None:
        registry, now = simulation.registry, simulation.now
        for obj in (node("a"), lasting("p", "5s"), pod("q", terminationGracePeriodSeconds=2)):
            registry.create(registry.resource("v1", obj["kind"]), obj, now=now)

    assert survives_every_crash(CONTROLLERS, populate) > 5


def test_pods_that_come_one_after_another_share_no_address_until_one_has_finished() -> None:
    """The range of the node has five addresses to give."""
    here = node("a")
    here["spec"]["podCIDR"] = "10.1.0.0/29"
    town = Town(here, controllers=CONTROLLERS, settled=True)
    for name in ("one", "two", "three", "four"):
        town.create(pod(name))
        town.run()
    town.create(lasting("short", "1s", restartPolicy="Never"))
    town.run()
    given = {name: found["status"]["podIP"] for name, found in town.pods().items()}
    assert sorted(given.values()) == [f"10.1.0.{number}" for number in range(2, 7)]
    assert phase(town, "short") == "Succeeded"
    town.create(pod("last"))
    town.run()
    assert town.pods()["last"]["status"]["podIP"] == given["short"]
