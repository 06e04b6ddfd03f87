"""Machines leave in order: hooks are asked, pods are evicted as their budgets allow, and the host is given back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from mooring.features.machines.api.machines import Machine
from mooring.features.machines.pools.victims import victims
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.testing.builders import pod
from mooring.testing.machines import machine_deployment, machine_template
from mooring.testing.workloads import budget
from tests.features.machines.world import PoolWorld, workers

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def seen(name: str, *, days: int = 0, node: bool = True, **metadata: Any) -> Machine:
    """A Machine that was made some days ago."""
    created = timestamp(NOON - timedelta(days=days))
    obj: Object = {"metadata": {"name": name, "creationTimestamp": created, **metadata}}
    if node:
        obj["status"] = {"nodeRef": {"name": name}}
    return msgspec.convert(obj, Machine)


MARKED: Any = {"cluster.x-k8s.io/delete-machine": "now"}
ORDERS = {
    "by name where nothing else is said": ([seen("b"), seen("a")], "", ["a", "b"]),
    "the oldest": ([seen("a", days=1), seen("b", days=9)], "Oldest", ["b", "a"]),
    "the newest": ([seen("a", days=9), seen("b", days=1)], "Newest", ["b", "a"]),
    "one without a Node": ([seen("a", days=99), seen("b", node=False)], "Oldest", ["b", "a"]),
    "a marked one": ([seen("a", node=False), seen("b", annotations=MARKED)], "Newest", ["b", "a"]),
    "one that is going": (
        [seen("a", annotations=MARKED), seen("b", deletionTimestamp=timestamp(NOON))],
        "",
        ["b", "a"],
    ),
}


@pytest.mark.parametrize("first", ORDERS)
def test_the_first_to_go_is(first: str) -> None:
    machines, order, expected = ORDERS[first]
    assert [each.metadata.name for each in victims(machines, order, 9, NOON)] == expected
    assert [each.metadata.name for each in victims(machines, order, 1, NOON)] == expected[:1]


def on_node(name: str, node: str, **parts: Any) -> Object:
    made = pod(name, node=node, labels={"app": "web"}, **parts)
    made["metadata"].setdefault("namespace", "default")
    return made


def pool_with_pods(*pods: Object, **deletion: int) -> PoolWorld:
    template = machine_template("worker-template")
    if deletion:
        template["spec"]["deletion"] = deletion
    world = PoolWorld(machine_deployment(replicas=1, template=template), hosts=workers("a"))
    world.run()
    for each in pods:
        world.put(each)
    world.run(5)
    return world


def test_pods_leave_before_the_machine_does() -> None:
    world = pool_with_pods(on_node("web-0", "a"), on_node("web-1", "a"))
    world.change(replicas=0)
    world.run()
    assert not world.all("Pod")
    assert not world.all("Machine")
    assert not world.all("Node")
    assert world.get("ByoHost", "a")["status"]["phase"] == "Available"


def test_a_budget_that_allows_nothing_holds_the_machine_and_is_named() -> None:
    world = pool_with_pods(on_node("web-0", "a"))
    world.put(budget("careful", "web", minAvailable=1))
    world.run(5)
    world.change(replicas=0)
    world.run(120)
    (machine,) = world.all("Machine")
    told = world.condition("Machine", machine, "Deleting")
    assert (told["status"], told["reason"]) == ("True", "DrainingNode")
    assert "default/web-0" in told["message"]
    assert "disruption budget" in told["message"]
    assert world.get("Node", "a")["spec"]["unschedulable"] is True
    assert world.get("Machine", machine)["status"]["phase"] == "Deleting"
    world.delete("PodDisruptionBudget", "careful")
    world.wait(60)
    assert not world.all("Machine")


def test_a_drain_that_takes_too_long_is_given_up() -> None:
    world = pool_with_pods(on_node("web-0", "a"), nodeDrainTimeoutSeconds=30)
    world.put(budget("careful", "web", minAvailable=1))
    world.run(5)
    world.change(replicas=0)
    world.run(20)
    assert len(world.all("Machine")) == 1
    world.run(120)
    assert not world.all("Machine")


def test_pods_of_daemonsets_and_those_that_ask_for_it_stay_to_the_end() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u", "controller": True}
    daemon, asking = on_node("agent-0", "a"), on_node("calm-0", "a")
    daemon["metadata"]["ownerReferences"] = [owner]
    asking["metadata"]["labels"]["cluster.x-k8s.io/drain"] = "skip"
    world = pool_with_pods(daemon, asking)
    world.change(replicas=0)
    world.run()
    assert not world.all("Machine")
    assert sorted(world.all("Pod")) == ["agent-0", "calm-0"]


def test_a_pod_that_is_to_be_awaited_is_not_evicted() -> None:
    batch = on_node("batch-0", "a")
    batch["metadata"]["labels"]["cluster.x-k8s.io/drain"] = "wait-completed"
    world = pool_with_pods(batch)
    world.change(replicas=0)
    world.run(60)
    (machine,) = world.all("Machine")
    assert "to be awaited: default/batch-0" in world.condition("Machine", machine, "Deleting")["message"]
    world.patch("Pod", "batch-0", {"status": {"phase": "Succeeded"}}, "status")
    world.run()
    assert not world.all("Machine")


def test_a_machine_that_is_excluded_is_not_drained() -> None:
    world = pool_with_pods(on_node("web-0", "a"))
    world.put(budget("careful", "web", minAvailable=1))
    (machine,) = world.all("Machine")
    world.annotate("Machine", machine, {"machine.cluster.x-k8s.io/exclude-node-draining": ""})
    world.change(replicas=0)
    world.run()
    assert not world.all("Machine")


@pytest.mark.parametrize(
    ("prefix", "reason"),
    [
        ("pre-drain.delete.hook.machine.cluster.x-k8s.io", "WaitingForPreDrainHook"),
        ("pre-terminate.delete.hook.machine.cluster.x-k8s.io", "WaitingForPreTerminateHook"),
    ],
)
def test_hooks_of_others_are_waited_for(prefix: str, reason: str) -> None:
    world = pool_with_pods()
    (machine,) = world.all("Machine")
    world.annotate("Machine", machine, {f"{prefix}/backup": "me"})
    world.change(replicas=0)
    world.run(60)
    told = world.condition("Machine", machine, "Deleting")
    assert (told["reason"], f"{prefix}/backup" in told["message"]) == (reason, True)
    world.annotate("Machine", machine, {f"{prefix}/backup": None})
    world.run()
    assert not world.all("Machine")


def test_a_node_that_came_back_for_another_machine_is_left_alone() -> None:
    world = PoolWorld(machine_deployment(replicas=1, surge=0, unavailable=1), hosts=workers("a"))
    world.run()
    (old,) = world.all("Machine")
    world.annotate("Node", "a", {"cluster.x-k8s.io/machine": "another"})
    # Its Machine would write its name back, if it were not on its way out.
    world.annotate("Machine", old, {"pre-drain.delete.hook.machine.cluster.x-k8s.io/x": ""})
    world.delete("Machine", old)
    world.annotate("Node", "a", {"cluster.x-k8s.io/machine": "another"})
    world.run(5)
    assert world.get("Node", "a")["spec"].get("unschedulable") is not True
