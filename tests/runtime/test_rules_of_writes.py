"""Rules 1 to 5 of view and decision, each with a test of its name: own writes, names, order, basis, claims."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.client.transport import Request
from mooring.kube.errors import MooringError
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Apply, Create, Decision, Delete, Patch
from mooring.runtime.dispatcher.dispatcher import Dispatcher
from mooring.runtime.dispatcher.outcome import Outcome
from mooring.runtime.drivers.execution import execute
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.view import View
from mooring.testing.crashes import survives_every_crash
from tests.runtime.rules import A, controller, dispatcher, seen, step
from tests.runtime.sample import CONFIG_MAP, COPIER
from tests.runtime.worlds import change, config_map, create, get, names


def wrote(reconcile: Callable[[Key, View, datetime], Decision], version: int) -> Dispatcher:
    """One key that has run once and written its own object, and has not seen that yet."""
    made = dispatcher(controller(reconcile))
    made.observe(CONFIG_MAP, "ADDED", seen("a", 5))
    made.flush(START)
    task = made.next(START)
    assert task is not None
    made.settle(task, Outcome(versions={(CONFIG_MAP, A): version}), START)
    return made


def test_rule_1_own_writes_are_seen_before_the_key_runs_again() -> None:
    runs: list[int] = []

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        runs.append(len(view.list(CONFIG_MAP)))
        return Decision(children=(Patch(CONFIG_MAP, key, {"data": {"x": "y"}}),)) if len(runs) == 1 else Decision()

    made = wrote(reconcile, version=9)

    made.observe(CONFIG_MAP, "ADDED", seen("b", 7))
    made.flush(START)
    assert [t.request.key.name for t in iter(lambda: made.next(START), None)] == ["b"]
    made.observe(CONFIG_MAP, "MODIFIED", seen("a", 9, x="y"))
    made.flush(START)
    again = made.next(START)
    assert again is not None
    assert again.request.key == A


@pytest.mark.parametrize(
    ("final", "version", "ran"),
    [
        (False, 9, ["a"]),
        (True, 9, []),
        # Somebody else wrote after us, and both were seen at once.
        (True, 10, ["a"]),
    ],
    ids=["what is decided on", "what is only told", "what somebody has changed since"],
)
def test_rule_1_seeing_its_own_last_word_does_not_wake_a_key(final: bool, version: int, ran: list[str]) -> None:
    runs: list[Key] = []

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        view.get(CONFIG_MAP, *key)
        runs.append(key)
        first = Decision(status=(Patch(CONFIG_MAP, key, {"data": {"x": "y"}}),), final=final)
        return first if len(runs) == 1 else Decision()

    made = wrote(reconcile, version=9)
    made.observe(CONFIG_MAP, "MODIFIED", seen("a", version, x="y"))
    assert step(made) == ran
    made.observe(CONFIG_MAP, "MODIFIED", seen("a", 11, x="z"))
    assert step(made) == ["a"]


def test_rule_1_after_a_lost_answer_the_kind_is_listed_live() -> None:
    for seed in range(20):
        simulation = Simulation([COPIER], seed=seed, faults=Faults(lost_answer=0.3, lag=0.5))
        create(simulation, config_map("a", copies="4"))
        simulation.run()
        assert names(simulation) == ["a", "a-0", "a-1", "a-2", "a-3"]


def test_rule_2_a_name_follows_from_its_owner() -> None:
    made = dispatcher(
        controller(lambda k, v, n: Decision(children=(Create(CONFIG_MAP, {"metadata": {**_generated(k)}}),)))
    )
    made.observe(CONFIG_MAP, "ADDED", seen("a", 5))
    made.flush(START)
    with pytest.raises(MooringError, match="generateName"):
        made.next(START)


def _generated(key: Key) -> dict[str, str]:
    return {"generateName": "a-", "name": "", "namespace": key.namespace}


def test_rule_2_what_exists_already_is_ours_if_our_owner_made_it() -> None:
    simulation = Simulation([COPIER])
    source = create(simulation, config_map("a", copies="2"))
    create(simulation, config_map("a-0", owner=source))
    simulation.run()
    assert names(simulation) == ["a", "a-0", "a-1"]
    assert not simulation.terminal


def test_rule_2_what_somebody_else_owns_is_left_alone() -> None:
    simulation = Simulation([COPIER])
    stranger = create(simulation, config_map("stranger"))
    create(simulation, config_map("a-0", owner=stranger, mine="no"))
    create(simulation, config_map("a", copies="1"))
    ended = simulation.run(timedelta(minutes=1))
    assert get(simulation, "a-0")["data"] == {"mine": "no"}
    assert ended.moving == ("copier default/a",)


def test_rule_3_stages_run_in_order_and_a_failure_stops_the_later_ones() -> None:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        if key.name != "a":
            return Decision()
        stale = Patch(CONFIG_MAP, Key("default", "missing"), {"data": {"x": "y"}})
        child = Create(CONFIG_MAP, {"metadata": {"namespace": "default", "name": "late"}})
        return Decision(intent=(stale,), children=(child,))

    simulation = Simulation([controller(reconcile)])
    create(simulation, config_map("a"))
    simulation.run(timedelta(seconds=1))
    assert names(simulation) == ["a"]


def test_rule_3_every_prefix_of_a_decision_leads_to_the_same_end() -> None:
    assert survives_every_crash([COPIER], lambda s: _scaled(s)) >= 6


def _scaled(simulation: Simulation) -> None:
    source = create(simulation, config_map("a", copies="3"))
    create(simulation, config_map("a-7", owner=source))


def test_rule_4_every_write_says_what_it_was_decided_on() -> None:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        return Decision(
            intent=(Patch(CONFIG_MAP, A, {"data": {}}),),
            children=(Apply(CONFIG_MAP, {"metadata": {"namespace": "default", "name": "a"}}),),
            release=(Delete(CONFIG_MAP, A),),
        )

    made = dispatcher(controller(reconcile))
    made.observe(CONFIG_MAP, "ADDED", seen("a", 5))
    made.flush(START)
    task = made.next(START)
    assert task is not None
    patch, apply, delete = [request for stage in task.stages for request in stage]
    assert patch.resource_version == "5"
    assert (delete.uid, delete.resource_version) == ("uid-a", "5")
    assert apply.uid == "uid-a"


def test_rule_4_a_later_stage_builds_on_what_an_earlier_one_left() -> None:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        found = view.get(CONFIG_MAP, *key)
        if found is None or "done" in found.data:
            return Decision()
        started, done = ({"data": {word: "yes"}} for word in ("started", "done"))
        return Decision(intent=(Patch(CONFIG_MAP, key, started),), status=(Patch(CONFIG_MAP, key, done),))

    simulation = Simulation([controller(reconcile)])
    create(simulation, config_map("a"))
    simulation.run()
    assert get(simulation, "a")["data"] == {"started": "yes", "done": "yes"}
    assert simulation.metrics.reconciles.value("tried", "conflict") == 0


def test_rule_4_what_others_write_between_two_stages_is_noticed() -> None:
    simulation = Simulation([])
    made = create(simulation, config_map("a"))
    first, second = (
        Request(
            "patch", "v1", "ConfigMap", *A, {"data": {"n": n}}, resource_version=made["metadata"]["resourceVersion"]
        )
        for n in "12"
    )

    class Meddling:
        """A transport with somebody else at work after every write."""

        def __getattr__(self, name: str) -> Any:
            return getattr(simulation.transport, name)

        def write(self, request: Request) -> Any:
            result = simulation.transport.write(request)
            change(simulation, "a", {"data": {"theirs": "yes"}})
            return result

    outcome = execute([[first], [second]], Meddling(), {("v1", "ConfigMap"): CONFIG_MAP})
    assert outcome.stale
    assert get(simulation, "a")["data"] == {"n": "1", "theirs": "yes"}


def test_rule_4_an_apply_to_another_object_of_the_name_is_an_old_view() -> None:
    simulation = Simulation([])
    create(simulation, config_map("a"))
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    old = "11111111-1111-4111-8111-111111111111"
    request = Request("apply", "v1", "ConfigMap", "default", "a", body, manager="m", uid=old)
    outcome = execute([[request]], simulation.transport, {("v1", "ConfigMap"): CONFIG_MAP})
    assert outcome.stale
    assert "metadata.uid" in outcome.failed
    assert not outcome.terminal


def test_rule_4_one_stage_writes_an_object_once() -> None:
    twice = (Patch(CONFIG_MAP, A, {"data": {}}), Delete(CONFIG_MAP, A))
    made = dispatcher(controller(lambda key, view, now: Decision(children=twice)))
    made.observe(CONFIG_MAP, "ADDED", seen("a", 5))
    made.flush(START)
    with pytest.raises(MooringError, match="writes v1/ConfigMap default/a twice in one stage"):
        made.next(START)


def test_rule_5_of_two_that_claim_one_object_one_wins() -> None:
    def claiming(name: str) -> Controller:
        def reconcile(key: Key, view: View, now: datetime) -> Decision:
            host = view.get(CONFIG_MAP, *key)
            if host is None or "claimedBy" in host.data:
                return Decision()
            return Decision(intent=(Patch(CONFIG_MAP, key, {"data": {"claimedBy": name}}),))

        return Controller(name, reconcile, of=CONFIG_MAP, writes={CONFIG_MAP: ("create", "patch", "delete")})

    one, other = dispatcher(claiming("one")), dispatcher(claiming("other"))
    simulation = Simulation([])
    host = create(simulation, config_map("host"))
    tasks = []
    for made in (one, other):
        made.observe(CONFIG_MAP, "ADDED", host)
        made.flush(START)
        tasks.append(made.next(START))
    requests = [task.stages[0][0] for task in tasks if task is not None]
    simulation.transport.write(requests[0])
    with pytest.raises(MooringError, match="modified"):
        simulation.transport.write(requests[1])
    assert get(simulation, "host")["data"]["claimedBy"] == "one"
