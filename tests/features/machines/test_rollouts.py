"""A new template reaches the Machines of a pool: one after the other, at people's pace, or without new Machines."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mooring.features.machines.pools.rollout import PoolLimits, SetSize, on_delete_step, rolling_step
from mooring.kube.times import timestamp
from mooring.testing.machines import machine_deployment, machine_template
from tests.features.machines.world import PoolWorld, workers


def size(
    name: str, replicas: int, available: int | None = None, existing: int | None = None, staying: int | None = None
) -> SetSize:
    """A set whose Machines are all there and available, where nothing else is said."""
    there = replicas if existing is None else existing
    return SetSize(
        name, replicas, there, replicas if available is None else available, there if staying is None else staying
    )


def own_taints(world: PoolWorld, node: str) -> list[str]:
    """Keys of taints that are not about the condition of a Node."""
    taints = world.get("Node", node)["spec"].get("taints") or ()
    return [each["key"] for each in taints if not each["key"].startswith("node.kubernetes.io/")]


NEW, OLD = "new", "old"
# Limits, the new set, old sets, and the next sizes.
ROLLING = {
    "a first set": (PoolLimits(3), size(NEW, 0), [], {NEW: 3}),
    "one more beyond": (PoolLimits(3), size(NEW, 0), [size(OLD, 3)], {NEW: 1}),
    "the new one comes first": (PoolLimits(3), size(NEW, 1, available=0), [size(OLD, 3)], {}),
    "an old one goes": (PoolLimits(3), size(NEW, 1), [size(OLD, 3)], {OLD: 2}),
    "its host is awaited": (PoolLimits(3), size(NEW, 1), [size(OLD, 2, existing=3)], {}),
    "the next comes": (PoolLimits(3), size(NEW, 1), [size(OLD, 2)], {NEW: 2}),
    "an old one goes first without a spare": (PoolLimits(2, 0, 1), size(NEW, 0), [size(OLD, 2)], {OLD: 1}),
    "then its host is free": (PoolLimits(2, 0, 1), size(NEW, 0), [size(OLD, 1)], {NEW: 1}),
    "not before": (PoolLimits(2, 0, 1), size(NEW, 0), [size(OLD, 1, existing=2)], {}),
    "what is broken goes at once": (PoolLimits(3), size(NEW, 1, available=0), [size(OLD, 3, available=2)], {}),
    "what is broken goes before what is not": (PoolLimits(3), size(NEW, 1), [size("a", 2), size(OLD, 1, 0)], {OLD: 0}),
    "the oldest goes first": (PoolLimits(3), size(NEW, 1), [size("a", 2), size("b", 1)], {"a": 1}),
    "all is done": (PoolLimits(3), size(NEW, 3), [], {}),
    "the pool shrinks": (PoolLimits(1), size(NEW, 3), [], {NEW: 1}),
    "the pool goes to nothing": (PoolLimits(0), size(NEW, 0), [size(OLD, 2)], {OLD: 0}),
}


@pytest.mark.parametrize("case", ROLLING)
def test_rolling_takes_one_step_at_a_time(case: str) -> None:
    limits, new, old, expected = ROLLING[case]
    assert rolling_step(limits, new, old) == expected


ON_DELETE = {
    "old ones stay": (PoolLimits(3), size(NEW, 0), [size(OLD, 3)], {}),
    "an old one that is deleted is not made again": (
        PoolLimits(3),
        size(NEW, 0),
        [size(OLD, 3, existing=3, staying=2)],
        {OLD: 2},
    ),
    "a new one takes its place": (PoolLimits(3), size(NEW, 0), [size(OLD, 2)], {NEW: 1}),
    "a larger pool is of the new template": (PoolLimits(5), size(NEW, 1), [size(OLD, 2)], {NEW: 3}),
    "a smaller pool loses old ones": (PoolLimits(1), size(NEW, 1), [size(OLD, 2)], {OLD: 0}),
}


@pytest.mark.parametrize("case", ON_DELETE)
def test_on_delete_follows_what_people_delete(case: str) -> None:
    limits, new, old, expected = ON_DELETE[case]
    assert on_delete_step(limits, new, old) == expected


def test_a_full_pool_without_a_spare_host_says_what_blocks_its_rollout() -> None:
    world = PoolWorld(machine_deployment(), hosts=workers("a", "b"))
    world.run()
    world.upgrade()
    world.run()
    told = world.condition("MachineDeployment", "worker-pool", "RollingOut")
    assert (told["status"], told["reason"]) == ("True", "RolloutBlocked")
    assert "set maxSurge to 0 and maxUnavailable to 1" in told["message"]
    assert len(world.told("RolloutBlocked")) == 1
    # Nothing that worked was given up.
    assert world.versions() == {"a": "v1.34.1", "b": "v1.34.1"}
    assert world.status()["availableReplicas"] == 2


def test_with_no_surge_and_one_away_the_hosts_are_used_again() -> None:
    world = PoolWorld(machine_deployment(surge=0, unavailable=1), hosts=workers("a", "b"))
    world.run()
    world.upgrade()
    world.run()
    assert world.versions() == {"a": "v1.35.0", "b": "v1.35.0"}
    assert world.condition("MachineDeployment", "worker-pool", "RollingOut")["status"] == "False"
    assert (world.status()["replicas"], world.status()["upToDateReplicas"]) == (2, 2)
    assert len(world.all("MachineSet")) == 1


def test_a_blocked_rollout_goes_on_when_a_host_comes() -> None:
    world = PoolWorld(machine_deployment(), hosts=workers("a", "b"))
    world.run()
    world.upgrade()
    world.run()
    world.put(workers("c")[0])
    world.run()
    assert set(world.versions().values()) == {"v1.35.0"}
    assert len(world.nodes_of()) == 2


def test_going_back_before_the_end_takes_the_old_set_up_again() -> None:
    world = PoolWorld(machine_deployment(), hosts=workers("a", "b"))
    world.run()
    (first,) = world.all("MachineSet")
    world.upgrade()
    world.run()
    world.upgrade("v1.34.1")
    world.run()
    assert list(world.all("MachineSet")) == [first]
    assert world.versions() == {"a": "v1.34.1", "b": "v1.34.1"}
    assert (
        world.get("MachineSet", first)["metadata"]["annotations"]["machinedeployment.clusters.x-k8s.io/revision"] == "3"
    )


def test_a_template_that_is_not_there_changes_nothing_and_is_named() -> None:
    world = PoolWorld(machine_deployment(), hosts=workers("a", "b"))
    world.run()
    before = sorted(world.all("Machine"))
    world.change(template={"spec": {"infrastructureRef": {"name": "new-template"}}})
    world.run()
    told = world.condition("MachineDeployment", "worker-pool", "RollingOut")
    assert (told["status"], told["reason"]) == ("True", "TemplateNotFound")
    assert "there is no ByoMachineTemplate new-template" in told["message"]
    assert sorted(world.all("Machine")) == before


def test_a_set_that_somebody_deletes_is_replaced_when_its_hosts_are_free() -> None:
    world = PoolWorld(machine_deployment(), hosts=workers("a", "b"))
    world.run()
    (old,) = world.all("MachineSet")
    before = set(world.all("Machine"))
    world.delete("MachineSet", old)
    world.run()
    assert world.nodes_of() == ["a", "b"]
    assert not before & set(world.all("Machine"))


def test_on_delete_replaces_what_people_delete() -> None:
    rollout = {"strategy": {"type": "OnDelete"}}
    world = PoolWorld(machine_deployment(rollout=rollout), hosts=workers("a", "b"))
    world.run()
    world.upgrade()
    world.run()
    assert world.versions() == {"a": "v1.34.1", "b": "v1.34.1"}
    told = world.condition("MachineDeployment", "worker-pool", "RollingOut")
    assert "replaced when somebody deletes them" in told["message"]
    world.delete("Machine", min(world.all("Machine")))
    world.run()
    assert sorted(world.versions().values()) == ["v1.34.1", "v1.35.0"]
    assert world.status()["replicas"] == 2


def test_labels_taints_and_annotations_reach_nodes_without_new_machines() -> None:
    taint = {"key": "team", "value": "a", "effect": "NoSchedule", "propagation": "Always"}
    template = machine_template("worker-template", labels={"tier": "one"}, taints=[taint])
    world = PoolWorld(machine_deployment(replicas=1, template=template), hosts=workers("a"))
    world.run()
    before = sorted(world.all("Machine"))
    node = world.get("Node", "a")
    assert node["metadata"]["labels"]["tier"] == "one"
    assert own_taints(world, "a") == ["team"]
    world.patch("Node", "a", {"metadata": {"labels": {"people": "own"}}})
    world.change(
        template={
            "metadata": {"labels": {"tier": None, "zone": "z"}, "annotations": {"example.com/note": "hello"}},
            "spec": {"taints": None},
        }
    )
    world.run()
    node = world.get("Node", "a")
    assert "tier" not in node["metadata"]["labels"]
    assert (node["metadata"]["labels"]["zone"], node["metadata"]["labels"]["people"]) == ("z", "own")
    assert node["metadata"]["annotations"]["example.com/note"] == "hello"
    assert own_taints(world, "a") == []
    assert sorted(world.all("Machine")) == before


def test_what_machines_keep_to_themselves_stays_off_the_node() -> None:
    world = PoolWorld(machine_deployment(replicas=1), hosts=workers("a"))
    world.run()
    labels = world.get("Node", "a")["metadata"]["labels"]
    assert not [name for name in labels if name.startswith("cluster.x-k8s.io/") or name == "machine-template-hash"]


def test_a_taint_for_the_beginning_is_put_on_once() -> None:
    taint = {"key": "warming-up", "effect": "NoSchedule", "propagation": "OnInitialization"}
    template = machine_template("worker-template", taints=[taint])
    world = PoolWorld(machine_deployment(replicas=1, template=template), hosts=workers("a"))
    world.run()
    assert own_taints(world, "a") == ["warming-up"]
    world.patch("Node", "a", {"spec": {"taints": None}})
    world.run()
    assert own_taints(world, "a") == []


def test_machines_older_than_a_moment_are_replaced_when_it_comes() -> None:
    world = PoolWorld(machine_deployment(replicas=1, surge=0, unavailable=1), hosts=workers("a"))
    world.run()
    before = sorted(world.all("Machine"))
    world.change(rollout={"after": timestamp(world.simulation.now + timedelta(minutes=5))})
    world.run(60)
    assert sorted(world.all("Machine")) == before
    world.run()
    (after,) = world.all("Machine")
    assert after not in before
    assert world.nodes_of() == ["a"]


def test_a_machine_is_available_when_it_was_ready_for_long_enough() -> None:
    template = machine_template("worker-template", minReadySeconds=30)
    world = PoolWorld(machine_deployment(replicas=1, template=template), hosts=workers("a"))
    world.run(10)
    assert (world.status()["readyReplicas"], world.status()["availableReplicas"]) == (1, 0)
    world.run(60)
    assert world.status()["availableReplicas"] == 1
