"""Lost answers, repeated events, refused writes and crashes change nothing about whose host is whose."""

from __future__ import annotations

from random import Random

import pytest

from mooring.features.hosts.controllers import CONTROLLERS as HOST_CONTROLLERS
from mooring.kube.objects import Object
from mooring.nodes.simulated.controller import simulated_nodes
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.settings import Configuration
from mooring.testing.hosts import byo_host
from mooring.testing.machines import machine_deployment, machine_template
from tests.features.machines.world import OWN, PoolWorld, workers

# Hosts that are seldom heard of, so that little happens beside the story.
CALM = Configuration(settings={"host-heartbeat-timeout": "2h", "simulated-host-heartbeat": "1h"})
CONTROLLERS = (*OWN, *HOST_CONTROLLERS, simulated_nodes())
POOLS = (
    machine_deployment(template=machine_template("worker-template", labels={"purpose": "worker"})),
    machine_deployment("gpu-pool", 2, template=machine_template("gpu-template", labels={"purpose": "gpu"})),
)


def assert_apart(world: PoolWorld) -> None:
    """No host has two Machines, no Machine a host of the other pool, and no Machine is without its owner."""
    purposes = {name: host["metadata"]["labels"]["purpose"] for name, host in world.all("ByoHost").items()}
    nodes = {pool: world.nodes_of(pool) for pool in ("worker-pool", "gpu-pool")}
    assert {purposes[name] for name in nodes["worker-pool"]} <= {"worker"}
    assert {purposes[name] for name in nodes["gpu-pool"]} <= {"gpu"}
    for names in nodes.values():
        assert len(names) == len(set(names))
    for name, machine in world.all("Machine").items():
        owners = machine["metadata"]["ownerReferences"]
        assert [each["kind"] for each in owners] == ["MachineSet"], name


@pytest.mark.parametrize("seed", range(2))
def test_two_pools_with_equal_selectors_never_swap_machines(seed: int) -> None:
    hosts = [*workers("w1", "w2", "w3"), *(byo_host(name, labels={"purpose": "gpu"}) for name in ("g1", "g2"))]
    world = PoolWorld(
        *POOLS, hosts=hosts, controllers=CONTROLLERS, configuration=CALM, seed=seed, faults=Faults.everything(0.08)
    )
    world.wait(60)
    world.change("worker-pool", replicas=3)
    world.upgrade(pool="worker-pool")
    world.change("gpu-pool", rollout={"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}})
    world.upgrade(pool="gpu-pool")
    for _ in range(10):
        world.wait(15)
        assert_apart(world)
    world.change("worker-pool", rollout={"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 2}}})
    world.run()
    assert_apart(world)
    assert [len(world.nodes_of(pool)) for pool in ("worker-pool", "gpu-pool")] == [3, 2]
    assert set(world.versions().values()) == {"v1.35.0"}
    assert len(world.all("Machine")) == len(world.all("ByoMachine")) == 5


def disturb(world: PoolWorld, choice: Random) -> None:
    """Something that a user does to a pool."""
    machines = sorted(world.all("Machine"))
    what = choice.choice(("scale", "upgrade", "delete", "mark", "wait"))
    if what == "scale":
        world.change(replicas=choice.randint(0, 4))
    elif what == "upgrade":
        world.upgrade(choice.choice(("v1.34.0", "v1.35.0", "v1.36.0")))
    elif machines and what == "delete":
        world.delete("Machine", choice.choice(machines))
    elif machines and what == "mark":
        world.annotate("Machine", choice.choice(machines), {"cluster.x-k8s.io/delete-machine": "now"})
    world.wait(choice.choice((0.1, 1, 30)))


@pytest.mark.parametrize("seed", [3])
def test_whatever_users_do_in_between_the_pool_ends_as_they_said(seed: int) -> None:
    pool = machine_deployment(surge=0, unavailable=2)
    faults = Faults.everything(0.1)
    hosts = workers("a", "b", "c", "d")
    world = PoolWorld(pool, hosts=hosts, controllers=CONTROLLERS, configuration=CALM, seed=seed, faults=faults)
    choice = Random(seed)
    for _ in range(20):
        disturb(world, choice)
        claims = [host["status"]["machineRef"]["name"] for host in world.all("ByoHost").values() if claimed(host)]
        assert len(claims) == len(set(claims))
    world.change(replicas=3)
    world.upgrade("v1.37.0")
    world.wait(600)
    assert set(world.versions().values()) == {"v1.37.0"}
    assert len(world.nodes_of()) == len(world.all("Machine")) == len(world.all("ByoMachine")) == 3
    assert len(world.all("MachineSet")) == 1


def claimed(host: Object) -> bool:
    return "machineRef" in host.get("status", {})
