"""Node lifecycle: when a node counts as lost, which taints follow from what it says, and what becomes of its pods."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.nodelifecycle.controller import CONTROLLER, Sign, reconcile
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.view import View
from mooring.testing import node, pod
from mooring.testing.conditions import has_condition
from mooring.testing.crashes import survives_every_crash
from mooring.testing.views import NOON, view_of
from tests.builtin.town import LIFECYCLE, NODES, Town, condition

KEY = Key("", "a")
LOST = {"metadata": {"annotations": {"mooring.dev/lost": "true"}}}
READY = {"Ready": "True", "MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False"}


def saying(conditions: dict[str, str], **options: Any) -> Object:
    found = node("a", **options)
    found["metadata"]["creationTimestamp"] = timestamp(NOON - timedelta(hours=1))
    found["status"]["conditions"] = [
        {"type": kind, "status": status, "reason": "R", "message": "m", "lastTransitionTime": timestamp(NOON)}
        for kind, status in conditions.items()
    ]
    return found


def lease(ago: float) -> Object:
    renewed = f"{(NOON - timedelta(seconds=ago)).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
    metadata = {"name": "a", "namespace": "kube-node-lease"}
    spec = {"holderIdentity": "a", "renewTime": renewed}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def with_all(said: dict[str, str]) -> dict[str, str]:
    """A node that is unknown is so in everything."""
    return {**READY, **said} if said.get("Ready") != "Unknown" else dict.fromkeys(READY, "Unknown")


def sign(ago: float, of: Object, said: str = "True") -> Sign:
    return Sign(of["spec"]["renewTime"], (said, "R"), NOON - timedelta(seconds=ago))


def look(*objects: Object, memory: Any = None, now: datetime = NOON) -> tuple[Decision, View]:
    view = view_of(objects, now, memory=memory)
    return reconcile(KEY, view, now), view


def decide(*objects: Object, memory: Any = None) -> Decision:
    return look(*objects, memory=memory)[0]


def conditions(decision: Decision) -> dict[str, tuple[str, str]]:
    (patch,) = decision.status
    assert isinstance(patch, Patch)
    return {c["type"]: (c["status"], c["reason"]) for c in patch.body["status"]["conditions"]}


UNKNOWN = ("Unknown", "NodeStatusUnknown")
NEVER = ("Unknown", "NodeStatusNeverUpdated")


def test_a_node_that_stopped_renewing_its_lease_is_unknown_in_all_it_said() -> None:
    silent = lease(60)
    decision = decide(saying({**READY, "NetworkUnavailable": "False"}), silent, memory=sign(51, silent))
    assert conditions(decision) == {
        **dict.fromkeys(READY, UNKNOWN),
        "NetworkUnavailable": ("False", "R"),
    }
    (patch,) = decision.status
    ready = patch.body["status"]["conditions"][0]  # type: ignore[union-attr]
    assert ready["message"] == "Kubelet stopped posting node status."
    assert ready["lastHeartbeatTime"] == timestamp(NOON - timedelta(seconds=60))
    (event,) = decision.events
    assert (event.reason, event.message) == ("NodeNotReady", "Node a status is now: NodeNotReady")


def test_a_node_that_never_said_anything_is_unknown_after_a_minute() -> None:
    new = saying({})
    new["metadata"]["creationTimestamp"] = timestamp(NOON - timedelta(seconds=59))
    assert not decide(new).status
    new["metadata"]["creationTimestamp"] = timestamp(NOON - timedelta(seconds=60))
    decision = decide(new)
    assert conditions(decision) == dict.fromkeys(READY, NEVER)
    assert not decision.events


@pytest.mark.parametrize(
    ("why", "memory"),
    [
        ("we have just begun to look", lambda renewed: None),
        ("it was heard of less than fifty seconds ago", lambda renewed: sign(49, renewed)),
        ("its lease was renewed since", lambda renewed: sign(200, lease(300))),
        ("it said something else since", lambda renewed: sign(200, renewed, said="False")),
    ],
)
def test_a_node_is_given_time(why: str, memory: Any) -> None:
    renewed = lease(100)
    assert decide(saying(READY), renewed, memory=memory(renewed)).empty, why


def test_our_own_word_is_no_sign_of_life() -> None:
    silent = lease(200)
    decision = decide(saying({"Ready": "Unknown"}), silent, memory=sign(100, silent))
    assert isinstance(decision.memory, Sign)
    assert decision.memory.at == NOON - timedelta(seconds=100)


def test_a_node_that_is_alive_does_not_keep_time_moving_and_one_that_is_late_does() -> None:
    alive, late = lease(5), lease(45)
    _, view = look(saying(READY), alive, memory=sign(5, alive))
    assert (view.timers, view.polls) == (set(), {NOON + timedelta(seconds=35)})
    _, view = look(saying(READY), late, memory=sign(45, late))
    assert (view.timers, view.polls) == ({NOON + timedelta(seconds=5)}, set())


def taints(decision: Decision) -> set[str]:
    (patch,) = decision.intent
    assert isinstance(patch, Patch)
    return {f"{t['key'].removeprefix('node.kubernetes.io/')}:{t['effect']}" for t in patch.body["spec"]["taints"] or ()}


@pytest.mark.parametrize(
    ("why", "said", "before", "after"),
    [
        ("not ready", {"Ready": "False"}, [], {"not-ready:NoSchedule"}),
        ("unknown", {"Ready": "Unknown"}, [], {"unreachable:NoSchedule"}),
        (
            "from the one to the other",
            {"Ready": "Unknown"},
            ["node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/not-ready:NoExecute"],
            {"unreachable:NoSchedule", "not-ready:NoExecute"},
        ),
        ("low on memory", {"Ready": "True", "MemoryPressure": "True"}, [], {"memory-pressure:NoSchedule"}),
        ("low on disk", {"Ready": "True", "DiskPressure": "True"}, [], {"disk-pressure:NoSchedule"}),
        ("low on processes", {"Ready": "True", "PIDPressure": "True"}, [], {"pid-pressure:NoSchedule"}),
        ("cut off", {"Ready": "True", "NetworkUnavailable": "True"}, [], {"network-unavailable:NoSchedule"}),
        (
            "ready again",
            {"Ready": "True", "MemoryPressure": "False"},
            [
                "node.kubernetes.io/unreachable:NoSchedule",
                "node.kubernetes.io/unreachable:NoExecute",
                "node.kubernetes.io/not-ready:NoExecute",
                "node.kubernetes.io/memory-pressure:NoSchedule",
                "gpu=a:NoExecute",
            ],
            {"gpu:NoExecute"},
        ),
        # As the real one does, even before the node has said a word.
        ("silent yet", {}, ["node.kubernetes.io/not-ready:NoSchedule"], set()),
    ],
)
def test_taints_say_what_the_conditions_are(why: str, said: dict[str, str], before: list[str], after: set[str]) -> None:
    renewed = lease(1)
    found = saying(with_all(said) if said else {}, taints=before)
    found["metadata"]["creationTimestamp"] = timestamp(NOON)
    assert taints(decide(found, renewed, memory=sign(1, renewed, said.get("Ready", "")))) == after, why


def test_a_cordon_is_a_taint_and_goes_with_it() -> None:
    cordoned = saying(READY)
    cordoned["spec"]["unschedulable"] = True
    assert taints(decide(cordoned, lease(1))) == {"unschedulable:NoSchedule"}
    tainted = saying(READY, taints=["node.kubernetes.io/unschedulable:NoSchedule"])
    assert taints(decide(tainted, lease(1))) == set()


def test_a_taint_keeps_its_value_and_time_when_another_comes() -> None:
    found = saying({"Ready": "False"})
    found["spec"]["taints"] = [{"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}]
    (patch,) = decide(found, lease(1)).intent
    assert patch.body["spec"]["taints"] == [  # type: ignore[union-attr]
        {"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"},
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule", "timeAdded": timestamp(NOON)},
    ]


def test_pods_of_a_node_that_is_not_ready_are_not_ready_either() -> None:
    def on_node(name: str, ready: str) -> Object:
        found = pod(name, node="a")
        found["status"]["conditions"] = [{"type": "Ready", "status": ready}, {"type": "Initialized", "status": "True"}]
        return found

    lost = saying({"Ready": "Unknown", **dict.fromkeys(("MemoryPressure", "DiskPressure", "PIDPressure"), "Unknown")})
    lost["spec"]["taints"] = [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]
    decision = decide(lost, on_node("p", "True"), on_node("q", "False"))
    (patch,) = decision.children
    assert patch.key.name == "p"
    assert [(c["type"], c["status"]) for c in patch.body["status"]["conditions"]] == [  # type: ignore[union-attr]
        ("Ready", "False"), ("Initialized", "True"),
    ]  # fmt: skip
    assert [(event.reason, event.message) for event in decision.events] == [("NodeNotReady", "Node is not ready")]


def test_a_node_that_is_well_is_left_alone() -> None:
    assert decide(saying(READY, taints=["gpu=a:NoSchedule"]), lease(1), pod("p", node="a")).empty


# At work

CONTROLLERS = (NODES, *LIFECYCLE)


def test_a_lost_node_is_unreachable_fifty_seconds_later() -> None:
    town = Town(node("a"), node("b"), controllers=CONTROLLERS, settled=True)
    town.patch("Node", "a", LOST)
    town.run(49)
    assert has_condition(town.get("Node", "a"), "Ready")
    town.run(1)
    found = town.get("Node", "a")
    assert has_condition(found, "Ready", "Unknown")
    assert found is not None
    assert {(t["key"], t["effect"]) for t in found["spec"]["taints"]} == {
        ("node.kubernetes.io/unreachable", "NoSchedule"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
    }


def test_a_node_that_comes_back_is_ready_again_with_its_pods_and_without_taints() -> None:
    here = pod("p", nodeName="a", tolerations=["node.kubernetes.io/unreachable:NoExecute"])
    town = Town(node("a"), node("b"), here, controllers=CONTROLLERS, settled=True)
    town.patch("Node", "a", LOST)
    town.run()
    assert has_condition(town.get("Pod", "p"), "Ready", "False")
    town.patch("Node", "a", {"metadata": {"annotations": {"mooring.dev/lost": None}}})
    town.run()
    found = town.get("Node", "a")
    assert found is not None
    assert has_condition(found, "Ready")
    assert "taints" not in found["spec"]
    assert has_condition(town.get("Pod", "p"), "Ready")


def test_a_node_nobody_speaks_for_is_unreachable_as_well() -> None:
    town = Town(node("a"), controllers=(CONTROLLER,), settled=True)
    assert condition(town.get("Node", "a"), "Ready")["reason"] == "NodeStatusNeverUpdated"
    assert town.elapsed() == 60


def test_any_crash_ends_in_the_same_place() -> None:
    def populate(simulation: Any) -> None:
        registry, now = simulation.registry, simulation.now
        lost = node("a")
        lost["metadata"]["annotations"] = {"mooring.dev/lost": "yes"}
        for obj in (lost, node("b", unschedulable=True), node("c"), pod("p", nodeName="a"), pod("q", nodeName="b")):
            registry.create(registry.resource("v1", obj["kind"]), obj, now=now)

    assert survives_every_crash(CONTROLLERS, populate) > 10
