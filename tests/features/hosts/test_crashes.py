"""A controller that dies between any two writes of a claim or a release, and starts again, ends in the same place."""

from __future__ import annotations

from mooring.features.hosts.controllers import CONTROLLERS
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing.crashes import survives_every_crash
from mooring.testing.hosts import byo_host, create, installer_template, put_cluster, put_machine
from tests.features.hosts.world import THIN_DEFINITIONS

REF = {"kind": "K8sInstallerConfigTemplate", "name": "installer"}


def claim(simulation: Simulation) -> None:
    put_cluster(simulation)
    create(simulation, installer_template())
    create(simulation, byo_host("a", labels={"purpose": "gpu"}))
    put_machine(simulation, "m", {"purpose": "gpu"}, labels={"purpose": "gpu"}, installerRef=REF)
    simulation.run()


def release(simulation: Simulation) -> None:
    claim(simulation)
    registry = simulation.registry
    resource = registry.resource("infrastructure.cluster.x-k8s.io/v1beta1", "ByoMachine")
    registry.delete(resource, "default", "m", now=simulation.now)
    simulation.run()


def test_a_claim_ends_the_same_after_any_crash() -> None:
    assert survives_every_crash(CONTROLLERS, claim, before=THIN_DEFINITIONS) > 10


def test_a_release_ends_the_same_after_any_crash() -> None:
    assert survives_every_crash(CONTROLLERS, release, before=THIN_DEFINITIONS) > 15
