"""No change is missed: whenever all is quiet, a scheduler that starts now could not place a pod that waits."""

from __future__ import annotations

import random

import pytest

from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.kube.objects import Object
from mooring.testing import cluster, node, placed_on, pod
from mooring.workloads.cluster_state import CLUSTER
from tests.builtin.town import GARBAGE, NODES, Town

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
APPS = ("db", "web", "batch")


def some_node(draw: random.Random, number: int) -> Object:
    taints = ["dedicated=yes:NoSchedule"] if draw.random() < 0.2 else []
    labels = {"disk": draw.choice(("ssd", "hdd"))}
    cpu, zone = draw.choice("1248"), draw.choice(("a", "b"))
    return node(f"n{number}", cpu=cpu, zone=zone, labels=labels, taints=taints, unschedulable=draw.random() < 0.1)


def some_pod(draw: random.Random, number: int) -> Object:
    app = draw.choice(APPS)
    spec: Object = {"terminationGracePeriodSeconds": 1}
    selector = {"labelSelector": {"matchLabels": {"app": draw.choice(APPS)}}}
    term = {**selector, "topologyKey": draw.choice((HOST, ZONE))}
    match draw.randrange(8):
        case 0:
            spec["nodeSelector"] = {"disk": "ssd"}
        case 1:
            spec["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        case 2 | 3:
            spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        case 4 | 5:
            constraint = {"maxSkew": 1, "topologyKey": term["topologyKey"], "whenUnsatisfiable": "DoNotSchedule"}
            spec["topologySpreadConstraints"] = [constraint | selector]
        case 6:
            return pod(f"p{number}", labels={"app": app}, host_port=8080, **spec)
    return pod(f"p{number}", cpu=draw.choice("123"), labels={"app": app}, **spec)


def disturb(town: Town, draw: random.Random, number: int) -> None:
    nodes = [found["metadata"]["name"] for found in town.all("Node")]
    pods = sorted(town.pods())
    match draw.randrange(7):
        case 0:
            town.create(some_node(draw, number))
        case 1 if nodes:
            town.delete("Node", draw.choice(nodes))
        case 2 if nodes:
            town.patch("Node", draw.choice(nodes), {"metadata": {"labels": {"disk": draw.choice(("ssd", "hdd"))}}})
        case 3 if nodes:
            town.patch("Node", draw.choice(nodes), {"spec": {"taints": None, "unschedulable": None}})
        case 4 if pods:
            town.delete("Pod", draw.choice(pods))
        case 5 if pods:
            town.patch("Pod", draw.choice(pods), {"metadata": {"labels": {"app": draw.choice(APPS)}}})
        case _:
            town.create(some_pod(draw, number))


def waiting(town: Town) -> list[Object]:
    return [found for found in town.all("Pod") if not found["spec"].get("nodeName")]


@pytest.mark.parametrize("seed", range(25))
def test_whoever_waits_has_no_place(seed: int) -> None:
    draw = random.Random(seed)
    town = Town(controllers=(SCHEDULER, NODES, GARBAGE), seed=seed)
    for number in range(4):
        town.create(some_node(draw, number))
    for number in range(12):
        town.create(some_pod(draw, number))
    town.run(5)
    for number in range(100, 125):
        disturb(town, draw, number)
        town.run(5)
        scene = cluster(*town.all("Node"), *town.all("Pod"), *town.all("Namespace"))
        for found in waiting(town):
            assert placed_on(scene, found) is None, found["metadata"]["name"]


def test_the_columns_follow_every_change() -> None:
    draw = random.Random(1)
    town = Town(controllers=(SCHEDULER, NODES, GARBAGE))
    for number in range(40):
        if number < 5:
            town.create(some_node(draw, number))
        else:
            disturb(town, draw, number)
        town.run(3)
    state = town.simulation.dispatcher._folds[CLUSTER]
    rebuilt = cluster(*town.all("Node"), *town.all("Pod"), *town.all("Namespace")).cluster
    for name, slot in rebuilt.slots.items():
        followed = state.cluster.slots[name]
        assert set(state.cluster.node_pods[followed]) == set(rebuilt.node_pods[slot])
        assert state.cluster.used_cpu[followed] == rebuilt.used_cpu[slot]
        assert state.cluster.pod_count[followed] == rebuilt.pod_count[slot]
