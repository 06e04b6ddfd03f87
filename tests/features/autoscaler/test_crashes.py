"""An autoscaler that dies between any two writes, and is started again, grows and shrinks pools no further for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from mooring.features.autoscaler.controller import CONTROLLER
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.settings import Configuration
from mooring.testing.crashes import survives_every_crash
from mooring.testing.hosts import create
from mooring.testing.scaled_pools import scaled_pool
from tests.features.autoscaler.world import AT_ONCE, EVERYBODY, gpu_host, gpu_pod
from tests.features.hosts.world import THIN_DEFINITIONS
from tests.features.machines.test_crashes import PROVIDER
from tests.features.machines.world import surroundings, workers

QUICK = {"scale-down-unneeded-time": "20s", "scale-down-delay-after-add": "0s", "node-deletion-delay-after-taint": "2s"}
# Tokens would be others in every run.
WITHOUT_TOKENS = (*(each for each in EVERYBODY if each.name != "bootstrapkubeconfig"), PROVIDER[1])
STATUS = "ConfigMap kube-system/cluster-autoscaler-status"


def a_pool_grows(simulation: Simulation) -> None:
    for obj in (*surroundings(), scaled_pool("gpu", most=3), gpu_host(), gpu_pod()):
        create(simulation, obj)
    _pass(simulation, 2)
    assert _nodes(simulation) == ["g1"]


def the_node_that_nobody_needs_goes(simulation: Simulation) -> None:
    for obj in (*surroundings(), scaled_pool(replicas=3), *workers("w1", "w2", "w3")):
        create(simulation, obj)
    simulation.run(timedelta(seconds=10))
    for name in ("w1", "w3"):
        create(simulation, gpu_pod(name, node=name))
    _pass(simulation, 2)
    assert _nodes(simulation) == ["w1", "w3"]


def _pass(simulation: Simulation, minutes: int) -> None:
    end = simulation.now + timedelta(minutes=minutes)
    simulation.run(timedelta(minutes=minutes), until=lambda: simulation.now >= end)


def _nodes(simulation: Simulation) -> list[str]:
    nodes = simulation.registry.list(simulation.registry.resource("v1", "Node")).items
    return sorted(each["metadata"]["name"] for each in nodes)


@pytest.mark.parametrize("story", [a_pool_grows, the_node_that_nobody_needs_goes])
def test_it_ends_the_same_after_any_crash(story: Callable[[Simulation], None]) -> None:
    places = survives_every_crash(
        WITHOUT_TOKENS,
        story,
        before=THIN_DEFINITIONS,
        of=(CONTROLLER,),
        configuration=Configuration(settings={**AT_ONCE, **QUICK}),
        logs=(STATUS,),
    )
    assert places > 2
