"""Rules 6 to 11 of view and decision, each with a test of its name: memory, folds, fan-out, absence, reads, time."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest

from mooring.api.kinds import Key, Kind
from mooring.kube.errors import MooringError
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.dispatcher.dispatcher import Dispatcher
from mooring.runtime.dispatcher.store import Changed
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.folds import Fold
from mooring.runtime.view import Unavailable, View
from tests.runtime.rules import A, controller, dispatcher, seen, step
from tests.runtime.sample import CONFIG_MAP, COPIER, ConfigMap
from tests.runtime.worlds import change, config_map, create


def test_rule_6_memory_is_passed_on_and_may_be_lost() -> None:
    remembered: list[Any] = []

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        view.get(CONFIG_MAP, *key)
        remembered.append(view.memory(int))
        return Decision(memory=(view.memory(int) or 0) + 1)

    simulation = Simulation([controller(reconcile, memory=int)])
    create(simulation, config_map("a"))
    simulation.run()
    change(simulation, "a", {"data": {"x": "1"}})
    simulation.run()
    simulation._boot()
    simulation.run()
    assert remembered == [None, 1, None]


def test_rule_6_a_run_that_leaves_nothing_to_remember_is_followed_by_one_that_remembers_nothing() -> None:
    remembered: list[Any] = []

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        source = view.get(CONFIG_MAP, *key)
        remembered.append(view.memory(int))
        return Decision(memory=7 if source is not None and not source.data else None)

    simulation = Simulation([controller(reconcile, memory=int)])
    create(simulation, config_map("a"))
    simulation.run()
    for number in "12":
        change(simulation, "a", {"data": {"x": number}})
        simulation.run()
    assert remembered == [None, 7, None]


def test_a_key_whose_object_is_gone_still_hears_of_what_it_asks_about_others() -> None:
    runs: list[str] = []

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        if key.name == "a" and view.get(CONFIG_MAP, *key) is None:
            other = view.get(CONFIG_MAP, key.namespace, "other")
            runs.append("nothing" if other is None else other.data.get("x", ""))
        return Decision()

    simulation = Simulation([controller(reconcile)])
    create(simulation, config_map("a"))
    create(simulation, config_map("other", x="1"))
    simulation.run()
    registry = simulation.registry
    registry.delete(registry.resource("v1", "ConfigMap"), "default", "a", now=simulation.now)
    simulation.run()
    change(simulation, "other", {"data": {"x": "2"}})
    simulation.run()
    assert runs == ["1", "2"]


def _count_fold(interval: timedelta = timedelta(0)) -> Fold[dict[str, int]]:
    def apply(state: dict[str, int], kind: Kind[Any], changed: Changed) -> bool:
        state["changes"] = state.get("changes", 0) + 1
        return True

    return Fold("changes", (CONFIG_MAP,), dict, apply, interval)


def test_rule_7_folds_follow_the_stream_of_changes() -> None:
    fold = _count_fold()
    answers: list[int] = []

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        answers.append(view.fold(fold).get("changes", 0))
        return Decision()

    simulation = Simulation([Controller("counting", reconcile, folds=(fold,))])
    for name in ("a", "b", "c"):
        create(simulation, config_map(name))
    simulation.run()
    assert answers[-1] == 3


def test_rule_7_those_who_decide_for_many_go_first() -> None:
    fold = _count_fold()

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        if key == A:
            view.get(CONFIG_MAP, *key)
        else:
            view.fold(fold)
        return Decision()

    made = dispatcher(controller(reconcile), Controller("many", reconcile, folds=(fold,)))
    step(made)
    made.observe(CONFIG_MAP, "ADDED", seen("a", 5))
    assert step(made) == ["all", "a"]


def test_rule_8_a_fold_without_news_wakes_nobody() -> None:
    def apply(state: list[str], kind: Kind[Any], changed: Changed) -> bool:
        state.append(changed.key.name)
        return len(state) > 1

    fold = Fold("second", (CONFIG_MAP,), list, apply)

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        view.fold(fold)
        return Decision()

    made = dispatcher(Controller("counting", reconcile, folds=(fold,)))
    assert step(made) == ["all"]
    made.observe(CONFIG_MAP, "ADDED", seen("a", 5))
    assert step(made) == []
    made.observe(CONFIG_MAP, "ADDED", seen("b", 6))
    assert step(made) == ["all"]


def test_rule_8_a_heartbeat_wakes_nobody_and_changes_at_one_instant_count_as_one() -> None:
    made = dispatcher(COPIER)
    made.observe(CONFIG_MAP, "ADDED", seen("a", 5, copies="0", seen="0"))
    assert step(made) == ["a"]
    made.observe(CONFIG_MAP, "MODIFIED", seen("a", 6, copies="0", seen="0"))
    assert step(made) == []
    for version in range(7, 12):
        made.observe(CONFIG_MAP, "MODIFIED", seen("a", version, copies="0", seen="0", other=str(version)))
    assert step(made) == ["a"]


def test_rule_8_counts_are_questions_and_whole_answers_have_an_interval() -> None:
    counted: list[int] = []

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        counted.append(view.count(CONFIG_MAP, "namespace", "default", "labelled"))
        return Decision()

    made = dispatcher(Controller("counting", reconcile, reads=(CONFIG_MAP,)))
    assert step(made) == ["all"]
    made.observe(CONFIG_MAP, "ADDED", seen("a", 5))
    assert step(made) == []
    labelled = seen("b", 6)
    labelled["metadata"]["labels"] = {"ready": "yes"}
    made.observe(CONFIG_MAP, "ADDED", labelled)
    assert step(made) == ["all"]
    assert counted == [0, 1]

    fold = _count_fold(timedelta(seconds=10))
    runs: list[datetime] = []

    def slow(key: Key, view: View, now: datetime) -> Decision:
        view.fold(fold)
        runs.append(now)
        return Decision()

    simulation = Simulation([Controller("slow", slow, folds=(fold,))])
    simulation.run()
    for name in ("a", "b", "c"):
        create(simulation, config_map(name))
        simulation.run(timedelta(seconds=1))
    simulation.run()
    assert len(runs) == 3
    assert runs[2] - runs[1] == timedelta(seconds=10)


def test_rule_9_what_cannot_be_read_is_not_empty() -> None:
    made = Dispatcher([COPIER], Random(0))
    view = View(made.stores, {}, [CONFIG_MAP], START)
    with pytest.raises(Unavailable, match="v1/ConfigMap cannot be read: it has not been listed yet"):
        view.list(CONFIG_MAP)
    made.resync(CONFIG_MAP, [], "1")
    assert view.list(CONFIG_MAP) == ()
    made.lose(CONFIG_MAP, "is forbidden")
    with pytest.raises(Unavailable, match="is forbidden"):
        view.get(CONFIG_MAP, *A)


def test_rule_9_asking_for_what_is_absent_is_a_subscription() -> None:
    found: list[bool] = []

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        found.append(view.get(CONFIG_MAP, "default", "awaited") is not None)
        return Decision()

    made = dispatcher(Controller("waiting", reconcile, reads=(CONFIG_MAP,)))
    step(made)
    made.observe(CONFIG_MAP, "ADDED", seen("other", 5))
    assert step(made) == []
    made.observe(CONFIG_MAP, "ADDED", seen("awaited", 6))
    step(made)
    assert found == [False, True]


def test_rule_10_reads_and_writes_are_declared() -> None:
    other: Kind[Any] = Kind("v1", "Secret", ConfigMap)
    view = View({}, {}, [CONFIG_MAP], START)
    with pytest.raises(MooringError, match="v1/Secret is read but not declared"):
        view.get(other, *A)

    made = dispatcher(controller(lambda k, v, n: Decision(children=(Patch(CONFIG_MAP, k, {}),)), writes={}))
    made.observe(CONFIG_MAP, "ADDED", seen("a", 5))
    made.flush(START)
    with pytest.raises(MooringError, match="tried writes v1/ConfigMap, which it does not declare"):
        made.next(START)


def test_rule_11_time_is_a_moment_that_is_reached_and_polling_does_not_keep_a_run_going() -> None:
    moments: list[datetime] = []

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        moments.append(now)
        if view.reached(START + timedelta(minutes=5)):
            view.poll_again(now + timedelta(minutes=1))
        return Decision()

    simulation = Simulation([controller(reconcile)])
    create(simulation, config_map("a"))
    ended = simulation.run()
    assert moments == [START, START + timedelta(minutes=5)]
    assert ended.now == START + timedelta(minutes=5)
    assert not ended.moving
