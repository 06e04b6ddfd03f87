"""A write that was refused for the moment is tried again, and until then nothing has settled."""

from __future__ import annotations

from datetime import datetime, timedelta

from mooring.api.kinds import Key
from mooring.client.inprocess import InProcess
from mooring.client.transport import Request
from mooring.kube.objects import Object
from mooring.kube.status import TooManyRequestsError
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.view import View
from tests.runtime.sample import CONFIG_MAP


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    """Mark a ConfigMap, and look again every second."""
    view.poll_again(now + timedelta(seconds=1))
    found = view.get(CONFIG_MAP, *key)
    if found is None or "seen" in found.data:
        return Decision()
    return Decision(intent=(Patch(CONFIG_MAP, key, {"data": {"seen": "yes"}}),))


class Busy(InProcess):
    """Refuses the first write."""

    refusals = 1

    def write(self, request: Request) -> Object:
        if self.refusals:
            self.refusals -= 1
            raise TooManyRequestsError("not now")
        return super().write(request)


def test_a_retry_that_falls_on_a_moment_of_polling_is_made_all_the_same() -> None:
    simulation = Simulation(
        [Controller("marker", reconcile, of=CONFIG_MAP, writes={CONFIG_MAP: ("create", "patch", "delete")})]
    )
    registry = simulation.registry
    simulation.transport = Busy(registry, lambda: simulation.now)
    resource = registry.resource("v1", "ConfigMap")
    registry.create(resource, {"metadata": {"name": "a", "namespace": "default"}}, now=simulation.now)
    simulation.run()
    assert registry.get(resource, "default", "a")["data"] == {"seen": "yes"}
