"""The live driver: what it promises of a run, of kinds that are not there, and of time."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key, Kind
from mooring.client.transport import Request, UnknownOutcome
from mooring.kube.objects import Object
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Event
from mooring.runtime.drivers.live import Live
from mooring.runtime.logs import logger
from mooring.runtime.view import View
from mooring.testing.controllers import whole_control_plane
from tests.client.stories import awaited, config_map, now, until
from tests.client.test_transports import ships
from tests.runtime.living import Hooked, Slow, at_work, data_of, drop, edit, names, over_http, put, transport_in
from tests.runtime.sample import CONFIG_MAP, COPIER, ConfigMap

SHIP = Kind("example.com/v1", "Ship", ConfigMap)


def noting(seen: list[str], kind: Kind[Any] = CONFIG_MAP) -> Controller:
    """A controller that writes nothing and notes which keys ran."""

    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        view.get(kind, *key)
        seen.append(key.name)
        return Decision()

    return Controller("noting", reconcile, of=kind)


@awaited
async def test_a_controller_works_over_http() -> None:
    async with over_http(COPIER) as (_, server):
        put(server.registry, config_map("a", copies="3"))
        await until(lambda: data_of(server.registry, "a").get("seen") == "3")
        assert [name for name in names(server.registry) if name.startswith("a")] == ["a", "a-0", "a-1", "a-2"]
        edit(server.registry, "a", {"data": {"copies": "1"}})
        await until(lambda: data_of(server.registry, "a").get("seen") == "1")
        assert [name for name in names(server.registry) if name.startswith("a")] == ["a", "a-0"]


@pytest.mark.slow
@awaited
async def test_the_built_in_controllers_bring_a_deployment_up_over_http() -> None:
    async with over_http(*whole_control_plane()) as (live, server):
        registry = server.registry
        amounts = {"cpu": "8", "memory": "32Gi", "pods": "110"}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": amounts}}
        put(registry, node)
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
        spec = {"replicas": 10, "selector": {"matchLabels": labels}, "template": template}
        meta = {"name": "web", "namespace": "default"}
        put(registry, {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec})

        def ready() -> int:
            found: Object = registry.find("apps/v1", "Deployment", "default", "web") or {}
            return int(found.get("status", {}).get("readyReplicas", 0))

        await until(lambda: ready() == 10)
        assert live.missing == []
        assert live.metrics.writes.value("scheduler", "bind") == 10


@awaited
async def test_changes_at_one_instant_give_one_run() -> None:
    seen: list[str] = []
    registry = Registry(now=now())
    async with at_work(Live([noting(seen)], transport_in(registry))):
        put(registry, config_map("a"))
        await until(lambda: "a" in seen)
        seen.clear()
        for number in range(50):
            edit(registry, "a", {"data": {"n": str(number)}})
        await until(lambda: seen)
        await asyncio.sleep(0.05)
        assert seen == ["a"]


@awaited
async def test_a_function_that_fails_is_told_in_one_line_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    runs: Counter[str] = Counter()

    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        view.get(CONFIG_MAP, *key)
        runs[key.name] += 1
        if key.name == "bad" and runs["bad"] < 4:
            raise ZeroDivisionError("nothing to share")
        return Decision()

    registry = Registry(now=now())
    put(registry, config_map("bad"))
    put(registry, config_map("good"))
    live = Live([Controller("sharing", reconcile, of=CONFIG_MAP)], transport_in(registry))
    with caplog.at_level(logging.WARNING, logger.name):
        async with at_work(live):
            await until(lambda: runs["bad"] == 4 and runs["good"] == 1)
    assert live.metrics.reconciles.value("sharing", "failed") == 3
    told = [record.getMessage() for record in caplog.records]
    assert told == ["sharing default/bad failed: ZeroDivisionError('nothing to share')"] * 3


@awaited
async def test_a_kind_that_is_not_installed_is_waited_for() -> None:
    seen: list[str] = []
    async with over_http(noting(seen, SHIP), COPIER) as (live, server):
        registry = server.registry
        put(registry, config_map("a", copies="1"))
        await until(lambda: data_of(registry, "a").get("seen") == "1")
        assert live.missing == [
            "example.com/v1/Ship is not served by this cluster; is its CustomResourceDefinition installed?"
        ]
        put(registry, ships())
        ship = {"apiVersion": "example.com/v1", "kind": "Ship", "metadata": {"name": "s", "namespace": "default"}}
        put(registry, ship)
        await until(lambda: seen == ["s"])
        assert live.missing == []


@awaited
async def test_a_kind_that_is_forbidden_is_told_once_with_the_reason(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[str] = []
    with caplog.at_level(logging.INFO, logger.name):
        async with over_http(noting(seen)) as (live, server):
            await until(lambda: not live.missing)
            server.front.refuse("GET", "configmaps", 403)
            server.app.watches.stop()
            await until(lambda: live.missing)
            assert live.missing[0].startswith("v1/ConfigMap may not be listed and watched: told so")
            server.app.watches.stopping = False
            server.front.relent()
            await until(lambda: not live.missing)
    told = [record.getMessage() for record in caplog.records]
    assert len([line for line in told if "may not be listed" in line]) == 1
    assert "v1/ConfigMap can be read now" in told


@awaited
async def test_an_object_that_cannot_be_read_does_not_hide_the_others() -> None:
    class Strict(ConfigMap, frozen=True):
        kind: int = 0

    seen: list[str] = []
    registry = Registry(now=now())
    put(registry, config_map("a"))
    kind = Kind("v1", "ConfigMap", Strict)
    live = Live([noting(seen, kind), noting(seen)], transport_in(registry))
    async with at_work(live):
        await until(lambda: "a" in seen)
        assert live.reflector_metrics.unreadable.value("v1/ConfigMap") > 0


@awaited
async def test_a_moment_that_comes_runs_the_key() -> None:
    rang: list[datetime] = []
    due = now() + timedelta(seconds=0.2)

    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        if view.reached(due):
            rang.append(moment)
        return Decision()

    async with at_work(Live([Controller("alarm", reconcile)], transport_in(Registry(now=now())))):
        await until(lambda: rang)
    assert rang[0] >= due


@awaited
async def test_a_clock_that_is_set_back_holds_nobody_up() -> None:
    """The next try after a failure was put at a moment that is now an hour away."""
    tries: list[datetime] = []
    ahead = timedelta(hours=1)

    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        tries.append(moment)
        if len(tries) < 8:
            raise RuntimeError("not yet")
        return Decision()

    live = Live([Controller("trying", reconcile)], transport_in(Registry(now=now())), clock=lambda: now() + ahead)
    async with at_work(live):
        await until(lambda: len(tries) == 7)
        ahead = timedelta(0)
        await until(lambda: len(tries) == 8)


@awaited
async def test_events_are_written_and_losing_them_fails_nothing() -> None:
    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        found = view.get(CONFIG_MAP, *key)
        if found is None:
            return Decision()
        return Decision(events=(Event(CONFIG_MAP, key, "Normal", "Seen", f"{key.name} was seen"),))

    async def refuse_one(request: Request) -> None:
        if request.kind == "Event" and "lost" in request.body["message"]:
            raise UnknownOutcome("gone")

    registry = Registry(now=now())
    put(registry, config_map("lost"))
    put(registry, config_map("kept"))
    live = Live([Controller("seeing", reconcile, of=CONFIG_MAP)], Hooked(registry, before=refuse_one))
    async with at_work(live):
        events = registry.resource("v1", "Event")
        await until(lambda: [e["message"] for e in registry.list(events).items] == ["kept was seen"])
    assert "mooring_events_lost_total 1" in live.metrics_text()
    assert live.metrics.reconciles.value("seeing", "failed") == 0


@awaited
async def test_nothing_runs_before_every_kind_was_tried() -> None:
    """A key that runs on half a picture would decide for nothing, ten thousand times at a start."""
    other = Kind("v1", "Service", ConfigMap)
    unready: list[str] = []

    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        unready.extend(live.missing)
        return Decision()

    registry = Registry(now=now())
    put(registry, config_map("a"))
    live = Live([Controller("looking", reconcile, of=CONFIG_MAP, reads=(other,))], Slow(registry, "Service"))
    async with at_work(live):
        await until(lambda: live.metrics.reconciles.value("looking", "done"))
    assert unready == []
    assert live.metrics.reconciles.value("looking", "unavailable") == 0


@awaited
async def test_what_was_deleted_leaves_nothing_behind() -> None:
    seen: list[str] = []
    registry = Registry(now=now())
    live = Live([noting(seen)], transport_in(registry))
    async with at_work(live):
        put(registry, config_map("a"))
        await until(lambda: seen == ["a"])
        drop(registry, "a")
        await until(lambda: seen == ["a", "a"])
        assert not [question for question in live.dispatcher._subscriptions.keys if "a" in str(question)]
        put(registry, config_map("a"))
        await until(lambda: seen == ["a", "a", "a"])
