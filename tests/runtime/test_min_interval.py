"""A controller with a minimum interval runs a key at most that often, and misses nothing."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from mooring.api.kinds import Key
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.drivers.live import Live
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.view import View
from tests.client.stories import awaited, now, until
from tests.runtime.living import at_work, edit, put, transport_in
from tests.runtime.sample import CONFIG_MAP
from tests.runtime.worlds import change, config_map, create, get


def watching(found: list[tuple[datetime, str]], interval: timedelta) -> Controller:
    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        seen = view.get(CONFIG_MAP, *key)
        if seen is not None:
            found.append((moment, seen.data.get("n", "")))
        return Decision()

    return Controller("watching", reconcile, of=CONFIG_MAP, min_interval=interval)


def test_changes_within_the_interval_are_one_run_at_its_end() -> None:
    found: list[tuple[datetime, str]] = []
    simulation = Simulation([watching(found, timedelta(seconds=30))])
    create(simulation, config_map("a"))
    simulation.run(timedelta(seconds=1))
    for number in range(5):
        change(simulation, "a", {"data": {"n": str(number)}})
        simulation.run(timedelta(seconds=2))
    simulation.run()
    assert found == [(START, ""), (START + timedelta(seconds=30), "4")]


def test_the_rest_of_one_key_holds_up_no_other() -> None:
    found: list[tuple[datetime, str]] = []
    simulation = Simulation([watching(found, timedelta(seconds=30))])
    create(simulation, config_map("a", n="a"))
    simulation.run(timedelta(seconds=10))
    change(simulation, "a", {"data": {"n": "A"}})
    create(simulation, config_map("b", n="b"))
    simulation.run()
    assert found == [(START, "a"), (START, "b"), (START + timedelta(seconds=30), "A")]


def test_a_key_that_writes_rests_as_well() -> None:
    runs: list[datetime] = []

    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        seen = view.get(CONFIG_MAP, *key)
        runs.append(moment)
        count = 0 if seen is None else int(seen.data.get("count", "0"))
        return Decision(status=(Patch(CONFIG_MAP, key, {"data": {"count": str(count + 1)}}),) if count < 3 else ())

    interval = timedelta(seconds=10)
    simulation = Simulation(
        [
            Controller(
                "writing",
                reconcile,
                of=CONFIG_MAP,
                writes={CONFIG_MAP: ("create", "patch", "delete")},
                min_interval=interval,
            )
        ]
    )
    create(simulation, config_map("a"))
    simulation.run()
    assert get(simulation, "a")["data"] == {"count": "3"}
    assert runs == [START + number * interval for number in range(4)]


@awaited
async def test_a_live_key_rests_too() -> None:
    found: list[tuple[datetime, str]] = []
    registry = Registry(now=now())
    put(registry, {"apiVersion": "v1", "kind": "ConfigMap", **config_map("a")})
    interval = timedelta(seconds=0.5)
    async with at_work(Live([watching(found, interval)], transport_in(registry))):
        await until(lambda: found)
        for number in range(5):
            edit(registry, "a", {"data": {"n": str(number)}})
            await asyncio.sleep(0.02)
        await until(lambda: len(found) == 2)
    assert found[1][1] == "4"
    assert found[1][0] - found[0][0] >= interval
