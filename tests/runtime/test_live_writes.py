"""The live driver and what it writes: together or one after the other, lost, refused, and at its own end."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from datetime import datetime
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.client.transport import Request, UnknownOutcome
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError
from mooring.kube.times import timestamp
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Apply, Create, Decision, Patch
from mooring.runtime.dispatcher.dispatcher import Dispatcher
from mooring.runtime.dispatcher.outcome import Outcome
from mooring.runtime.drivers.live import Live
from mooring.runtime.logs import logger
from mooring.runtime.view import View
from tests.client.stories import awaited, config_map, now, until
from tests.runtime.living import Blind, Hooked, at_work, data_of, names, put, transport_in
from tests.runtime.sample import CONFIG_MAP, COPIER

META = {"name": "a", "namespace": "default", "uid": "u"}


@awaited
async def test_a_key_never_runs_while_its_writes_are_under_way() -> None:
    running: Counter[str] = Counter()
    most = 0

    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        nonlocal most
        source = view.get(CONFIG_MAP, *key)
        assert running[key.name] == 0
        if source is None or int(source.data.get("n", "0")) >= 20:
            return Decision()
        running[key.name] += 1
        most = max(most, running.total())
        return Decision(status=(Patch(CONFIG_MAP, key, {"data": {"n": str(int(source.data.get("n", "0")) + 1)}}),))

    async def slowly(request: Request) -> None:
        await asyncio.sleep(0.001)
        running[request.name] -= 1

    registry = Registry(now=now())
    for number in range(5):
        put(registry, config_map(f"c{number}"))
    live = Live(
        [Controller("counting", reconcile, of=CONFIG_MAP, writes={CONFIG_MAP: ("create", "patch", "delete")})],
        Hooked(registry, after=slowly),
    )
    async with at_work(live):
        await until(lambda: all(data_of(registry, f"c{number}").get("n") == "20" for number in range(5)))
    assert most == 5


@awaited
async def test_writes_of_one_stage_run_together_and_the_next_stage_waits() -> None:
    under_way = 0
    together: list[tuple[str, int]] = []

    async def arrive(request: Request) -> None:
        nonlocal under_way
        under_way += 1
        together.append((request.name, under_way))
        await asyncio.sleep(0.01)

    async def leave(request: Request) -> None:
        nonlocal under_way
        under_way -= 1

    registry = Registry(now=now())
    put(registry, config_map("a", copies="3"))
    async with at_work(Live([COPIER], Hooked(registry, arrive, leave))):
        await until(lambda: data_of(registry, "a").get("seen") == "3")
    assert sorted(count for name, count in together if name != "a") == [1, 2, 3]
    assert [count for name, count in together if name == "a"] == [1, 1]


@awaited
async def test_no_more_keys_write_at_a_time_than_allowed() -> None:
    under_way = most = 0

    async def arrive(request: Request) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)

    async def leave(request: Request) -> None:
        nonlocal under_way
        under_way -= 1

    registry = Registry(now=now())
    for number in range(40):
        put(registry, config_map(f"c{number}", copies="0"))
    async with at_work(Live([COPIER], Blind(registry, arrive, leave), in_flight=4)):
        await until(lambda: all(data_of(registry, f"c{number}").get("seen") == "0" for number in range(40)))
    assert most == 4


@awaited
async def test_after_a_lost_answer_the_object_is_looked_at_before_the_key_runs_again() -> None:
    lost: list[str] = []

    async def lose(request: Request) -> None:
        if request.verb == "create" and not lost:
            lost.append(request.name)
            raise UnknownOutcome("the answer was lost")

    registry = Registry(now=now())
    put(registry, config_map("a", copies="1"))
    live = Live([COPIER], Blind(registry, after=lose))
    async with at_work(live):
        # No watch has told of it, and still it is known to be there and counted.
        await until(lambda: data_of(registry, "a").get("seen") == "1")
    assert lost == ["a-0"]
    assert live.metrics.writes.value("copier", "create") == 1


@awaited
async def test_an_object_that_may_not_be_looked_at_after_a_lost_answer_does_not_hold_its_key_up() -> None:
    looks: list[str] = []

    class Veiled(Hooked):
        async def get(self, api_version: str, kind: str, namespace: str, name: str, **options: Any) -> Object:
            looks.append(name)
            raise ForbiddenError("look elsewhere")

    async def lose(request: Request) -> None:
        if request.verb == "create" and request.name not in lost:
            lost.append(request.name)
            raise UnknownOutcome("the answer was lost")

    lost: list[str] = []
    registry = Registry(now=now())
    put(registry, config_map("a", copies="1"))
    async with at_work(Live([COPIER], Veiled(registry, after=lose))):
        await until(lambda: data_of(registry, "a").get("seen") == "1")
    assert (lost, looks) == (["a-0"], ["a-0"])


@awaited
async def test_a_hot_loop_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        source = view.get(CONFIG_MAP, *key)
        count = int(source.data.get("count", "0")) if source is not None else 0
        return Decision(status=(Patch(CONFIG_MAP, key, {"data": {"count": str(count + 1)}}),))

    registry = Registry(now=now())
    put(registry, config_map("a"))
    counter = Controller("counter", reconcile, of=CONFIG_MAP, writes={CONFIG_MAP: ("patch",)})
    live = Live([counter], transport_in(registry))
    with caplog.at_level(logging.WARNING, logger.name):
        async with at_work(live):
            await until(lambda: bool(live.dispatcher.hot_loops.found))
            met = int(data_of(registry, "a")["count"])
            await until(lambda: int(data_of(registry, "a")["count"]) > met + 3)
    assert [record.getMessage() for record in caplog.records if "is in a hot loop" in record.getMessage()] == [
        "counter default/a is in a hot loop: patch ConfigMap default/a again and again"
    ]


@awaited
async def test_writes_under_way_are_finished_before_it_stops() -> None:
    begun = asyncio.Event()

    async def slowly(request: Request) -> None:
        begun.set()
        await asyncio.sleep(0.1)

    registry = Registry(now=now())
    put(registry, config_map("a", copies="2"))
    async with at_work(Live([COPIER], Hooked(registry, before=slowly))):
        await begun.wait()
    assert {"a-0", "a-1"} <= set(names(registry))


@awaited
async def test_writes_that_take_longer_than_the_grace_are_given_up() -> None:
    begun = asyncio.Event()

    async def for_ever(request: Request) -> None:
        begun.set()
        await asyncio.sleep(3600)

    registry = Registry(now=now())
    put(registry, config_map("a", copies="1"))
    async with at_work(Live([COPIER], Hooked(registry, before=for_ever), grace=0.05)):
        await begun.wait()
    assert "a-0" not in names(registry)


@awaited
async def test_a_refused_apply_is_sent_again_when_something_changes() -> None:
    refused: list[str] = []

    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        found = view.get(CONFIG_MAP, *key)
        if found is None or found.data.get("told"):
            return Decision()
        meta = {"namespace": key.namespace, "name": key.name}
        return Decision(status=(Apply(CONFIG_MAP, {"metadata": meta, "data": {"told": timestamp(moment)[:4]}}),))

    async def refuse_once(request: Request) -> None:
        if not refused:
            refused.append(request.name)
            raise UnknownOutcome("nobody knows")

    registry = Registry(now=now())
    put(registry, config_map("a"))
    controller = Controller("telling", reconcile, of=CONFIG_MAP, writes={CONFIG_MAP: ("create", "patch", "delete")})
    async with at_work(Live([controller], Hooked(registry, before=refuse_once))):
        await until(lambda: data_of(registry, "a").get("told"))
    assert refused == ["a"]


@awaited
async def test_whoever_asks_for_problems_hears_at_once_that_there_are_none_any_more() -> None:
    heard: list[str] = []

    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        heard.append(view.problem)
        if len(heard) == 1:
            raise RuntimeError("once")
        return Decision()

    live = Live([Controller("hearing", reconcile)], transport_in(Registry(now=now())))
    async with at_work(live):
        await until(lambda: heard and not heard[-1] and len(heard) > 1, seconds=3)
    assert "once" in heard[1]


@awaited
async def test_a_child_of_another_owner_is_not_taken_for_ours() -> None:
    def reconcile(key: Key, view: View, moment: datetime) -> Decision:
        if key.name != "a":
            return Decision()
        view.get(CONFIG_MAP, *key)
        return Decision(children=(Create(CONFIG_MAP, config_map("b")),))

    registry = Registry(now=now())
    put(registry, config_map("a"))
    put(registry, config_map("b"))
    controller = Controller("claiming", reconcile, of=CONFIG_MAP, writes={CONFIG_MAP: ("create", "patch", "delete")})
    live = Live([controller], transport_in(registry))
    async with at_work(live):
        await until(lambda: live.metrics.reconciles.value("claiming", "failed") >= 2)


def test_a_key_that_waits_for_a_version_of_a_lost_history_is_let_go() -> None:
    dispatcher = Dispatcher([COPIER], random.Random(1))
    dispatcher.resync(
        CONFIG_MAP, [{**config_map("a", copies="0"), "metadata": {**META, "resourceVersion": "90"}}], "100"
    )
    dispatcher.flush(now())
    task = dispatcher.next(now())
    assert task is not None
    key = Key("default", "a")
    dispatcher.settle(task, Outcome(versions={(CONFIG_MAP, key): 101}), now())
    dispatcher.resync(CONFIG_MAP, [{**config_map("a", copies="0"), "metadata": {**META, "resourceVersion": "3"}}], "5")
    dispatcher.flush(now())
    again = dispatcher.next(now())
    assert again is not None
    assert again.request.key == key


def test_a_key_that_changed_while_it_ran_still_sees_its_own_writes_first() -> None:
    def at(version: int, copies: int) -> Object:
        made = config_map("a", copies=str(copies))
        return {**made, "metadata": {**made["metadata"], **META, "resourceVersion": str(version)}}

    dispatcher = Dispatcher([COPIER], random.Random(1))
    dispatcher.resync(CONFIG_MAP, [at(90, 0)], "100")
    dispatcher.flush(now())
    task = dispatcher.next(now())
    assert task is not None
    dispatcher.observe(CONFIG_MAP, "MODIFIED", at(101, 1))
    dispatcher.flush(now())
    dispatcher.settle(task, Outcome(versions={(CONFIG_MAP, Key("default", "a")): 102}), now())
    dispatcher.flush(now())
    assert dispatcher.next(now()) is None
    dispatcher.observe(CONFIG_MAP, "MODIFIED", at(102, 2))
    dispatcher.flush(now())
    assert dispatcher.next(now()) is not None


@awaited
async def test_unless_it_is_set_64_keys_write_at_a_time() -> None:
    under_way: set[str] = set()
    every = asyncio.Event()

    async def wait_for_the_others(request: Request) -> None:
        under_way.add(request.name)
        await every.wait()

    registry = Registry(now=now())
    for number in range(70):
        put(registry, config_map(f"c{number}", copies="0"))
    async with at_work(Live([COPIER], Blind(registry, wait_for_the_others))):
        await until(lambda: len(under_way) >= 64)
        await asyncio.sleep(0.05)
        assert len(under_way) == 64
        every.set()
        await until(lambda: len(under_way) == 70)
