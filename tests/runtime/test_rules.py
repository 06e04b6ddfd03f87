"""The rules of view and decision, each with a test of its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.api.kinds import Key, Kind
from mooring.client.transport import Request
from mooring.kube.errors import MooringError
from mooring.kube.status import ForbiddenError
from mooring.registry import AdmissionRequest, ClusterView, Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Apply, Assume, Create, Decision, Delete, Event, Patch
from mooring.runtime.dispatcher import Dispatcher
from mooring.runtime.execution import execute
from mooring.runtime.faults import Faults
from mooring.runtime.folds import Fold
from mooring.runtime.outcome import Outcome
from mooring.runtime.simulation import START, HotLoopError, Simulation
from mooring.runtime.store import Changed
from mooring.runtime.task import ReconcileRequest
from mooring.runtime.view import Unavailable, View
from mooring.testing.crashes import survives_every_crash
from tests.runtime.releases import INSTALLING, define, put_release, record
from tests.runtime.sample import CONFIG_MAP, COPIER, ConfigMap
from tests.runtime.worlds import change, config_map, create, get, names

A = Key("default", "a")


def controller(reconcile: Callable[[Key, View, datetime], Decision], **more: Any) -> Controller:
    more = {"of": CONFIG_MAP, "writes": (CONFIG_MAP,), **more}
    return Controller("tried", reconcile, **more)


def seen(name: str, version: int, **data: str) -> dict[str, Any]:
    meta = {"name": name, "namespace": "default", "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"metadata": meta, "data": data}


def dispatcher(*controllers: Controller) -> Dispatcher:
    made = Dispatcher(controllers, Random(0))
    for kind in made.kinds:
        made.resync(kind, [], "1")
    return made


def step(made: Dispatcher, now: datetime = START) -> list[str]:
    """Run everything in line without carrying anything out; the names of the keys that ran."""
    ran = []
    made.flush(now)
    while (task := made.next(now)) is not None:
        ran.append(task.request.key.name)
        made.settle(task, Outcome(), now)
        made.flush(now)
    return ran


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

        return Controller(name, reconcile, of=CONFIG_MAP, writes=(CONFIG_MAP,))

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


class Wishes:
    """What was assumed by a decision and has not been seen."""

    def __init__(self) -> None:
        self.assumed: tuple[str, ...] = ()

    def change(self, kind: Kind[Any], changed: Changed) -> bool:
        self.assumed = tuple(name for name in self.assumed if name != changed.key.name)
        return True

    def assume(self, names: Sequence[str]) -> None:
        self.assumed = tuple(names)


def test_rule_17_a_fold_holds_what_a_decision_assumes_until_it_is_seen_or_decided_anew() -> None:
    fold: Fold[Wishes] = Fold("wishes", (CONFIG_MAP,), Wishes, Wishes.change, assume=Wishes.assume)
    held: list[tuple[str, ...]] = []
    assumes: tuple[Assume, ...] = (Assume(fold, ("a", "b")),)

    def deciding(key: Key, view: View, now: datetime) -> Decision:
        assert view.fold(fold).assumed == (), "what was not seen by now was never carried out"
        return Decision(assumes=assumes)

    def asking(key: Key, view: View, now: datetime) -> Decision:
        held.append(view.peek(fold).assumed)
        return Decision()

    asker = controller(asking, folds=(fold,))
    made = dispatcher(Controller("deciding", deciding, folds=(fold,)), asker)
    step(made)
    made.decide(ReconcileRequest(asker, A), START)
    made.observe(CONFIG_MAP, "ADDED", seen("a", 5))
    made.decide(ReconcileRequest(asker, A), START)
    assert held == [("a", "b"), ("b",)]
    assumes = ()
    step(made)
    made.decide(ReconcileRequest(asker, A), START)
    assert held[-1] == ()


def test_rule_17_a_run_that_fails_assumes_nothing() -> None:
    fold: Fold[Wishes] = Fold("wishes", (CONFIG_MAP,), Wishes, Wishes.change, assume=Wishes.assume)

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        undeclared = Create(CONFIG_MAP, config_map("b"))
        return Decision(children=(undeclared,), assumes=(Assume(fold, ("b",)),))

    made = dispatcher(Controller("deciding", reconcile, folds=(fold,)))
    made.flush(START)
    with pytest.raises(MooringError, match="which it does not declare"):
        made.next(START)
    assert made._folds[fold].assumed == ()


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

    made = dispatcher(controller(lambda k, v, n: Decision(children=(Patch(CONFIG_MAP, k, {}),)), writes=()))
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


def test_rule_12_admission_is_a_function_and_reads_what_is_there_now() -> None:
    def admit(request: AdmissionRequest, view: ClusterView) -> dict[str, Any] | None:
        if request.resource.kind == "Secret" and view.find("v1", "ConfigMap", "default", "permit") is None:
            raise ForbiddenError("secrets need a ConfigMap named permit first")
        return None

    simulation = Simulation([COPIER])
    simulation.registry.admission.validating.append(admit)
    secret = Request("create", "v1", "Secret", "default", "s", {"metadata": {"name": "s", "namespace": "default"}})
    with pytest.raises(ForbiddenError, match="named permit first"):
        simulation.transport.write(secret)
    create(simulation, config_map("permit"))
    assert simulation.transport.write(secret)["metadata"]["name"] == "s"


def _to_version(obj: dict[str, Any], wanted: str) -> dict[str, Any]:
    """v1 counts in dozens."""
    if obj["apiVersion"] == wanted:
        return obj
    eggs = obj["spec"]["eggs"] * 12 if wanted.endswith("v2") else obj["spec"]["eggs"] // 12
    return {**obj, "apiVersion": wanted, "spec": {**obj["spec"], "eggs": eggs}}


@given(st.integers(0, 1000))
def test_rule_13_conversion_is_a_pure_function_that_goes_both_ways(dozens: int) -> None:
    nest = {"apiVersion": "farm.example/v1", "kind": "Nest", "metadata": {"name": "n"}, "spec": {"eggs": dozens}}
    there = _to_version(nest, "farm.example/v2")
    assert there["spec"]["eggs"] == 12 * dozens
    assert _to_version(there, "farm.example/v1") == nest


def test_rule_13_the_registry_serves_every_version_through_it() -> None:
    versions = [
        {
            "name": name,
            "served": True,
            "storage": name == "v1",
            "schema": {
                "openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": {"type": "object", "properties": {"eggs": {"type": "integer"}}}},
                }
            },
        }
        for name in ("v1", "v2")
    ]
    definition = {
        "metadata": {"name": "nests.farm.example"},
        "spec": {
            "group": "farm.example",
            "names": {"kind": "Nest", "plural": "nests", "singular": "nest"},
            "scope": "Namespaced",
            "versions": versions,
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"clientConfig": {"url": "https://x"}, "conversionReviewVersions": ["v1"]},
            },
        },
    }
    registry = Simulation([]).registry
    registry.register_conversion("farm.example", "Nest", _to_version)
    registry.create(registry.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition"), definition, now=START)
    nest = {"metadata": {"name": "n", "namespace": "default"}, "spec": {"eggs": 2}}
    registry.create(registry.resource("farm.example/v1", "Nest"), nest, now=START)
    assert registry.get(registry.resource("farm.example/v2", "Nest"), "default", "n")["spec"]["eggs"] == 24


def test_rule_14_one_field_manager_per_controller() -> None:
    simulation = Simulation([COPIER])
    create(simulation, config_map("a", copies="1"))
    simulation.run()
    managers = {entry["manager"] for entry in get(simulation, "a-0")["metadata"]["managedFields"]}
    assert managers == {"mooring-copier"}


def test_rule_15_an_unchanged_intent_is_not_sent_again() -> None:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        view.get(CONFIG_MAP, *key)
        return Decision(children=(Apply(CONFIG_MAP, {"metadata": {"namespace": "default", "name": "a"}}),))

    made = dispatcher(controller(reconcile))
    made.observe(CONFIG_MAP, "ADDED", seen("a", 5))
    sent = []
    for _ in range(3):
        made.queue.add(ReconcileRequest(made.controllers[0], A))
        made.flush(START)
        task = made.next(START)
        assert task is not None
        sent.append(sum(map(len, task.stages)))
        made.settle(task, Outcome(), START)
    assert sent == [1, 0, 0]


def test_rule_15_a_hot_loop_fails_the_simulation() -> None:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        source = view.get(CONFIG_MAP, *key)
        if source is None:
            return Decision()
        count = int(source.data.get("count", "0"))
        return Decision(status=(Patch(CONFIG_MAP, key, {"data": {"count": str(count + 1)}}),))

    simulation = Simulation([controller(reconcile)], seed=7)
    create(simulation, config_map("a"))
    with pytest.raises(HotLoopError, match=r"tried default/a is in a hot loop: patch ConfigMap default/a .*seed 7"):
        simulation.run()


def test_rule_16_an_effect_is_on_record_before_it_starts_and_starts_once() -> None:
    registry = Registry(now=START)
    define(registry, START)
    put_release(registry, "web", START)
    simulation = Simulation([INSTALLING], registry=registry)
    simulation.run(timedelta(seconds=1))
    [run] = simulation.executor.started
    assert record(registry, "web")["id"] == run.id
    simulation._boot()
    simulation.run(timedelta(seconds=1))
    assert simulation.executor.started == [run]


def test_rule_16_losing_an_event_fails_nothing() -> None:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        source = view.get(CONFIG_MAP, *key)
        if source is None or "told" in source.data:
            return Decision()
        event = Event(CONFIG_MAP, key, "Normal", "Told", "x")
        return Decision(status=(Patch(CONFIG_MAP, key, {"data": {"told": "yes"}}),), events=(event,))

    class Deaf(Simulation):
        def _tell(self, request: Request) -> None:
            broken = request._replace(kind="Event", body={"metadata": {}})
            super()._tell(broken)

    simulation = Deaf([controller(reconcile)])
    create(simulation, config_map("a"))
    simulation.run()
    assert get(simulation, "a")["data"] == {"told": "yes"}
