"""Drawn changes of a small cluster: which events its state tells of, whom it wakes, and what it holds at the end."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from random import Random
from typing import Any, Final

import msgspec

from mooring.api.kinds import Key, Kind
from mooring.kube.objects import Object
from mooring.placement.overlay import Assumption
from mooring.runtime.dispatcher.store import Changed
from mooring.testing.builders import node, pod
from mooring.testing.devices import device_class, resource_slice
from mooring.workloads import cluster_state
from mooring.workloads.cluster_state import CLUSTER, ClusterEvent, ClusterState
from mooring.workloads.kinds import (
    DEVICE_CLASS,
    NAMESPACE,
    NODE,
    POD,
    POD_DISRUPTION_BUDGET,
    REPLICA_SET,
    REPLICATION_CONTROLLER,
    RESOURCE_SLICE,
    SERVICE,
    STATEFUL_SET,
    STORAGE_CLASS,
)
from tests.support.golden import same_as_recorded

WALKS: Final = 60
STEPS: Final = 30
_APP: Final = {"app": "web"}
_PREEMPTED: Final = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
_CONDITIONS: Final[tuple[list[Object], ...]] = (
    [],
    [_PREEMPTED],
    [_PREEMPTED | {"status": "False"}],
    [_PREEMPTED | {"reason": "EvictionByEvictionAPI"}],
    [_PREEMPTED | {"type": "Ready"}],
    [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}],
    [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
)
_SETS: Final = {"ReplicaSet": REPLICA_SET, "StatefulSet": STATEFUL_SET, "ReplicationController": REPLICATION_CONTROLLER}
_OTHERS: Final[dict[Kind[Any], tuple[Object, ...]]] = {
    NODE: (node("n0", cpu="2"), node("n0", cpu="4"), node("n0", cpu="4", taints=["a:NoSchedule"])),
    NAMESPACE: tuple({"metadata": {"name": "default", "labels": each}} for each in ({}, {"a": "b"}, {"a": "c"})),
    SERVICE: ({"spec": {"selector": _APP}}, {"spec": {"selector": {"app": "db"}}}, {"spec": {}}),
    REPLICA_SET: ({"spec": {"selector": {"matchLabels": _APP}}}, {"spec": {"selector": {"matchLabels": {"app": "x"}}}}),
    STATEFUL_SET: (
        {"spec": {"selector": {"matchLabels": _APP | {"set": "1"}}}},
        {"spec": {"selector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}},
    ),
    REPLICATION_CONTROLLER: ({"spec": {"selector": _APP | {"rc": "1"}}}, {"spec": {"selector": {"app": "y"}}}),
    POD_DISRUPTION_BUDGET: tuple(
        {"spec": {"selector": {"matchLabels": _APP}}, "status": {"disruptionsAllowed": each}} for each in (0, 1)
    ),
    STORAGE_CLASS: ({"provisioner": "a"}, {"provisioner": "b"}),
    DEVICE_CLASS: (device_class(), device_class(expression="true")),
    RESOURCE_SLICE: (resource_slice("n0", "g0", name="others"), resource_slice("n0", "g0", "g1", name="others")),
}

_KEYS: Final = {
    NODE: Key("", "n0"),
    NAMESPACE: Key("", "default"),
    STORAGE_CLASS: Key("", "o"),
    DEVICE_CLASS: Key("", "gpu"),
    RESOURCE_SLICE: Key("", "others"),
}


class Walk:
    """Changes of some objects one after another, as a watch tells them."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        self.state = ClusterState()
        self.objects: dict[tuple[Kind[Any], Key], tuple[Object, Any]] = {}
        self.lines: list[str] = []
        self.uids = 0

    def tell(self, kind: Kind[Any], key: Key, obj: Object | None, said: str) -> None:
        old = self.objects.get((kind, key), (None, None))[1]
        new = None if obj is None else msgspec.convert(obj, kind.view)
        if old is None and new is None:
            return
        position = self.state.position
        woken = CLUSTER.apply(self.state, kind, Changed(key, old, new))
        if obj is None:
            del self.objects[kind, key]
        else:
            self.objects[kind, key] = (obj, new)
        self.lines.append(f"{key} {said}: {'wakes' if woken else 'quiet'} {[*self.waiting()]}")
        self.lines += [f"    {_event(each)}" for each in self.state.since(position) or ()]

    def waiting(self) -> Iterator[str]:
        yield ",".join(self.state.pending)
        yield ",".join(self.state.victims)

    def step(self) -> None:
        roll = self.draw.random()
        if roll < 0.6:
            self.change_pod(Key("default", self.draw.choice("abcd")))
        elif roll < 0.66:
            self.assume()
        else:
            self.change_other(self.draw.choice([*_OTHERS]))

    def change_pod(self, key: Key) -> None:
        found = self.objects.get((POD, key))
        if found is None:
            self.uids += 1
            obj = pod(key.name, cpu=self.draw.choice("124"), labels=_APP, owner=f"{self.draw.choice([*_SETS])}/o")
            obj["metadata"]["uid"] = f"u{self.uids}"
            for each in obj["metadata"]["ownerReferences"]:
                each["apiVersion"] = "v1" if each["kind"] == "ReplicationController" else "apps/v1"
            if self.draw.random() < 0.5:
                obj["spec"]["nodeName"] = "n0"
            self.tell(POD, key, obj, "comes")
            return
        if self.draw.random() < 0.12:
            self.tell(POD, key, None, "goes")
            return
        obj = copy.deepcopy(found[0])
        self.tell(POD, key, obj, self.changed(obj))

    def changed(self, obj: Object) -> str:
        """Changes one thing about a pod, and says what."""
        pick, meta, spec, status = self.draw.choice, obj["metadata"], obj["spec"], obj["status"]
        field, where, values = pick(_FIELDS)
        value = pick(values)
        part = {"metadata": meta, "spec": spec, "status": status}[where]
        if field == "cpu":
            spec["containers"][0]["resources"] = {"requests": {"cpu": value}}
        elif value is None:
            part.pop(field, None)
        else:
            part[field] = value
        return f"{field} {value}"

    def assume(self) -> None:
        waiting = [each for each in self.state.pending if "n0" in self.state.cluster.slots]
        chosen = self.draw.sample(waiting, min(len(waiting), self.draw.randrange(3)))
        found = [Assumption(each, *self.draw.choice((("n0", ""), ("", "n0")))) for each in chosen]
        self.state.assume(found)
        self.lines.append(f"assumed {[tuple(each) for each in found]}")

    def change_other(self, kind: Kind[Any]) -> None:
        key = _KEYS.get(kind, Key("default", "o"))
        number = self.draw.randrange(len(_OTHERS[kind]) + 1)
        if number == len(_OTHERS[kind]):
            self.tell(kind, key, None, f"{kind.kind} goes")
            return
        obj = copy.deepcopy(_OTHERS[kind][number])
        obj["metadata"] = obj.get("metadata", {}) | {"name": key.name, "namespace": key.namespace}
        self.tell(kind, key, obj, f"{kind.kind} {number}")

    def held(self) -> list[str]:
        """What the state holds in the end, with what it assumes."""
        cluster = self.state.cluster
        lines = [*_facts(self.state), f"assumed {self.state.facts()[4][2]}"]  # type: ignore[index]
        lines += [f"{info.key} spreads by {cluster.default_selectors.default_selector(info)}" for info in _pods(self)]
        return lines


_FIELDS: Final[tuple[tuple[str, str, tuple[Any, ...]], ...]] = (
    ("nodeName", "spec", ("n0", "n0", None)),
    ("schedulerName", "spec", ("other", "default-scheduler", None)),
    ("cpu", "spec", ("1", "2", "4")),
    ("labels", "metadata", (_APP, {"app": "db"}, {})),
    ("uid", "metadata", ("again", "once")),
    ("deletionTimestamp", "metadata", ("2026-11-15T12:00:00Z", None)),
    ("ownerReferences", "metadata", ([],)),
    ("phase", "status", ("Pending", "Running", "Running", "Succeeded", "Failed")),
    ("nominatedNodeName", "status", ("n0", "n0", None, "n1")),
    ("startTime", "status", ("2026-11-15T12:00:00Z", "2026-11-15T13:00:00Z")),
    ("conditions", "status", _CONDITIONS),
    ("conditions", "status", _CONDITIONS),
    ("resourceClaimStatuses", "status", ([{"name": "gpu", "resourceClaimName": "c"}], None)),
    ("podIP", "status", ("10.0.0.1", None)),
    (
        "containerStatuses",
        "status",
        (
            None,
            [{"name": "main", "resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "3"}}],
            [{"name": "main", "resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "1"}}],
        ),
    ),
)


def _event(event: ClusterEvent) -> str:
    return f"{event.what} {event.name} {event.namespace} {event.labels}"


def _pods(walk: Walk) -> list[Any]:
    return [info for _, info in sorted(walk.state.cluster.pods.items())]


def _facts(state: ClusterState) -> list[str]:
    """What is held of nodes and pods, in no order."""
    facts: Any = state.facts()
    nodes, used, pods, nominated, waiting, claims, _, _ = facts
    rows = sorted(
        f"{name} holds {sorted(map(_key, held))}, {count} {cpu} {memory}"
        for (name, held), count, cpu, memory in zip(nodes, *used, strict=True)
    )
    rows += sorted(
        f"{info.key} {info.uid} on {node}, nominated {wanted}: {info.finished} {info.priority} {info.labels}"
        f" {info.start_time} {info.terminating} {info.preempted} {info.owner} {info.claims}"
        for info, node, wanted in pods
    )
    rows += [f"{name} is nominated {sorted(map(_key, found))}" for name, found in sorted(nominated.items()) if found]
    rows += [f"waits {sorted(key for key, _ in each)}" for each in waiting[:2]]
    cluster = state.cluster
    rows.append(f"budgets {sorted((key, str(each)) for key, each in cluster.budgets.items())}")
    rows.append(f"claims {claims}")
    rows.append(f"namespaces {sorted(cluster.namespaces.items())}")
    return rows


def _key(info: Any) -> str:
    return info if isinstance(info, str) else str(info.key)


def walked(seed: int) -> Walk:
    walk = Walk(seed)
    walk.tell(NODE, _KEYS[NODE], _OTHERS[NODE][0], "comes")
    for _ in range(STEPS):
        walk.step()
    return walk


def test_drawn_changes_are_told_of_as_before() -> None:
    said = {}
    for seed in range(WALKS):
        walk = walked(seed)
        said[str(seed)] = "\n".join([*walk.lines, *walk.held()])
    same_as_recorded("workloads-cluster", said)


def test_a_cluster_that_changed_is_as_one_that_was_always_so() -> None:
    for seed in range(WALKS):
        walk = walked(seed)
        walk.state.assume(())
        fresh = ClusterState()
        for (kind, key), (_, view) in sorted(walk.objects.items(), key=lambda each: each[0][0] is POD):
            CLUSTER.apply(fresh, kind, Changed(key, None, view))
        assert _facts(walk.state) == _facts(fresh), seed
        for info in _pods(walk):
            mine = fresh.cluster.default_selectors.default_selector(fresh.cluster.pods[info.key])
            assert walk.state.cluster.default_selectors.default_selector(info) == mine, (seed, info.key)


def test_a_reader_that_missed_events_is_told_so() -> None:
    state, event = ClusterState(), ClusterEvent("storage")
    for number in range(cluster_state.MAX_CLUSTER_EVENTS):
        state.record(event._replace(name=str(number)))
    assert state.position == cluster_state.MAX_CLUSTER_EVENTS
    found = state.since(0)
    assert found is not None
    assert (len(found), found[-1].name) == (cluster_state.MAX_CLUSTER_EVENTS, str(cluster_state.MAX_CLUSTER_EVENTS - 1))
    before = state.position
    state.record(event._replace(name="one more"))
    assert state.since(before - 1) is None
    assert [each.name for each in state.since(before) or ()] == ["one more"]
    state.record(event)
    assert len(state.since(before) or ()) == 2
    assert list(state.since(before + 2) or ()) == []


def test_what_is_supposed_ends_with_the_block() -> None:
    state = ClusterState()
    for kind, key, obj in (
        (NODE, Key("", "n0"), node("n0", cpu="2")),
        (POD, Key("default", "a"), pod("a", cpu="1")),
    ):
        CLUSTER.apply(state, kind, Changed(key, None, msgspec.convert(obj, kind.view)))
    before = state.facts()
    with state.supposing() as overlay:
        overlay.bind(state.cluster.pods["default/a"], state.cluster.slots["n0"])
        overlay.settle()
        assert state.cluster.pods["default/a"].node_name == "n0"
    assert state.facts() == before
