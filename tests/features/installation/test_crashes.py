"""A controller that dies between any two writes of an installation, or at random, ends in the same place."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mooring.api.crds.resource import definition
from mooring.features.installation.api.definition import INSTALLATIONS
from mooring.features.installation.api.names import API_VERSION
from mooring.features.installation.controller import CONTROLLER
from mooring.kube.objects import Object
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing.crashes import survives_every_crash
from mooring.testing.installations import REQUESTER, helm_chart, installation
from tests.features.installation.world import RUNNING, InstallationWorld

TWO = (helm_chart("first", namespace="a"), helm_chart("second", namespace="b"))


def wanted() -> Object:
    """As the webhook leaves it."""
    made = installation("kaito", *TWO)
    return {**made, "spec": {**made["spec"], "requestedBy": REQUESTER}}


def installed(simulation: Simulation) -> None:
    registry = simulation.registry
    registry.create(registry.resource(API_VERSION, "Installation"), wanted(), now=simulation.now)
    simulation.run()


def uninstalled(simulation: Simulation) -> None:
    installed(simulation)
    registry = simulation.registry
    registry.delete(registry.resource(API_VERSION, "Installation"), "", "kaito", now=simulation.now)
    simulation.run()


def test_an_installation_ends_the_same_after_any_crash() -> None:
    before = [definition(INSTALLATIONS)]
    assert survives_every_crash([CONTROLLER], installed, before=before, configuration=RUNNING) > 15


def test_an_uninstallation_ends_the_same_after_any_crash() -> None:
    before = [definition(INSTALLATIONS)]
    assert survives_every_crash([CONTROLLER], uninstalled, before=before, configuration=RUNNING) > 25


@pytest.mark.parametrize("seed", range(12))
def test_lost_answers_and_deaths_at_random_change_nothing_of_the_end(seed: int) -> None:
    world = InstallationWorld(seed=seed, faults=Faults.everything(0.1))
    world.put(installation("kaito", *TWO))
    world.simulation.run(timedelta(hours=6))
    assert world.status()["phase"] == "Installed"
    assert [each["name"] for each in world.status()["releases"]] == ["first", "second"]
    world.delete()
    world.simulation.run(timedelta(hours=6))
    assert world.get() is None
