"""What is done outside the API is on record first, ends as its model says, and is cancelled when nobody wants it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.kube.errors import MooringError
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.live import Live
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.effects import Run, started
from mooring.runtime.view import View
from mooring.testing.crashes import survives_every_crash
from tests.client.stories import awaited, now, until
from tests.runtime.living import Hooked, at_work, transport_in
from tests.runtime.releases import (
    GROUP,
    INSTALL,
    INSTALLING,
    RELEASE,
    Install,
    change_release,
    define,
    definition,
    put_release,
    reconcile,
    record,
)
from tests.runtime.sample import CONFIG_MAP
from tests.runtime.worlds import config_map, create


def simulated(**more: Any) -> Simulation:
    registry = Registry(now=START)
    define(registry, START)
    return Simulation([INSTALLING], registry=registry, **more)


def test_a_run_takes_as_long_as_its_model_says_and_its_end_is_on_record() -> None:
    simulation = simulated()
    put_release(simulation.registry, "web", START, script="40")
    simulation.run(timedelta(seconds=39))
    assert record(simulation.registry, "web") == {
        "id": "revision-1",
        "phase": "Started",
        "startedAt": "2026-01-01T00:00:00Z",
    }
    simulation.run()
    assert record(simulation.registry, "web") == {
        "id": "revision-1",
        "phase": "Succeeded",
        "startedAt": "2026-01-01T00:00:00Z",
        "finishedAt": "2026-01-01T00:00:40Z",
        "exitCode": 0,
        "output": "done",
    }
    assert len(simulation.executor.started) == 1


def test_a_failure_is_reported_and_not_repeated_under_the_same_id() -> None:
    simulation = simulated()
    put_release(simulation.registry, "web", START, script="5 fails")
    simulation.run()
    assert record(simulation.registry, "web")["phase"] == "Failed"
    change_release(simulation.registry, "web", simulation.now, revision=2, script="5")
    simulation.run()
    found = record(simulation.registry, "web")
    assert (found["id"], found["phase"]) == ("revision-2", "Succeeded")
    assert [run.id for run in simulation.executor.started] == ["revision-1", "revision-2"]


def test_a_run_that_takes_too_long_is_over_at_its_timeout() -> None:
    simulation = simulated()
    put_release(simulation.registry, "web", START, script="3600")
    ended = simulation.run()
    found = record(simulation.registry, "web")
    assert (found["phase"], found["message"]) == ("TimedOut", "it took longer than 120 s")
    assert ended.now == START + timedelta(seconds=120)


def test_a_run_that_is_not_wanted_any_more_is_cancelled() -> None:
    simulation = simulated()
    put_release(simulation.registry, "web", START)
    simulation.run(timedelta(seconds=1))
    change_release(simulation.registry, "web", simulation.now, suspended=True)
    ended = simulation.run()
    assert record(simulation.registry, "web")["phase"] == "Cancelled"
    assert ended.now == START + timedelta(seconds=1)


def test_a_run_goes_with_its_object() -> None:
    simulation = simulated()
    registry = simulation.registry
    put_release(registry, "web", START)
    simulation.run(timedelta(seconds=1))
    registry.delete(registry.resource(f"{GROUP}/v1", "Release"), "default", "web", now=simulation.now)
    assert simulation.run().now == START + timedelta(seconds=1)


@pytest.mark.parametrize("seed", range(10))
def test_disturbed_runs_end_where_peaceful_ones_do(seed: int) -> None:
    simulation = simulated(seed=seed, faults=Faults.everything(0.15))
    put_release(simulation.registry, "web", START)
    simulation.run()
    simulation.quiet()
    simulation.run()
    assert record(simulation.registry, "web")["phase"] == "Succeeded"
    assert len(simulation.executor.started) == 1


def test_crashes_change_nothing_about_the_end() -> None:
    def populate(simulation: Simulation) -> None:
        put_release(simulation.registry, "web", START)

    assert survives_every_crash([INSTALLING], populate, before=[definition()]) == 1


class Noting:
    """An executor that only writes down what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def start(self, run: Run) -> None:
        self.asked.append(("start", run.id))

    def cancel(self, run: Run) -> None:
        self.asked.append(("cancel", run.id))


@awaited
async def test_live_nothing_starts_before_it_is_on_record() -> None:
    registry = Registry(now=now())
    define(registry, now())
    executor = Noting()
    recorded: list[bool] = []

    async def before(request: Any) -> None:
        recorded.append(not executor.asked)

    put_release(registry, "web", now())
    async with at_work(Live([INSTALLING], Hooked(registry, before=before), executors={"process": executor})):
        await until(lambda: executor.asked == [("start", "revision-1")])
        assert recorded == [True]
        assert record(registry, "web")["id"] == "revision-1"
        change_release(registry, "web", now(), revision=2)
        await until(lambda: executor.asked[1:] == [("cancel", "revision-1"), ("start", "revision-2")])
        assert record(registry, "web")["id"] == "revision-2"


@awaited
async def test_live_a_run_on_record_is_started_again_by_the_next_process() -> None:
    registry = Registry(now=now())
    define(registry, now())
    put_release(registry, "web", now())
    for _ in range(2):
        executor = Noting()
        async with at_work(Live([INSTALLING], transport_in(registry), executors={"process": executor})):
            await until(lambda: executor.asked == [("start", "revision-1")])  # noqa: B023 - awaited at once


def test_an_effect_must_be_declared_and_have_a_place_for_its_record() -> None:
    undeclared = Controller("forgetful", reconcile, of=RELEASE, writes={RELEASE: ("status",)})
    registry = Registry(now=START)
    define(registry, START)
    put_release(registry, "web", START)
    with pytest.raises(MooringError, match="forgetful runs effect install, which it does not declare"):
        Simulation([undeclared], registry=registry).run()

    def placeless(key: Key, view: View, moment: datetime) -> Decision:
        view.get(CONFIG_MAP, *key)
        return Decision(effects=(Run(INSTALL, CONFIG_MAP, key, "1", Install("true")),))

    simulation = Simulation(
        [
            Controller(
                "loose",
                placeless,
                of=CONFIG_MAP,
                writes={CONFIG_MAP: ("create", "patch", "delete")},
                effects=(INSTALL,),
            )
        ]
    )
    create(simulation, config_map("a"))
    with pytest.raises(MooringError, match=r"the view of v1/ConfigMap has no status\.effects"):
        simulation.run()


def test_the_record_of_a_new_run_takes_the_place_of_the_old_one() -> None:
    run = Run(INSTALL, RELEASE, Key("default", "web"), "2", Install("true"))
    patch = Patch(RELEASE, run.key, started(run, START), "status")
    assert patch.body["status"]["effects"]["install"] == {
        "id": "2",
        "phase": "Started",
        "startedAt": "2026-01-01T00:00:00Z",
        "finishedAt": None,
        "exitCode": None,
        "output": None,
        "message": None,
    }
