"""A simulated cluster with installations, in which Helm is a model that tests can change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from mooring.api.crds.resource import definition
from mooring.features.installation.api.definition import INSTALLATIONS
from mooring.features.installation.api.names import API_VERSION
from mooring.features.installation.controller import CONTROLLER
from mooring.features.installation.webhooks import WEBHOOKS
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.registry import Registry
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.effects import Effect, Report
from mooring.runtime.settings import Configuration
from mooring.runtime.webhooks.direct import install
from mooring.testing.installations import REQUESTER
from mooring.testing.simulations import checked_simulation

RUNNING = Configuration(running=("installation", "installation-webhook"))
Model = Callable[[Any], tuple[timedelta, Report]]


def registry_with_kinds() -> Registry:
    registry = Registry(now=START)
    crds = registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    registry.create(crds, definition(INSTALLATIONS), now=START)
    return registry


@contextmanager
def modelled(effect: Effect[Any], model: Model) -> Iterator[None]:
    """While it lasts, an effect goes as this model says."""
    before = effect.model
    object.__setattr__(effect, "model", model)
    try:
        yield
    finally:
        object.__setattr__(effect, "model", before)


def ends(phase: str = "Failed", output: str = "", seconds: float = 1, **more: Any) -> Model:
    report = Report(phase, 1, output, **more)  # type: ignore[arg-type]
    return lambda task: (timedelta(seconds=seconds), report)


class InstallationWorld:
    """`running` are the words of --controllers that are on."""

    def __init__(self, *, running: tuple[str, ...] = RUNNING.running, **more: Any) -> None:  # type: ignore[assignment]
        self.registry = registry_with_kinds()
        configuration = Configuration(running=running)
        self.simulation: Simulation = checked_simulation(
            [CONTROLLER], registry=self.registry, configuration=configuration, **more
        )
        install(self.registry, WEBHOOKS, clock=lambda: self.simulation.now, configuration=configuration)
        self._resource = self.registry.resource(API_VERSION, "Installation")

    @property
    def runs(self) -> list[str]:
        """What was run, in order."""
        return [run.id.partition("-")[2].rpartition("-")[0] for run in self.simulation.executor.started]

    def put(self, obj: Object, user: str = REQUESTER["username"], groups: tuple[str, ...] = ("platform",)) -> None:
        now = self.simulation.now
        self.registry.create(self._resource, obj, now=now, user=user, groups=groups)

    def change(self, name: str = "kaito", user: str = "ada", **spec: Any) -> None:
        body = {"spec": spec}
        self.registry.patch(self._resource, "", name, "merge", body, now=self.simulation.now, user=user)

    def set_status(self, name: str = "kaito", **status: Any) -> None:
        body = {"status": status}
        now = self.simulation.now
        self.registry.patch(self._resource, "", name, "merge", body, now=now, subresource="status")

    def delete(self, name: str = "kaito") -> None:
        self.registry.delete(self._resource, "", name, now=self.simulation.now)

    def run(self, seconds: float = 3600) -> None:
        self.simulation.run(timedelta(seconds=seconds))

    def get(self, name: str = "kaito") -> Object | None:
        try:
            return self.registry.get(self._resource, "", name)
        except NotFoundError:
            return None

    def status(self, name: str = "kaito") -> Object:
        found = self.get(name)
        assert found is not None, f"there is no Installation {name}"
        status: Object = found.get("status", {})
        return status

    def ready(self, name: str = "kaito") -> Object:
        (condition,) = self.status(name)["conditions"]
        found: Object = condition
        return found

    def states(self, name: str = "kaito") -> dict[str, str]:
        return {step["name"]: step["state"] for step in self.status(name)["steps"]}
