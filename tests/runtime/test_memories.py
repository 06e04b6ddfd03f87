"""What a key remembers has the type that its controller declares, and cannot be changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import pytest

from mooring.api.kinds import Key
from mooring.kube.errors import MooringError
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.drivers.live import Live
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.view import View
from tests.client.stories import awaited, now, until
from tests.runtime.living import at_work, edit, put, transport_in
from tests.runtime.sample import CONFIG_MAP
from tests.runtime.worlds import change, config_map, create


class Runs(NamedTuple):
    times: int


def counting(found: list[int]) -> Controller:
    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        view.get(CONFIG_MAP, *key)
        runs = view.memory(Runs) or Runs(0)
        found.append(runs.times)
        return Decision(memory=Runs(runs.times + 1))

    return Controller("counting", reconcile, of=CONFIG_MAP, memory=Runs)


def test_a_simulated_key_remembers_what_it_declares() -> None:
    found: list[int] = []
    simulation = Simulation([counting(found)])
    create(simulation, config_map("a"))
    simulation.run()
    change(simulation, "a", {"data": {"x": "y"}})
    simulation.run()
    assert found == [0, 1]


@awaited
async def test_a_live_key_does_too() -> None:
    found: list[int] = []
    registry = Registry(now=now())
    put(registry, {"apiVersion": "v1", "kind": "ConfigMap", **config_map("a")})
    async with at_work(Live([counting(found)], transport_in(registry))):
        await until(lambda: found == [0])
        edit(registry, "a", {"data": {"x": "y"}})
        await until(lambda: found == [0, 1])


@pytest.mark.parametrize(
    ("declared", "why"),
    [(None, "declares to remember nothing, and remembers str"), (Runs, "declares to remember Runs, and remembers str")],
)
def test_a_memory_of_another_type_is_refused(declared: type[Any] | None, why: str) -> None:
    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        return Decision(memory="something else")

    simulation = Simulation([Controller("vague", reconcile, of=CONFIG_MAP, memory=declared)])
    create(simulation, config_map("a"))
    with pytest.raises(MooringError, match=why):
        simulation.run()


class Struct(msgspec.Struct):
    count: int = 0


class Frozen(msgspec.Struct, frozen=True):
    count: int = 0


@dataclass
class Data:
    count: int = 0


@dataclass(frozen=True)
class FrozenData:
    count: int = 0


def idle(key: Key, view: View, moment: datetime) -> Decision:
    return Decision()


@pytest.mark.parametrize("declared", [Struct, Data, dict, list])
def test_a_memory_that_can_be_changed_is_refused_where_it_is_declared(declared: type[Any]) -> None:
    with pytest.raises(MooringError, match=f"lax remembers {declared.__name__}, which can be changed"):
        Controller("lax", idle, memory=declared)


@pytest.mark.parametrize("declared", [Frozen, FrozenData, Runs, MappingProxyType, int])
def test_a_memory_that_cannot_be_changed_is_taken(declared: type[Any]) -> None:
    assert Controller("strict", idle, memory=declared).memory is declared
