"""Lost answers, repeated events, refused writes and crashes change nothing about whose host is whose."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mooring.features.hosts.controllers import host_controllers
from mooring.features.hosts.settings import HostSettings
from mooring.nodes.simulated.controller import simulated_nodes
from mooring.runtime.drivers.faults import Faults
from mooring.testing.hosts import byo_host
from mooring.testing.machines import machine_deployment, machine_template
from tests.features.machines.world import OWN, PoolWorld, workers

# Hosts that are seldom heard of, so that little happens beside the story.
CALM = HostSettings(heartbeat_timeout=timedelta(hours=2), simulated_heartbeat=timedelta(hours=1))
CONTROLLERS = (*OWN, *host_controllers(CALM), simulated_nodes())
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


@pytest.mark.parametrize("seed", range(3))
def test_two_pools_with_equal_selectors_never_swap_machines(seed: int) -> None:
    hosts = [*workers("w1", "w2", "w3"), *(byo_host(name, labels={"purpose": "gpu"}) for name in ("g1", "g2"))]
    world = PoolWorld(*POOLS, hosts=hosts, controllers=CONTROLLERS, seed=seed, faults=Faults.everything(0.08))
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
