"""Whoever makes pools of replicas and dies between any two writes ends where it would have ended."""

from __future__ import annotations

from datetime import timedelta

from mooring.features.autoscaler.replica_pools.controller import CONTROLLER as REPLICA_POOLS
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing.crashes import survives_every_crash
from mooring.testing.hosts import create
from mooring.testing.replica_pools import replica_pods, replica_policy, serving_host
from tests.features.autoscaler.test_crashes import STATUS, WITHOUT_TOKENS
from tests.features.hosts.world import THIN_DEFINITIONS
from tests.features.machines.world import surroundings

CONTROLLERS = (*WITHOUT_TOKENS, REPLICA_POOLS)


def pools_are_made(simulation: Simulation) -> None:
    # Hosts of two sizes, so that it does not depend on who is first which of them a pool gets.
    pods = [*replica_pods("serve-0", 1), *replica_pods("serve-1", gpu=3)]
    hosts = [serving_host(name, gpu=3 if name in "bc" else 1) for name in "abc"]
    for obj in (*surroundings(), replica_policy(), *hosts, *pods):
        create(simulation, obj)
    _pass(simulation, 2)
    assert _pools(simulation) == {"serve-0": 1, "serve-1": 2}


def one_goes_and_another_comes(simulation: Simulation) -> None:
    pools_are_made(simulation)
    pods = simulation.registry.resource("v1", "Pod")
    simulation.registry.delete(pods, "default", "serve-0", now=simulation.now)
    for each in replica_pods("serve-2", 1):
        create(simulation, each)
    _pass(simulation, 6)
    assert _pools(simulation) == {"serve-1": 2, "serve-2": 1}


def _pass(simulation: Simulation, minutes: int) -> None:
    end = simulation.now + timedelta(minutes=minutes)
    simulation.run(timedelta(minutes=minutes), until=lambda: simulation.now >= end)


def _pools(simulation: Simulation) -> dict[str, int]:
    found = simulation.registry.list(
        simulation.registry.resource("cluster.x-k8s.io/v1beta2", "MachineDeployment")
    ).items
    return {each["metadata"]["name"]: each["spec"]["replicas"] for each in found}


def test_it_ends_the_same_after_any_crash() -> None:
    # A lease names the node of a host by its uid, and a host that is used again is another node.
    logs = (STATUS, "Lease kube-node-lease/a")
    places = survives_every_crash(
        CONTROLLERS, one_goes_and_another_comes, before=THIN_DEFINITIONS, of=(REPLICA_POOLS,), logs=logs
    )
    assert places > 5
