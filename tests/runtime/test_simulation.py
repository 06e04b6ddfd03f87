"""Whatever goes wrong between controllers and the API server, they end where they would have ended."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.kube.times import timestamp
from mooring.registry.history import History
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Event
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.simulation import HOUR, START, Simulation
from mooring.runtime.events.recorder import MAX_EVENTS_IN_FULL, EventRecorder
from mooring.runtime.logs import JsonFormatter, say
from mooring.runtime.view import View
from tests.runtime.sample import CONFIG_MAP, COPIER
from tests.runtime.worlds import change, config_map, create, get, names


@pytest.mark.parametrize("seed", range(40))
def test_disturbed_runs_end_where_peaceful_ones_do(seed: int) -> None:
    simulation = Simulation([COPIER], seed=seed, faults=Faults.everything(0.08))
    create(simulation, config_map("a", copies="6"))
    create(simulation, config_map("b", copies="2"))
    simulation.run()
    change(simulation, "a", {"data": {"copies": "3"}})
    simulation.run()
    simulation.quiet()
    ended = simulation.run()
    assert not ended.moving
    assert names(simulation) == ["a", "a-0", "a-1", "a-2", "b", "b-0", "b-1"]
    assert get(simulation, "a")["data"]["seen"] == "3"


@pytest.mark.parametrize(
    "faults",
    [
        Faults(conflict=0.4),
        Faults(throttle=0.4),
        Faults(fail_before=0.4),
        Faults(fail_after=0.4),
        Faults(lost_answer=0.4),
        Faults(crash=0.2),
        Faults(lag=0.7),
        Faults(drop=0.5),
        Faults(repeat=0.7),
        Faults(expire=0.5),
    ],
    ids=lambda faults: next(name for name, rate in vars(faults).items() if rate),
)
def test_each_fault_alone_changes_nothing_about_the_end(faults: Faults) -> None:
    for seed in range(10):
        simulation = Simulation([COPIER], seed=seed, faults=faults)
        create(simulation, config_map("a", copies="4"))
        assert not simulation.run().moving
        assert names(simulation) == ["a", "a-0", "a-1", "a-2", "a-3"]
        assert get(simulation, "a")["data"]["seen"] == "4"


def test_a_process_that_died_leaves_no_watch_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[History] = []
    listen = History.listen

    def counted(history: History, wake: Callable[[], None]) -> Callable[[], None]:
        followed.append(history)
        stop = listen(history, wake)

        def counted_stop() -> None:
            followed.remove(history)
            stop()

        return counted_stop

    monkeypatch.setattr(History, "listen", counted)
    simulation = Simulation([COPIER], seed=3)
    create(simulation, config_map("a", copies="4"))
    simulation.run()
    at_rest = len(followed)
    disturbed = Simulation([COPIER], seed=3, faults=Faults(crash=0.2))
    create(disturbed, config_map("a", copies="4"))
    disturbed.run()
    assert disturbed.crashes > 0
    assert len(followed) == 2 * at_rest


def test_an_idle_watch_is_struck_as_seldom_as_its_faults_say() -> None:
    def lists(idle: float) -> float:
        simulation = Simulation([COPIER], seed=3, faults=Faults(expire=0.3, idle=idle))
        for number in range(20):
            create(simulation, config_map(f"m{number}", copies="1"))
            simulation.run()
        assert len(names(simulation)) == 40
        return simulation.metrics.relists.value(CONFIG_MAP.described)

    assert 1 < lists(0.0) < lists(1.0)


def test_the_same_seed_gives_the_same_run() -> None:
    def run(simulation: Simulation) -> tuple[int, int, str]:
        create(simulation, config_map("a", copies="9"))
        ended = simulation.run()
        return simulation.steps, simulation.crashes, str(ended.now)

    def seeded(seed: int) -> tuple[int, int, str]:
        return run(Simulation([COPIER], seed=seed, faults=Faults.everything(0.2)))

    assert seeded(5) == seeded(5)
    assert seeded(5) != seeded(6)
    assert run(Simulation([COPIER], faults=Faults.everything(0.2))) == seeded(0)


def test_a_run_that_is_cut_off_says_what_still_moves() -> None:
    simulation = Simulation([COPIER])
    stranger = create(simulation, config_map("stranger"))
    create(simulation, config_map("a-0", owner=stranger))
    create(simulation, config_map("a", copies="1"))
    ended = simulation.run(timedelta(minutes=2))
    assert ended.moving == ("copier default/a",)
    assert ended.now == START + timedelta(minutes=2)


def test_metrics_count_from_zero_and_read_as_prometheus_expects() -> None:
    simulation = Simulation([COPIER])
    create(simulation, config_map("a", copies="2"))
    simulation.run()
    text = simulation.metrics.text()
    assert 'mooring_writes_total{controller="copier",verb="create"} 2' in text
    assert 'mooring_reconcile_total{controller="copier",result="failed"} 0' in text
    assert "# TYPE mooring_reconcile_total counter" in text


def test_events_are_counted_and_a_flood_is_thinned() -> None:
    recorder = EventRecorder("tests")
    event = Event(CONFIG_MAP, Key("default", "a"), "Warning", "Again", "it happened again")
    requests = [request for _ in range(300) for request in recorder.requests((event,), {}, START)]
    assert len({request.name for request in requests}) == 1
    assert [request.body["count"] for request in requests] == [*range(1, MAX_EVENTS_IN_FULL + 1), 100, 200, 300]


def test_an_event_that_is_new_to_its_recorder_is_created_and_told_again_is_applied() -> None:
    recorder = EventRecorder("tests")
    event = Event(CONFIG_MAP, Key("default", "a"), "Warning", "Again", "it happened again")
    verbs = [request.verb for _ in range(3) for request in recorder.requests((event,), {}, START)]
    assert verbs == ["create", "apply", "apply"]


def test_a_recorder_that_has_lost_its_memory_tells_of_what_it_told_before() -> None:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        source = view.get(CONFIG_MAP, *key)
        said = Event(CONFIG_MAP, key, "Normal", "Seen", "it was seen")
        return Decision(events=(said,)) if source is not None else Decision()

    simulation = Simulation([Controller("seer", reconcile, of=CONFIG_MAP)])
    create(simulation, config_map("a"))
    simulation.run()
    [event] = _events(simulation)
    later = Simulation([Controller("seer", reconcile, of=CONFIG_MAP)], registry=simulation.registry, now=START + HOUR)
    later.run()
    [again] = _events(later)
    assert again["metadata"]["uid"] == event["metadata"]["uid"]
    assert (event["lastTimestamp"], again["lastTimestamp"]) == (timestamp(START), timestamp(START + HOUR))


def _events(simulation: Simulation) -> list[Any]:
    return simulation.registry.list(simulation.registry.resource("v1", "Event")).items


def test_log_lines_are_objects_with_a_sentence_and_fields(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="mooring.runtime"):
        say(logging.WARNING, "a key waits", controller="copier", key="default/a")
    line = json.loads(JsonFormatter().format(caplog.records[0]))
    assert line["message"] == "a key waits"
    assert line["level"] == "warning"
    assert line["controller"] == "copier"
