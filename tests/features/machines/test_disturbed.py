"""Lost answers, repeated events, refused writes and crashes change nothing about whose host is whose."""

from __future__ import annotations

from random import Random

import pytest

from mooring.features.hosts.controllers import CONTROLLERS as HOST_CONTROLLERS
from mooring.kube.objects import Object
from mooring.nodes.simulated.controller import simulated_nodes
from mooring.runtime.settings import Configuration
from mooring.testing.hosts import byo_host
from mooring.testing.machines import machine_deployment, machine_template
from tests.features.machines.world import OWN, PoolWorld, workers
from tests.simulations.extent import FULL, Extent

# Hosts that are seldom heard of, so that little happens beside the story.
CALM = Configuration(settings={"host-heartbeat-timeout": "2h", "simulated-host-heartbeat": "1h"})
CONTROLLERS = (*OWN, *HOST_CONTROLLERS, simulated_nodes())


def pool(purpose: str, replicas: int) -> Object:
    template = machine_template(f"{purpose}-template", labels={"purpose": purpose})
    return machine_deployment(f"{purpose}-pool", replicas, template=template)


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


def two_pools(seed: int, extent: Extent) -> None:
    draw = Random(seed)
    worker, gpu = extent.of(3, draw), extent.of(2, draw)
    hosts = workers("w1", "w2", "w3")[:worker] + [
        byo_host(f"g{each}", labels={"purpose": "gpu"}) for each in range(1, gpu + 1)
    ]
    pools = pool("worker", min(2, worker)), pool("gpu", gpu)
    faults = extent.faults(0.08, seed)
    world = PoolWorld(*pools, hosts=hosts, controllers=CONTROLLERS, configuration=CALM, seed=seed, faults=faults)
    world.wait(extent.of(60, draw))
    world.change("worker-pool", replicas=worker)
    world.upgrade(pool="worker-pool")
    world.change("gpu-pool", rollout={"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}})
    world.upgrade(pool="gpu-pool")
    for _ in range(extent.of(10, draw)):
        world.wait(15)
        assert_apart(world)
    world.change("worker-pool", rollout={"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 2}}})
    world.run()
    assert_apart(world)
    assert [len(world.nodes_of(pool)) for pool in ("worker-pool", "gpu-pool")] == [worker, gpu]
    assert set(world.versions().values()) == {"v1.35.0"}
    assert len(world.all("Machine")) == len(world.all("ByoMachine")) == worker + gpu


@pytest.mark.parametrize("seed", range(2))
def test_two_pools_with_equal_selectors_never_swap_machines(seed: int) -> None:
    two_pools(seed, FULL)


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


def busy_users(seed: int, extent: Extent) -> None:
    choice = Random(seed)
    made = machine_deployment(surge=0, unavailable=2)
    hosts = workers("a", "b", "c", "d")[: extent.of(4, choice)]
    wanted = min(3, len(hosts))
    faults = extent.faults(0.1, seed)
    world = PoolWorld(made, hosts=hosts, controllers=CONTROLLERS, configuration=CALM, seed=seed, faults=faults)
    for _ in range(extent.of(20, choice)):
        disturb(world, choice)
        claims = [host["status"]["machineRef"]["name"] for host in world.all("ByoHost").values() if claimed(host)]
        assert len(claims) == len(set(claims))
    world.change(replicas=wanted)
    world.upgrade("v1.37.0")
    world.wait(600)
    assert set(world.versions().values()) == {"v1.37.0"}
    assert len(world.nodes_of()) == len(world.all("Machine")) == len(world.all("ByoMachine")) == wanted
    assert len(world.all("MachineSet")) == 1


@pytest.mark.parametrize("seed", [3])
def test_whatever_users_do_in_between_the_pool_ends_as_they_said(seed: int) -> None:
    busy_users(seed, FULL)


def claimed(host: Object) -> bool:
    return "machineRef" in host.get("status", {})
