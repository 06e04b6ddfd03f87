"""On random clusters: the pods that a scale-up is for fit on the nodes that it adds, and not on fewer; the pods of
nodes that go fit on the nodes that stay."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from mooring.features.autoscaler.cluster_state.memory import Memory
from mooring.features.autoscaler.observation import ClusterObjects, look
from mooring.features.autoscaler.scale_down.candidates import scale_down_candidates
from mooring.features.autoscaler.scale_down.memory import ScaleDownMemory
from mooring.features.autoscaler.scale_down.planner import find_unneeded
from mooring.features.autoscaler.scale_up.estimator import estimate
from mooring.features.autoscaler.scale_up.orchestrator import scale_up
from mooring.features.autoscaler.scale_up.pod_groups import pod_groups
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.snapshot import fresh_node
from mooring.features.autoscaler.views import AutoscalerNode, AutoscalerPod
from mooring.placement.engine import Engine
from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import SchedulerCache
from tests.features.autoscaler.clusters import NOON, aged_pod, cluster, nodes_of, pods, pool, ready_node

SETTINGS = AutoscalerSettings()
ZONES = ("a", "b", "c")


def random_pods(rng: random.Random, prefix: str, count: int, **parts: Any) -> list[AutoscalerPod]:
    parts |= {
        "cpu": f"{rng.choice((250, 500, 900, 1500, 3000))}m",
        "memory": f"{rng.choice((256, 700, 2048, 5000))}Mi",
        "labels": {"app": prefix},
    }
    selector = {"matchLabels": {"app": prefix}}
    match rng.randrange(8):
        case 0:
            parts["host_port"] = 8080
        case 1:
            term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
            parts["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        case 2:
            key = rng.choice(("kubernetes.io/hostname", "topology.kubernetes.io/zone"))
            constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
            parts["topologySpreadConstraints"] = [{**constraint, "labelSelector": selector}]
        case 3:
            parts["nodeSelector"] = {"topology.kubernetes.io/zone": rng.choice(ZONES)}
        case 4:
            parts["tolerations"] = ["dedicated=ml:NoSchedule"]
    return pods(count, prefix, **parts)


def random_cluster(rng: random.Random) -> tuple[ClusterObjects, list[AutoscalerPod]]:
    groups, nodes, bound = [], [], []
    for i in range(rng.randint(1, 4)):
        parts: dict[str, Any] = {"cpu": str(rng.choice((2, 4, 8))), "memory": f"{rng.choice((4, 8, 32))}Gi"}
        parts["zone"] = rng.choice(ZONES)
        if rng.random() < 0.2:
            parts["taints"] = ["dedicated=ml:NoSchedule"]
        group = pool(f"pool-{i}", rng.randrange(3), most=rng.randint(2, 8), **parts)
        groups.append(group)
        nodes += nodes_of(group, **parts)
    for i, node in enumerate(nodes):
        bound += [aged_pod(f"old-{i}", cpu="500m", memory="1Gi", node=node.name, owner="ReplicaSet/old")]
    pending = [each for i in range(rng.randint(1, 4)) for each in random_pods(rng, f"app-{i}", rng.randint(1, 7))]
    return cluster(groups, nodes, bound), pending


def without_node(pod: AutoscalerPod) -> AutoscalerPod:
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=""))


class World:
    """A cluster of its own, in which nothing is undone but by searching on."""

    def __init__(self, nodes: Sequence[AutoscalerNode], bound: Sequence[AutoscalerPod]) -> None:
        self.cache = SchedulerCache(len(nodes))
        for node in nodes:
            self.cache.set_node(node)
        for pod in bound:
            self.cache.set_pod(pod)
        self.engine = Engine(self.cache)

    def holds(self, waiting: Sequence[PodInfo]) -> bool:
        """Whether there is any way to place all of the pods in their order."""
        if not waiting:
            return True
        first, rest = waiting[0], waiting[1:]
        for slot in self.engine.fits(first).nonzero()[0].tolist():
            self.cache.bind(first, slot)
            if self.holds(rest):
                return True
            self.cache.remove_pod(first.key)
            first.node_name = ""
        return False


@pytest.mark.parametrize("seed", range(10))
def test_the_pods_of_a_scale_up_fit_on_the_nodes_it_adds_and_not_on_one_fewer(seed: int) -> None:
    """Not on one fewer by the estimator, which packs as upstream's does: the best packing might do with less."""
    rng = random.Random(seed)
    grown = 0
    for _ in range(100):
        objects, pending = random_cluster(rng)
        seen = look(objects, Memory(), NOON, SETTINGS)
        decision = scale_up(seen, pending)
        if decision.chosen is None:
            continue
        grown += 1
        template = decision.chosen.template
        count = sum(each.new_size - each.size for each in decision.plan)
        assert 0 < count <= decision.chosen.nodes
        added = [fresh_node(template, f"new-{i}") for i in range(count)]
        # Those that found room at once are where they were put.
        placed = {each.key for each in decision.triggered}
        settled = [pod for pod in pending if pod.key not in placed and pod.key in seen.snapshot.cluster.pods]
        world = World([*objects.nodes, *(each.node for each in added)], objects.pods)
        for pod in settled:
            info = world.cache.compiler.compile(pod)
            world.cache.bind(info, world.cache.slots[seen.snapshot.cluster.pods[pod.key].node_name])
        waiting = [world.cache.compiler.compile(each.pod) for each in decision.triggered]
        assert world.holds(waiting), [each.key for each in decision.triggered]
        fewer = estimate(pod_groups(decision.triggered), template, seen.snapshot, count - 1)
        assert len(fewer.pods) < len(decision.triggered)
    assert grown > 20


def test_one_node_fewer_would_not_do_for_pods_of_one_kind() -> None:
    rng = random.Random(17)
    for _ in range(100):
        cpu, memory, slots = rng.randint(2, 16), rng.randint(4, 64), rng.choice((4, 110))
        asked_cpu, asked_memory = rng.randint(100, 2000), rng.randint(100, 4000)
        count = rng.randint(1, 40)
        group = pool("pool", most=1000, cpu=str(cpu), memory=f"{memory}Gi", pods=slots)
        pending = pods(count, cpu=f"{asked_cpu}m", memory=f"{asked_memory}Mi")
        decision = scale_up(look(cluster([group]), Memory(), NOON, SETTINGS), pending)
        per_node = min(cpu * 1000 // asked_cpu, memory * 1024 // asked_memory, slots)
        (resize,) = decision.plan
        assert resize.new_size == -(-count // per_node)


def test_the_pods_of_nodes_that_go_fit_on_the_nodes_that_stay() -> None:
    rng = random.Random(5)
    gone = 0
    for _ in range(200):
        group = pool("pool", rng.randint(2, 7), zone="a")
        nodes = [ready_node(name, zone=rng.choice(ZONES)) for name in group.nodes]
        bound = [
            each
            for i, node in enumerate(nodes)
            for j in range(rng.randrange(4))
            for each in random_pods(rng, f"app-{i}-{j}", 1, node=node.name)
        ]
        replicas = {("ReplicaSet", "default", f"app-{i}-{j}"): 1 for i in range(7) for j in range(4)}
        seen = look(cluster([group], nodes, bound, controllers=replicas), Memory(), NOON, SETTINGS)
        found = find_unneeded(seen, scale_down_candidates(seen, (), NOON), ScaleDownMemory())
        leaving = {each.node for each in found.removable}
        # A pod that was to go to a node that goes, too, moves on.
        moving = {pod.key: pod for each in found.removable for pod in each.pods}
        staying = [pod for pod in bound if pod.spec.node_name not in leaving]
        world = World([node for node in nodes if node.name not in leaving], staying)
        waiting = [world.cache.compiler.compile(without_node(pod)) for pod in moving.values()]
        assert world.holds(waiting), (leaving, [*moving])
        gone += len(moving)
    assert gone > 50
