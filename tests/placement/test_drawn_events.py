"""A cluster that was changed object by object, of every kind, answers as one that is made of what is left."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from mooring.api.core.types import Pod
from mooring.kube.objects import Object
from mooring.manifests.views import convert
from mooring.placement.answers import explain_answer
from mooring.placement.engine import Engine
from mooring.placement.shadow.world import Place, World, place_of
from mooring.placement.snapshot import VIEWS, Snapshot
from tests.placement.drawn.dice import Dice
from tests.placement.drawn.differences import differences
from tests.placement.drawn.world import DrawnWorld, draw_world

# Of these an object that changes comes after all others; of other kinds it keeps its place.
COMES_ANEW = ("Pod", "ResourceSlice")
EVENTS = 160
EVERY = 20


class History:
    """Objects of two drawn worlds, which have the same names, come, change into one another, and go."""

    def __init__(self, seed: int) -> None:
        self.dice = Dice(seed)
        # Worlds of the same kind: with volumes, with devices, or without either.
        worlds = [draw_world(seed + 12 * number, residents=(12, 20)) for number in (0, 5)]
        self.possible = [value for world in worlds for value in _objects(world)]
        for value in self.possible:
            # The size of an image is what was told first, and stays while any node has it.
            for image in value.get("status", {}).get("images", ()):
                image["sizeBytes"] = 2**27 + len(image["names"][0])
        self.asked = [self._view(pod) for world in worlds for pod in world.waiting]
        self.world = World()
        self.alive: dict[Place, Any] = {}

    def _view(self, value: Object) -> Any:
        return convert(value, VIEWS[value["apiVersion"], value["kind"]])

    def step(self) -> None:
        if self.alive and self.dice.chance(0.25):
            place = self.dice.pick(list(self.alive))
            self.world.change(place, None)
            del self.alive[place]
            return
        value = self.dice.pick(self.possible)
        view = self._view(self._changed(value) if value["kind"] == "Pod" else value)
        place = place_of(value["kind"], view)
        if value["kind"] in COMES_ANEW:
            self.alive.pop(place, None)
        self.alive[place] = view
        self.world.change(place, view)

    def _changed(self, pod: Object) -> Object:
        pod = copy.deepcopy(pod)
        match self.dice.randrange(8):
            case 0:
                pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            case 1:
                pod["status"] = {"phase": "Succeeded"}
            case 2:
                pod["status"] = {"phase": "Pending", "nominatedNodeName": pod["spec"].pop("nodeName")}
        return pod

    def fresh(self) -> Snapshot:
        """The same cluster, made at once: nodes in the order in which they stand."""
        made = Snapshot()
        names = self.world.snapshot.cluster.names
        order = [Place("Node", names[slot]) for slot in self.world.snapshot.cluster.order.tolist()]
        for place in order:
            made.add(self.alive[place])
        for place, view in self.alive.items():
            if place.kind != "Node":
                made.add(view)
        return made


def _objects(world: DrawnWorld) -> list[Object]:
    # Nodes and pods matter most.
    return [*world.objects, *world.nodes * 3, *world.residents * 2]


def answers(snapshot: Snapshot, pods: list[Pod]) -> list[Object]:
    engine, cluster, found = Engine(snapshot.cluster), snapshot.cluster, []
    for pod in pods:
        info = cluster.compiler.compile(pod)
        explanation = engine.explain(info)
        # The short way to the node is another one.
        assert engine.place(info, 0).slot == explanation.chosen
        found.append(explain_answer(cluster, explanation))
    return found


def facts(snapshot: Snapshot) -> dict[str, Any]:
    cluster, devices = snapshot.cluster, snapshot.cluster.devices
    ports = {
        f"{port}/{protocol} {cluster.names[slot]}": dict(ips)
        for (protocol, port), held in cluster.ports.items()
        for slot, ips in held.items()
    }
    found = {
        "storage": cluster.storage.facts(),
        "attached": {name: views for name, views in cluster.storage.attached_to.items() if views},
        "limits": dict(cluster.storage.limits),
        "by class": {name: sorted(volumes) for name, volumes in cluster.storage.by_class.items() if volumes},
        "ports": ports,
        "claim users": dict(cluster.claim_users),
        "mounting": {cluster.names[slot]: sorted(pods) for slot, pods in cluster.mounting.items() if pods},
        "waiting": {name: sorted(pods) for name, pods in cluster.waiting.items()},
        "nominated": {name: sorted(pods) for name, pods in cluster.nominated.items()},
        "placed": {key: cluster.names[slot] for key, slot in cluster.placed.items()},
        "namespaces": cluster.namespaces,
        "budgets": cluster.budgets,
        "classes": snapshot.priority_classes,
        "runtimes": snapshot.runtime_classes,
        "devices": [dict(table) for table in (devices.claims, devices.classes, devices.templates)],
        "slices": sorted(each.name for each in cluster.devices.inventory.slices()),
    }
    # What changes later is not to change these.
    return {name: copy.copy(fact) for name, fact in found.items()}


@pytest.mark.parametrize("seed", range(36))
def test_drawn_changes_of_every_kind_end_where_a_fresh_cluster_starts(seed: int) -> None:
    history = History(seed)
    for turn in range(1, EVENTS + 1):
        history.step()
        if turn % EVERY == 0:
            fresh = history.fresh()
            wrong = differences(facts(fresh), facts(history.world.snapshot))
            assert not wrong, f"seed {seed}, change {turn}: {wrong[:3]}"
            pods = history.dice.some(history.asked, 3, 3)
            wrong = differences(answers(fresh, pods), answers(history.world.snapshot, pods))
            assert not wrong, f"seed {seed}, change {turn}: {wrong[:3]}"
    # What was changed last is undone, in the opposite order, and everything is as it was.
    position = history.world.position
    before = facts(history.world.snapshot)
    with history.world.pretending(history.world.before(position - EVERY)):
        pass
    assert facts(history.world.snapshot) == before
    assert len(history.world.between(0, position)) == EVENTS
