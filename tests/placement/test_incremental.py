"""The engine after any history of changes answers as one that was built from the objects that remain."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import numpy as np
import pytest

from mooring.api.core.types import Namespace, Node, Pod, Service
from mooring.kube.objects import Object
from mooring.placement import shapes
from mooring.placement.answers import explain_answer
from mooring.placement.engine import Engine
from mooring.placement.plugins import runs
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.shapes import MAX_SHARE_REPLAYED, MAX_SLOTS_ONE_BY_ONE

ZONES = ("a", "b", "c", "")
APPS = ("web", "db", "train")
ROOM = {"cpu": "8", "memory": "16Gi", "pods": "110"}


class World:
    """A cluster that is changed at random, and the objects that a rebuild would start from."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.cluster = SchedulerCache(4)
        self.nodes: dict[str, Object] = {}
        # The order of zones is that of their first nodes, gone ones included, so it needs a memory of its own.
        self.zones: dict[str, list[str]] = {}
        self.pods: dict[str, Object] = {}
        self.made = 0
        for app in APPS[:2]:
            self.cluster.default_selectors.set_service(_view(service(app), Service))
        self.cluster.set_namespace(_view({"metadata": {"name": "other", "labels": {"team": "ml"}}}, Namespace))

    def step(self) -> None:
        actions = [self.add_node, self.add_pod, self.add_pod, self.add_pod, self.remove_pod, self.change_node]
        self.random.choice([*actions, self.remove_node, self.change_pod])()

    def add_node(self) -> None:
        self.made += 1
        name = f"n{self.made}"
        self.nodes[name] = self.node(name)
        self.zones.setdefault(_zone(self.nodes[name]), []).append(name)
        self.cluster.set_node(_view(self.nodes[name], Node))

    def leave_zone(self, name: str) -> None:
        zone = _zone(self.nodes[name])
        self.zones[zone].remove(name)
        if not self.zones[zone]:
            del self.zones[zone]

    def change_node(self) -> None:
        if self.nodes:
            name = self.random.choice(list(self.nodes))
            changed = self.node(name)
            if _zone(changed) != _zone(self.nodes[name]):
                self.leave_zone(name)
                self.zones.setdefault(_zone(changed), []).append(name)
            self.nodes[name] = changed
            self.cluster.set_node(_view(self.nodes[name], Node))

    def remove_node(self) -> None:
        if self.nodes:
            name = self.random.choice(list(self.nodes))
            self.leave_zone(name)
            del self.nodes[name]
            self.cluster.remove_node(name)

    def add_pod(self) -> None:
        self.made += 1
        bound = {"nodeName": self.random.choice([*self.nodes, "absent"])} if self.random.random() < 0.9 else {}
        pod = self.pod(f"p{self.made}", bound)
        if not bound and self.nodes:
            pod["status"] = {"nominatedNodeName": self.random.choice(list(self.nodes))}
        self.put(pod)

    def change_pod(self) -> None:
        if self.pods:
            pod = self.random.choice(list(self.pods.values()))
            meta = {**pod["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
            self.put({**pod, "metadata": meta})

    def put(self, pod: Object) -> None:
        key = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        self.pods.pop(key, None)
        self.pods[key] = pod
        self.cluster.set_pod(_view(pod, Pod))

    def remove_pod(self) -> None:
        if self.pods:
            key = self.random.choice(list(self.pods))
            del self.pods[key]
            self.cluster.remove_pod(key)

    def order(self) -> list[str]:
        """One node of each zone in turn."""
        rounds = range(max(map(len, self.zones.values()), default=0))
        return [names[i] for i in rounds for names in self.zones.values() if i < len(names)]

    def rebuilt(self) -> SchedulerCache:
        cluster = SchedulerCache(len(self.nodes))
        for app in APPS[:2]:
            cluster.default_selectors.set_service(_view(service(app), Service))
        cluster.set_namespace(_view({"metadata": {"name": "other", "labels": {"team": "ml"}}}, Namespace))
        for name in self.order():
            cluster.set_node(_view(self.nodes[name], Node))
        for pod in self.pods.values():
            cluster.set_pod(_view(pod, Pod))
        return cluster

    def node(self, name: str) -> Object:
        pick = self.random.choice
        labels = {"kubernetes.io/hostname": name, "purpose": pick(["gpu", "worker"])}
        zone = pick(ZONES)
        if zone:
            labels["topology.kubernetes.io/zone"] = zone
        taints = [{"key": "gpu", "value": "yes", "effect": pick(["NoSchedule", "PreferNoSchedule"])}]
        images = [{"names": ["reg/web:v1"], "sizeBytes": 300_000_000}]
        allocatable = {"cpu": pick(["4", "8"]), "memory": pick(["8Gi", "16Gi"]), "pods": "6", "example.com/x": "2"}
        return {
            "metadata": {"name": name, "labels": labels},
            "spec": {"unschedulable": self.random.random() < 0.1, "taints": pick([[], [], taints])},
            "status": {"allocatable": allocatable, "images": pick([[], images])},
        }

    def pod(self, name: str, spec: Object) -> Object:
        pick, chance = self.random.choice, self.random.random
        app = pick(APPS)
        requests = {"cpu": pick(["100m", "500m", "1500m"]), "memory": pick(["128Mi", "1Gi"])}
        if chance() < 0.2:
            requests["example.com/x"] = "1"
        container: Object = {"name": "c", "image": "reg/web:v1", "resources": {"requests": requests}}
        if chance() < 0.2:
            container["ports"] = [{"containerPort": 80, "hostPort": pick([80, 81])}]
        term: Object = {"topologyKey": pick(["kubernetes.io/hostname", "topology.kubernetes.io/zone"])}
        term |= {"labelSelector": {"matchLabels": {"app": pick(APPS)}}}
        weighted = [{"weight": 7, "podAffinityTerm": {**term, "namespaceSelector": {}}}]
        kinds = [
            {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
            {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}},
            {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}},
        ]
        if chance() < 0.4:
            spec = {**spec, "affinity": pick(kinds)}
        if chance() < 0.3:
            spread = {"maxSkew": pick([1, 2]), "whenUnsatisfiable": pick(["DoNotSchedule", "ScheduleAnyway"])}
            spec = {**spec, "topologySpreadConstraints": [{**spread, **term}]}
        meta = {"name": name, "namespace": pick(["default", "default", "other"]), "labels": {"app": app}}
        return {"metadata": meta, "spec": {"containers": [container], "priority": pick([0, 5]), **spec}}


def service(app: str) -> Object:
    return {"metadata": {"name": app, "namespace": "default"}, "spec": {"selector": {"app": app}}}


def _zone(node: Object) -> str:
    return str(node["metadata"]["labels"].get("topology.kubernetes.io/zone", ""))


def _view(value: Object, kind: type) -> Any:
    return msgspec.convert(value, kind)


@pytest.mark.parametrize("seed", range(40))
def test_a_long_history_ends_where_a_rebuild_starts(seed: int) -> None:
    world = World(seed)
    engine = Engine(world.cluster)
    for turn in range(150):
        world.step()
        if turn % 15 == 14:
            fresh = world.rebuilt()
            assert [world.cluster.names[slot] for slot in world.cluster.order.tolist()] == world.order()
            pod = _view(world.pod("asked", {}), Pod)
            incoming, twin = world.cluster.compiler.compile(pod), fresh.compiler.compile(pod)
            # Asking fills caches that must follow later changes.
            old = explain_answer(world.cluster, engine.explain(incoming))
            new = explain_answer(fresh, Engine(fresh).explain(twin))
            assert old == new, f"seed {seed}, turn {turn}"


# How many changed nodes are looked at one by one, and up to which share of all of them together.
CATCHING_UP = {
    "one by one": (10_000, 100.0),
    "together": (0, 100.0),
    "afresh": (0, 0.0),
    "as usual": (MAX_SLOTS_ONE_BY_ONE, MAX_SHARE_REPLAYED),
}


@pytest.mark.parametrize("small_table", [0, runs.SMALL_TABLE, 10_000])
@pytest.mark.parametrize(("seed", "catching_up"), [(seed, list(CATCHING_UP)[seed % 4]) for seed in range(40)])
def test_placing_pod_after_pod_agrees_with_explaining_each(
    seed: int, small_table: int, catching_up: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "SMALL_TABLE", small_table)
    for module in (runs, shapes):
        monkeypatch.setattr(module, "MAX_SLOTS_ONE_BY_ONE", CATCHING_UP[catching_up][0])
        monkeypatch.setattr(module, "MAX_SHARE_REPLAYED", CATCHING_UP[catching_up][1])
    world = World(1000 + seed)
    for _ in range(12):
        world.add_node()
    engine = Engine(world.cluster)
    kinds = [world.pod("shape", {}) for _ in range(4)]
    start = 0
    for turn in range(60):
        kind = world.random.choice(kinds)
        pod = {**kind, "metadata": {**kind["metadata"], "name": f"q{turn}"}}
        if world.random.random() < 0.3:
            pod = naming(pod, world.random.choice([*world.nodes, "nowhere"]))
        incoming = world.cluster.compiler.compile(_view(pod, Pod))
        explanation = Engine(world.cluster).explain(incoming, start)
        placement = engine.schedule(incoming)
        assert placement.slot == explanation.chosen, f"seed {seed}, turn {turn}"
        assert placement.next_start == explanation.next_start == engine.start, f"seed {seed}, turn {turn}"
        start = placement.next_start
        if placement.slot >= 0:
            assert placement.feasible == explanation.feasible.size
            world.cluster.bind(incoming, placement.slot)
        if turn % 7 == 0:
            world.random.choice([world.change_node, world.add_node, world.remove_pod, world.remove_node])()


def naming(pod: Object, node: str) -> Object:
    """The pod as a DaemonSet would make it for a node."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [field]}]}}
    affinity = {**pod["spec"].get("affinity", {}), "nodeAffinity": required}
    return {**pod, "spec": {**pod["spec"], "affinity": affinity}}


def test_asking_does_not_move_the_next_search() -> None:
    cluster = SchedulerCache(200)
    for number in range(200):
        cluster.set_node(_view({"metadata": {"name": f"n{number}"}, "status": {"allocatable": ROOM}}, Node))
    engine = Engine(cluster, percentage=50)
    plain = _view({"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": [{"name": "c"}]}}, Pod)
    pod = cluster.compiler.compile(plain)
    first = engine.explain(pod)
    for _ in range(3):
        engine.judge(pod)
        engine.fits(pod)
        engine.place(pod, 17)
        assert np.array_equal(engine.explain(pod).feasible, first.feasible)
    assert engine.start == 0
    placed = engine.schedule(pod)
    assert (placed.slot, placed.next_start) == (first.chosen, 100)
    assert engine.explain(pod).feasible[0] == cluster.order[100]


def test_a_pod_that_names_its_node_does_not_slow_the_others_down(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = SchedulerCache(20)
    for number in range(20):
        meta = {"name": f"n{number}", "labels": {"topology.kubernetes.io/zone": f"z{number // 7}"}}
        cluster.set_node(_view({"metadata": meta, "status": {"allocatable": ROOM}}, Node))
    engine = Engine(cluster)
    searched: list[str] = []
    monkeypatch.setattr(engine, "_search", lambda filters, start: searched.append(filters.pod.key))
    plain = {"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": [{"name": "c"}]}}
    chosen = []
    for turn in range(40):
        pod = {**plain, "metadata": {"name": f"p{turn}", "namespace": "default"}}
        if turn % 2:
            pod = naming(pod, f"n{turn % 20}")
        incoming = cluster.compiler.compile(_view(pod, Pod))
        explained = Engine(cluster).explain(incoming, engine.start).chosen
        placed = engine.schedule(incoming)
        assert placed.slot == explained, f"turn {turn}"
        cluster.bind(incoming, placed.slot)
        chosen.append(placed.slot)
    assert not searched
    assert engine.start == 0, "twenty pods that name a node are once around"
    assert chosen[1::2] == [turn % 20 for turn in range(1, 40, 2)]


@pytest.mark.parametrize("seed", range(10))
def test_pretending_leaves_everything_as_it_was(seed: int) -> None:
    world = World(2000 + seed)
    for _ in range(60):
        world.step()
    while len(world.nodes) < 3:
        world.add_node()
    cluster = world.cluster
    pod = cluster.compiler.compile(_view(world.pod("asked", {}), Pod))
    before = explain_answer(cluster, Engine(cluster).explain(pod))
    names = list(world.nodes)
    changed = [_view(world.node(names[0]), Node), _view(world.node("new"), Node)]

    with cluster.pretending(nodes=changed, without_pods=list(cluster.placed)[:3]):
        assert cluster.node_count == len(names) + 1
        Engine(cluster).explain(pod)

    assert cluster.node_count == len(names)
    assert explain_answer(cluster, Engine(cluster).explain(pod)) == before
    for amounts in (cluster.used_cpu, cluster.pod_count, cluster.nonzero_memory):
        assert np.all(amounts[~cluster.valid] == 0)
