"""Controllers publish numbers that they declare, on the same page as everything else that is counted."""

from __future__ import annotations

from datetime import datetime

import pytest

from mooring.api.kinds import Key
from mooring.kube.errors import MooringError
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.controllermetrics import Counter, Durations, Gauge
from mooring.runtime.decision import Create, Decision
from mooring.runtime.drivers.health import answer
from mooring.runtime.drivers.live import Live
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.view import View
from tests.client.stories import awaited, now, until
from tests.runtime.living import at_work, put, transport_in
from tests.runtime.sample import CONFIG_MAP
from tests.runtime.test_epilogue import refusing
from tests.runtime.worlds import config_map, create

COPIES = Counter("mooring_test_copies_total", "Copies made.", ("namespace",))
SOURCES = Gauge("mooring_test_sources", "ConfigMaps that there are.")
COPYING_SECONDS = Durations("mooring_test_seconds", "How long copies took.", ("namespace",), (1.0, 10.0))


def reconcile(key: Key, view: View, moment: datetime) -> Decision:
    there = SOURCES.set(value=len(view.list(CONFIG_MAP)))
    copy = {"metadata": {"namespace": key.namespace, "name": f"{key.name}-copy"}}
    if key.name.endswith("-copy") or view.get(CONFIG_MAP, key.namespace, f"{key.name}-copy") is not None:
        return Decision(metrics=(there,))
    took = COPYING_SECONDS.observe(key.namespace, seconds=2.5)
    return Decision(children=(Create(CONFIG_MAP, copy),), metrics=(COPIES.add(key.namespace), there, took))


COPYING = Controller(
    "copying",
    reconcile,
    of=CONFIG_MAP,
    writes={CONFIG_MAP: ("create", "patch", "delete")},
    metrics=(COPIES, SOURCES, COPYING_SECONDS),
)


def test_a_counter_counts_what_was_done_and_not_what_was_tried() -> None:
    registry = Registry(now=START)
    refused = refusing(registry, lambda: len(refused) < 3)
    simulation = Simulation([COPYING], registry=registry)
    create(simulation, config_map("a"))
    simulation.run(until=lambda: registry.find("v1", "ConfigMap", "default", "a-copy") is not None)
    simulation.run()
    assert len(refused) == 3
    assert simulation.metrics.own(COPIES, "default") == 1
    assert simulation.metrics.own(SOURCES) == 2
    lines = simulation.metrics.text().splitlines()
    assert 'mooring_test_seconds_bucket{namespace="default",le="10.0"} 1' in lines
    assert 'mooring_test_seconds_sum{namespace="default"} 2.5' in lines


@awaited
async def test_numbers_stand_on_the_health_endpoint() -> None:
    registry = Registry(now=now())
    put(registry, {"apiVersion": "v1", "kind": "ConfigMap", **config_map("a")})
    live = Live([COPYING], transport_in(registry))
    assert "mooring_test_sources 0" in answer("/metrics", live).text
    async with at_work(live):
        await until(lambda: 'mooring_test_copies_total{namespace="default"} 1' in answer("/metrics", live).text)
    assert "# TYPE mooring_test_copies_total counter" in answer("/metrics", live).text
    assert "# TYPE mooring_test_sources gauge" in answer("/metrics", live).text


def test_numbers_are_declared() -> None:
    undeclared = Controller(
        "careless", reconcile, of=CONFIG_MAP, writes={CONFIG_MAP: ("create", "patch", "delete")}, metrics=(SOURCES,)
    )
    simulation = Simulation([undeclared])
    create(simulation, config_map("a"))
    with pytest.raises(MooringError, match="careless counts mooring_test_copies_total, which it does not declare"):
        simulation.run()


def test_a_declaration_is_checked() -> None:
    with pytest.raises(MooringError, match="must end in _total"):
        Counter("mooring_copies", "Copies made.")
    with pytest.raises(MooringError, match="has the labels namespace, not"):
        COPIES.add()
