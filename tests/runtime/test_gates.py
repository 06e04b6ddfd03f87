"""Feature gates reach the controllers that declare them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import pytest

from mooring.api.kinds import Key
from mooring.catalog import CATALOG
from mooring.kube.errors import MooringError
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.drivers.live import Live
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.gates import all_gates
from mooring.runtime.settings import Configuration
from mooring.runtime.view import View
from mooring.supervisor.configuration import parse_gates
from tests.client.stories import awaited, now, until
from tests.runtime.living import at_work, transport_in


def asking(found: list[bool], gates: Mapping[str, bool]) -> Controller:
    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        found.append(view.gates.enabled("Ferry"))
        return Decision()

    return Controller("asking", reconcile, gates=gates)


@pytest.mark.parametrize(("given", "state"), [({}, False), ({"Ferry": True}, True)])
def test_a_simulated_controller_sees_its_gate(given: dict[str, bool], state: bool) -> None:
    found: list[bool] = []
    Simulation([asking(found, {"Ferry": False})], configuration=Configuration(given)).run()
    assert found == [state]


@awaited
async def test_a_live_controller_sees_its_gate_as_the_command_line_sets_it() -> None:
    found: list[bool] = []
    controller = asking(found, {"Ferry": False})
    known = all_gates([controller.gates, {"Tug": True}])
    configuration = Configuration(parse_gates(["Ferry=true,Tug=false"], known))
    async with at_work(Live([controller], transport_in(Registry(now=now())), configuration=configuration)):
        await until(lambda: found == [True])


def test_a_gate_is_declared_by_who_asks_for_it() -> None:
    with pytest.raises(MooringError, match="there is no feature gate Ferry; declare it"):
        Simulation([asking([], {})]).run()


def test_gates_that_nobody_has_are_refused() -> None:
    with pytest.raises(MooringError, match="no controller here has the feature gate Oar"):
        all_gates([{"Ferry": True}], {"Oar": True})
    with pytest.raises(MooringError, match="declared twice, with different defaults"):
        all_gates([{"Ferry": True}, {"Ferry": False}])


def test_every_gate_of_a_controller_can_be_set_on_the_command_line() -> None:
    assert CATALOG.gates == all_gates(controller.gates for controller in CATALOG.controllers())
