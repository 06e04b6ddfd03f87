"""Kinds that are followed only when somebody asks for them, and kinds that may be absent."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

import msgspec

from mooring.api.core.types import View as Typed
from mooring.api.kinds import Key, Kind, by_name
from mooring.api.meta import Meta
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.drivers.simulation import Simulation
from mooring.runtime.view import Unavailable, View
from tests.client.stories import awaited, until
from tests.runtime.living import over_http, put
from tests.runtime.sample import CONFIG_MAP, ConfigMap


class Annotated(Meta, frozen=True):
    annotations: dict[str, str] = msgspec.field(default_factory=dict)


class Wide(Typed, frozen=True):
    metadata: Annotated = Annotated()
    data: dict[str, str] = msgspec.field(default_factory=dict)


WIDE = Kind("v1", "ConfigMap", Wide, on_demand=True)
ABSENT = Kind("example.com/v1", "Absent", ConfigMap, optional=True)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    """Copy the annotation `say` of a ConfigMap that asks for it into its data, counting how often."""
    config = view.get(CONFIG_MAP, *key)
    with suppress(Unavailable):
        view.list(ABSENT)
    if config is None or "listen" not in config.data:
        return Decision()
    whole = view.get(WIDE, *key)
    said = "" if whole is None else whole.metadata.annotations.get("say", "")
    if whole is None or whole.data.get("heard") == said:
        return Decision()
    times = str(int(whole.data.get("times", "0")) + 1)
    return Decision(status=(Patch(WIDE, key, {"data": {"heard": said, "times": times}}),))


LISTENER = Controller(
    "listener",
    reconcile,
    of=CONFIG_MAP,
    reads=(WIDE, ABSENT),
    writes={CONFIG_MAP: ("create", "patch", "delete"), WIDE: ("patch",)},
)


def config(name: str, say: str = "", **data: str) -> Object:
    metadata = {"name": name, "namespace": "default", "annotations": {"say": say}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def create(simulation: Simulation, obj: Object) -> None:
    registry = simulation.registry
    registry.create(registry.resource("v1", "ConfigMap"), obj, now=simulation.now)


def data(simulation: Simulation, name: str) -> Object:
    found = simulation.registry.find("v1", "ConfigMap", "default", name)
    assert found is not None
    result: Object = found["data"]
    return result


def test_a_kind_on_demand_is_followed_once_somebody_asks() -> None:
    simulation = Simulation([LISTENER])
    create(simulation, config("quiet", "hello"))
    simulation.run()
    assert WIDE not in simulation.dispatcher.wanted
    create(simulation, config("keen", "hello", listen="yes"))
    simulation.run()
    assert WIDE in simulation.dispatcher.wanted
    assert data(simulation, "keen")["heard"] == "hello"


def test_own_writes_are_seen_in_both_views_before_a_key_runs_again() -> None:
    simulation = Simulation([LISTENER])
    create(simulation, config("keen", "one", listen="yes"))
    simulation.run()
    for word in ("two", "three"):
        body = {"metadata": {"annotations": {"say": word}}}
        registry = simulation.registry
        registry.patch(registry.resource("v1", "ConfigMap"), "default", "keen", "merge", body, now=simulation.now)
        simulation.run()
    assert data(simulation, "keen") == {"listen": "yes", "heard": "three", "times": "3"}
    assert not simulation.terminal


def test_of_two_views_of_a_kind_the_first_stands_for_it() -> None:
    assert by_name((WIDE, CONFIG_MAP)) == by_name((CONFIG_MAP, WIDE)) == {("v1", "ConfigMap"): CONFIG_MAP}
    assert by_name((WIDE,)) == {("v1", "ConfigMap"): WIDE}


@awaited
async def test_a_live_driver_is_ready_without_what_nobody_asked_for_and_what_may_be_absent() -> None:
    async with over_http(LISTENER) as (live, server):
        await until(lambda: live.dispatcher.stores[CONFIG_MAP].synced)
        assert live.missing == []
        assert not live.dispatcher.stores[WIDE].synced
        registry = server.registry
        put(registry, config("keen", "hello", listen="yes"))

        def heard() -> str | None:
            found = registry.find("v1", "ConfigMap", "default", "keen")
            return None if found is None else found["data"].get("heard")

        await until(lambda: heard() == "hello")
        assert live.missing == []
