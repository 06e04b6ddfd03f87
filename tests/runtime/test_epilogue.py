"""What came of a decision means the same in a simulation and against a server."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

import pytest

from mooring.api.kinds import Key
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError
from mooring.registry import AdmissionRequest, ClusterView, Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Event
from mooring.runtime.drivers.live import Live
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.view import View
from tests.client.stories import awaited, now, until
from tests.runtime.living import at_work, names, transport_in
from tests.runtime.sample import CONFIG_MAP
from tests.runtime.worlds import config_map


def reconcile(key: Key, view: View, moment: datetime) -> Decision:
    """Make a copy of every ConfigMap, tell of it, and start something once it is there."""
    source = view.get(CONFIG_MAP, *key)
    if source is None or key.name.endswith("-copy"):
        return Decision()
    copy = Key(key.namespace, f"{key.name}-copy")
    if view.get(CONFIG_MAP, *copy) is not None:
        return Decision()
    return Decision(
        children=(Create(CONFIG_MAP, {"metadata": {"namespace": copy.namespace, "name": copy.name}}),),
        events=(Event(CONFIG_MAP, key, "Normal", "Copying", f"{key.name} is copied", labels=(("part", "copies"),)),),
        log=(f"copied {key.name}",),
    )


COPYING = Controller("copying", reconcile, of=CONFIG_MAP, writes={CONFIG_MAP: ("create", "patch", "delete")})


def refusing(registry: Registry, is_refused: Callable[[], bool]) -> list[str]:
    """A registry whose admission refuses copies while it is told to; the names that it refused."""
    refused: list[str] = []

    def validate(request: AdmissionRequest, view: ClusterView) -> None:
        assert request.object is not None
        name = request.object["metadata"]["name"]
        if name.endswith("-copy") and is_refused():
            refused.append(name)
            raise ForbiddenError(f"{name} is not wanted")

    registry.admission.validating.append(validate)
    return refused


def put(registry: Registry, obj: Object, moment: datetime) -> None:
    registry.create(registry.resource("v1", "ConfigMap"), obj, now=moment)


def events(registry: Registry) -> list[tuple[str, int]]:
    return [(e["reason"], e["count"]) for e in registry.list(registry.resource("v1", "Event")).items]


def test_a_simulation_has_settled_on_a_refusal_and_goes_on_when_it_is_over() -> None:
    registry = Registry(now=START)
    refused = refusing(registry, lambda: len(refused) < 5)
    simulation = Simulation([COPYING], registry=registry)
    put(registry, config_map("a"), START)
    assert not simulation.run().moving
    assert list(simulation.terminal) == ["copying default/a"]
    assert simulation.run(until=lambda: "a-copy" in names(registry)).now > START
    assert names(registry) == ["a", "a-copy"]
    assert not simulation.terminal


def test_a_line_of_the_log_is_said_once_when_its_writes_went_well(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mooring.runtime")
    registry = Registry(now=START)
    refused = refusing(registry, lambda: len(refused) < 3)
    simulation = Simulation([COPYING], registry=registry)
    put(registry, config_map("a"), START)
    simulation.run()
    assert not any(record.levelno == logging.INFO for record in caplog.records)
    simulation.run(until=lambda: "a-copy" in names(registry))
    simulation.run()
    (said,) = [record for record in caplog.records if record.levelno == logging.INFO]
    assert said.getMessage() == "copied a"
    assert said.__dict__["fields"]["key"] == "default/a"


def test_an_event_has_the_labels_that_its_decision_gives_it() -> None:
    registry = Registry(now=START)
    simulation = Simulation([COPYING], registry=registry)
    put(registry, config_map("a"), START)
    simulation.run()
    (event,) = registry.list(registry.resource("v1", "Event")).items
    assert event["metadata"]["labels"] == {"part": "copies"}


@awaited
async def test_a_server_that_refuses_is_asked_again() -> None:
    registry = Registry(now=now())
    refused = refusing(registry, lambda: len(refused) < 5)
    put(registry, config_map("a"), now())
    live = Live([COPYING], transport_in(registry))
    async with at_work(live):
        await until(lambda: names(registry) == ["a", "a-copy"])
    assert live.metrics.reconciles.value("copying", "terminal") == 5
    assert events(registry) == [("Copying", 1)]


def test_an_event_is_not_repeated_with_every_retry_of_a_refused_write() -> None:
    registry = Registry(now=START)
    refused = refusing(registry, lambda: len(refused) < 5)
    simulation = Simulation([COPYING], registry=registry)
    put(registry, config_map("a"), START)
    simulation.run(until=lambda: "a-copy" in names(registry))
    assert len(refused) == 5
    assert events(registry) == [("Copying", 1)]
