"""A controller that dies between any two writes, and is started again, changes nothing about where things end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mooring.features.hosts.controllers import host_controllers
from mooring.features.machines.api.names import API_VERSION
from mooring.features.machines.webhooks import WEBHOOKS
from mooring.kube.objects import Object
from mooring.nodes.simulated.controller import simulated_nodes
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.webhooks.direct import install
from mooring.testing.crashes import survives_every_crash
from mooring.testing.hosts import create
from mooring.testing.machines import machine_deployment
from tests.features.hosts.world import THIN_DEFINITIONS
from tests.features.machines.world import OWN, surroundings, workers

CONTROLLERS = (*OWN, *host_controllers(), simulated_nodes())


def story(pool: Object, *changes: Object, delete: bool = False) -> Callable[[Simulation], None]:
    """A pool that comes to rest and is changed then; the crash may come at any write of it all."""

    def populate(simulation: Simulation) -> None:
        install(simulation.registry, WEBHOOKS, clock=lambda: simulation.now)
        for obj in (*surroundings(), *workers("a", "b"), pool):
            create(simulation, obj)
        simulation.run()
        resource = simulation.registry.resource(API_VERSION, "MachineDeployment")
        for change in changes:
            simulation.registry.patch(resource, "default", "worker-pool", "merge", {"spec": change}, now=simulation.now)
            simulation.run()
        if delete:
            simulation.registry.delete(resource, "default", "worker-pool", now=simulation.now)
            simulation.run()

    return populate


UPGRADE = {"template": {"spec": {"version": "v1.35.0"}}}
STORIES = {
    "a pool comes": story(machine_deployment()),
    "a pool is updated without a spare host": story(machine_deployment(replicas=1, surge=0, unavailable=1), UPGRADE),
    "a pool is updated and grows": story(machine_deployment(replicas=1), UPGRADE, {"replicas": 2}),
    "a pool shrinks and goes": story(machine_deployment(), {"replicas": 1}, delete=True),
}


@pytest.mark.parametrize("name", STORIES)
def test_it_ends_the_same_after_any_crash(name: str) -> None:
    assert survives_every_crash(CONTROLLERS, STORIES[name], before=THIN_DEFINITIONS, of=OWN) > 20
