"""Nodes taken away for a try: each finds the cluster as the ones before it left it."""

from __future__ import annotations

from mooring.features.autoscaler.scale_down.disruption_budgets import RemainingBudgets
from mooring.features.autoscaler.scale_down.drain_rules import DrainRules
from mooring.features.autoscaler.scale_down.removal import RemovableNode, RemovalSimulator
from mooring.features.autoscaler.scale_down.unremovable import UnremovableNode
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.snapshot import AutoscalerSnapshot
from mooring.features.autoscaler.views import AutoscalerPod
from tests.features.autoscaler.clusters import NOON, aged_pod, nodes_of, pool

RULES = DrainRules(AutoscalerSettings(), RemainingBudgets(), None, NOON)
EVERY_NODE = ["web-0", "web-1"]


def bold(name: str, node: str) -> AutoscalerPod:
    """A pod that no taint keeps away."""
    return aged_pod(name, cpu="2", node=node, owner="ReplicaSet/web", tolerations=["ToBeDeletedByClusterAutoscaler:"])


def test_a_node_that_goes_is_no_place_for_the_pods_of_the_next_one() -> None:
    snapshot = AutoscalerSnapshot(nodes_of(pool("web", 2), cpu="4"), [bold("a", "web-0"), bold("b", "web-1")])
    simulator = RemovalSimulator(snapshot, {}, NOON)
    first = simulator.remove("web-0", RULES, EVERY_NODE)
    assert isinstance(first, RemovableNode)
    assert [pod.metadata.name for pod in first.pods] == ["a"]
    assert list(simulator.hints.values()) == ["web-1"]
    assert simulator.remove("web-1", RULES, EVERY_NODE) == UnremovableNode("web-1", "NoPlaceToMovePods")
    assert [node.metadata.name for node in snapshot.nodes] == ["web-1"]


def test_a_node_that_stays_is_left_as_it_was() -> None:
    crowded = [bold(f"b{number}", "web-1") for number in range(2)]
    snapshot = AutoscalerSnapshot(nodes_of(pool("web", 2), cpu="4"), [bold("a", "web-0"), *crowded])
    simulator = RemovalSimulator(snapshot, {}, NOON)
    assert simulator.remove("web-0", RULES, EVERY_NODE) == UnremovableNode("web-0", "NoPlaceToMovePods")
    assert [pod.metadata.name for pod in snapshot.pods_on("web-0")] == ["a"]
    assert not snapshot.node("web-0").spec.taints
