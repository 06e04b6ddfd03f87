"""Rules 12 to 17 of view and decision, each with a test of its name: admission, apply, hot loops, effects, values."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
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
from mooring.runtime.decision import Apply, Assume, Create, Decision, Event, Patch
from mooring.runtime.dispatcher.outcome import Outcome
from mooring.runtime.dispatcher.store import Changed
from mooring.runtime.dispatcher.task import ReconcileRequest
from mooring.runtime.drivers.simulation import START, HotLoopError, Simulation
from mooring.runtime.folds import Fold
from mooring.runtime.view import View
from tests.runtime.releases import INSTALLING, define, put_release, record
from tests.runtime.rules import A, controller, dispatcher, seen, step
from tests.runtime.sample import CONFIG_MAP, COPIER
from tests.runtime.worlds import config_map, create, get


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
