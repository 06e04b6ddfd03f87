"""Assumed pods against a simple model: what was seen of each pod, and what is held in its place."""

from __future__ import annotations

import msgspec
import pytest

from mooring.api.core.types import Node, Pod
from mooring.placement.overlay import Assumption, Overlay
from mooring.placement.scheduler_cache import SchedulerCache
from tests.placement.drawn.dice import Dice

NODES = ("a", "b", "c")
PODS = ("p0", "p1", "p2", "p3", "p4")

Place = tuple[str, str]


def pod(name: str, node: str, nominated: str) -> Pod:
    value = {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}], "nodeName": node},
        "status": {"nominatedNodeName": nominated},
    }
    return msgspec.convert(value, Pod)


class Model:
    def __init__(self, seed: int) -> None:
        self.dice = Dice(seed)
        self.cluster = SchedulerCache(len(NODES))
        for name in NODES:
            node = {"metadata": {"name": name}, "status": {"allocatable": {"cpu": "8", "pods": "10"}}}
            self.cluster.set_node(msgspec.convert(node, Node))
        self.overlay = Overlay(self.cluster)
        self.seen: dict[str, Place] = {}
        self.held: dict[str, Place] = {}
        for name in PODS:
            self.observe(name, self.dice.pick(("", "", "a")), "")

    def observe(self, name: str, node: str, nominated: str) -> None:
        key = f"default/{name}"
        self.overlay.confirm(key, node)
        self.held.pop(key, None)
        self.seen[key] = (node, nominated)
        self.cluster.set_pod(pod(name, node, nominated))

    def step(self) -> None:
        name = self.dice.pick(PODS)
        info = self.cluster.pods[f"default/{name}"]
        match self.dice.randrange(6):
            case 0 | 1:
                slot = self.dice.randrange(len(NODES))
                nominated = self.held.get(info.key, self.seen[info.key])[1]
                self.overlay.settle()
                self.overlay.bind(info, slot)
                self.held[info.key] = (self.cluster.names[slot], nominated)
            case 2:
                node = self.dice.pick(("", *NODES))
                self.overlay.nominate(info, node)
                self.held[info.key] = ("", node)
            case 3:
                self.observe(name, self.dice.pick(("", *NODES)), self.dice.pick(("", "b")))
            case 4:
                # What was assumed is seen.
                node, nominated = self.held.get(info.key, self.seen[info.key])
                self.observe(name, node, "" if node else nominated)
            case 5 if self.dice.chance(0.3):
                self.overlay.take_back()
                self.held.clear()

    def check(self) -> None:
        for key in self.seen:
            assert (key in self.overlay) == (key in self.held), key
        assumed = {each.pod: (each.node, each.nominated) for each in self.overlay.assumed()}
        assert assumed == self.held
        if self.dice.chance(0.7):
            self.overlay.settle()
            places = {key: (info.node_name, info.nominated) for key, info in self.cluster.pods.items()}
            assert places == self.seen | self.held
            counts = [sum(node == name for node, _ in places.values()) for name in NODES]
            assert [self.cluster.pod_count[self.cluster.slots[name]] for name in NODES] == counts
            waiting = {node: set(pods) for node, pods in self.cluster.nominated.items()}
            assert waiting == {
                name: {key for key, place in places.items() if place == ("", name)}
                for name in NODES
                if ("", name) in places.values()
            }


@pytest.mark.parametrize("seed", range(30))
def test_pods_are_held_where_they_are_assumed_until_they_are_seen(seed: int) -> None:
    model = Model(seed)
    for _ in range(60):
        model.step()
        model.check()
    assumed = model.overlay.assumed()
    model.overlay.take_back()
    model.held.clear()
    model.check()
    # What is handed on is held again.
    model.overlay.assume(assumed)
    model.held = {each.pod: (each.node, each.nominated) for each in assumed}
    model.check()


def test_an_assumption_that_was_not_carried_out_yet_is_seen_as_it_was_made() -> None:
    model = Model(1)
    info = model.cluster.pods["default/p1"]
    model.overlay.bind(info, 1)
    assert info.node_name != "b"
    assert model.overlay.assumed() == (Assumption("default/p1", "b", ""),)
    model.overlay.settle()
    assert info.node_name == "b"
