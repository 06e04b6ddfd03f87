"""The crash kit finds a controller that a crash leads elsewhere, says where, and looks at what means something."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.kube.objects import Object
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete
from mooring.runtime.drivers.simulation import START, Simulation
from mooring.runtime.view import View
from mooring.testing import node, pod
from mooring.testing.crashes import observed_state, survives_every_crash
from mooring.testing.simulations import checked_simulation
from mooring.workloads.kinds import NODE, POD
from tests.runtime.sample import CONFIG_MAP

Reconcile = Callable[[Key, View, datetime], Decision]


def config_map(name: str, **data: str) -> Object:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def creation(name: str, **data: str) -> Create:
    return Create(CONFIG_MAP, config_map(name, **data))


def controller(reconcile: Reconcile, name: str = "maker") -> Controller:
    reads = (NODE, CONFIG_MAP)
    return Controller(name, reconcile, of=NODE, reads=reads, writes={CONFIG_MAP: ("create", "delete")})


def makes(*names: str) -> Reconcile:
    """Makes whichever is not there."""

    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        missing = [name for name in names if view.get(CONFIG_MAP, "default", name) is None]
        return Decision(children=tuple(map(creation, missing)) if view.get(NODE, *key) else ())

    return reconcile


def makes_all_or_nothing(key: Key, view: View, now: datetime) -> Decision:
    """Takes it for granted that all were made if the first is there."""
    if view.get(NODE, *key) is None or view.get(CONFIG_MAP, "default", "a") is not None:
        return Decision()
    return Decision(children=tuple(creation(name) for name in "abc"))


def takes_notes(key: Key, view: View, now: datetime) -> Decision:
    """Writes down whether it found what it makes."""
    if view.get(NODE, *key) is None or view.get(CONFIG_MAP, "default", "note") is not None:
        return Decision()
    made = view.get(CONFIG_MAP, "default", "a") is not None
    return Decision(children=(creation("a"), creation("note", found=str(made))) if not made else (creation("note"),))


def one_node(simulation: Simulation) -> None:
    put(simulation.registry, node("n"))


def put(registry: Registry, obj: Object) -> None:
    registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=START)


def test_every_write_is_a_place_to_die_before_and_after() -> None:
    assert survives_every_crash([controller(makes("a", "b", "c"))], one_node) == 3
    assert survives_every_crash([controller(makes("a", "b", "c"))], one_node, before=[config_map("a")]) == 2
    assert survives_every_crash([controller(makes("a"))], lambda simulation: None) == 0


def test_a_controller_that_does_not_finish_what_it_began_is_found_out() -> None:
    with pytest.raises(AssertionError) as found:
        survives_every_crash([controller(makes_all_or_nothing)], one_node)
    told = str(found.value).splitlines()
    assert told[0] == "a crash after write 0 ends elsewhere:"
    missing = [f"- only in peace: ConfigMap default/{name}" for name in "bc"]
    assert sorted(line for line in told if line.startswith("- ")) == missing


def test_what_tells_of_crashes_can_be_left_out() -> None:
    with pytest.raises(AssertionError) as found:
        survives_every_crash([controller(takes_notes)], one_node)
    assert "a crash after write 0 ends elsewhere:\n- ConfigMap default/note: {" in str(found.value)
    assert survives_every_crash([controller(takes_notes)], one_node, logs=["ConfigMap default/note"]) == 2


def test_only_writes_of_some_controllers_and_deletions_can_be_places_to_die() -> None:
    first, second = controller(makes("a"), "first"), controller(makes("b", "c"), "second")
    assert survives_every_crash([first, second], one_node) == 3
    assert survives_every_crash([first, second], one_node, of=[second]) == 2

    def tidies(key: Key, view: View, now: datetime) -> Decision:
        there = view.get(CONFIG_MAP, "default", "old")
        return Decision(children=(Delete(CONFIG_MAP, Key("default", "old")),) if there else ())

    tidy = controller(tidies, "tidy")
    assert survives_every_crash([first, tidy], one_node, before=[config_map("old")], of=[first]) == 2


def test_a_controller_that_is_no_function_of_its_view_does_not_come_through() -> None:
    runs: list[str] = []

    def counts(key: Key, view: View, now: datetime) -> Decision:
        runs.append(key.name)
        return Decision() if view.get(NODE, *key) is None else Decision(children=(creation(f"run-{len(runs)}"),))

    with pytest.raises(AssertionError, match="decides otherwise when asked again"):
        survives_every_crash([controller(counts)], one_node)
    counted = checked_simulation([controller(counts)])
    one_node(counted)
    with pytest.raises(AssertionError, match="decides otherwise when asked again"):
        counted.run()


def owned(name: str, kind: str, node_name: str = "", ip: str = "", *, controls: bool = True) -> Object:
    made = pod(name)
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": "uid-of-web", "controller": controls}
    made["metadata"] |= {"generateName": "web-", "ownerReferences": [owner]}
    made["metadata"].pop("labels")
    made["spec"] = {"containers": [{"name": "c", "image": "i"}], **({"nodeName": node_name} if node_name else {})}
    made["status"] = {"podIP": ip} if ip else {}
    return made


class SomeKinds:
    """A registry and who looks at it, as far as it matters to what is observed."""

    def __init__(self, *objects: Object) -> None:
        self.registry = Registry(now=START, seed=1)
        # One kind that nobody serves, and events, which nobody compares.
        self.controllers = (controller(makes()), Controller("pods", makes(), of=NODE, reads=(POD,)))
        for obj in objects:
            self.registry.restore(obj, now=START)

    @property
    def state(self) -> dict[str, Any]:
        return observed_state(self)  # type: ignore[arg-type]


def test_what_differs_by_chance_is_not_observed() -> None:
    one = SomeKinds(owned("web-x7k2p", "ReplicaSet", "n2", "10.0.0.5"), owned("web-b", "ReplicaSet", "n1", "10.0.0.9"))
    # One name begins the other, and so does an address.
    other = SomeKinds(owned("web-za", "ReplicaSet", "n2", "10.0.0.21"), owned("web-z", "ReplicaSet", "n1", "10.0.0.2"))
    assert one.state == other.state
    pods = {name: found for name, found in one.state.items() if name.startswith("Pod ")}
    assert {found["metadata"]["name"] for found in pods.values()} == {"web-<0>", "web-<1>"}
    places = {found["spec"]["nodeName"]: found["status"]["podIP"] for found in pods.values()}
    assert places == {"n1": "address of web-<0>", "n2": "address of web-<1>"}
    assert all(found["metadata"]["uid"].startswith("uid of Pod default/web-<") for found in pods.values())


@pytest.mark.parametrize(
    ("kind", "controls", "name"),
    [("StatefulSet", True, "web-7"), ("StatefulSet", False, "web-<0>"), ("ReplicaSet", False, "web-<0>")],
)
def test_names_of_a_statefulset_are_kept_as_nobody_draws_them(kind: str, controls: bool, name: str) -> None:
    state = SomeKinds(owned("web-7", kind, controls=controls)).state
    assert [(key, found["metadata"]["name"]) for key, found in state.items()] == [(f"Pod default/{name}", name)]


def test_times_counts_and_the_order_of_conditions_mean_nothing() -> None:
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    made = {"type": "Made", "status": "False", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}
    one, other = node("n"), node("n")
    one["status"]["conditions"], other["status"]["conditions"] = (
        [ready, made],
        [made, {**ready, "lastTransitionTime": None}],
    )
    other["metadata"] |= {"resourceVersion": "77", "generation": 4, "creationTimestamp": "2020-01-01T00:00:00Z"}
    state = SomeKinds(one).state
    assert state == SomeKinds(other).state
    found = state["Node /n"]
    assert [each["type"] for each in found["status"]["conditions"]] == ["Made", "Ready"]
    assert set(found["metadata"]) == {"name", "labels", "uid"}
    other["status"]["conditions"] = [made]
    assert state != SomeKinds(other).state


def test_the_order_of_other_lists_means_something() -> None:
    taints = ["a=b:NoSchedule", "c=d:NoSchedule"]
    one, other = SomeKinds(node("n", taints=taints)), SomeKinds(node("n", taints=reversed(taints)))
    assert one.state != other.state
    assert [each["key"] for each in one.state["Node /n"]["spec"]["taints"]] == ["a", "c"]
