"""Which pods a node gets, told of many that wait at once: as of each, though those that are alike share an answer."""

from __future__ import annotations

import copy

import pytest

from mooring.kube.objects import Object
from mooring.manifests.views import convert
from mooring.placement.engine import Engine
from mooring.placement.node_report.waiting_pods import place_waiting
from mooring.placement.snapshot import VIEWS, Snapshot
from tests.placement.drawn.world import DrawnWorld, draw_world

Told = tuple[str, str, str, list[str], list[str], int]


def waiting(world: DrawnWorld) -> list[Object]:
    """Each pod and some like it, which mount other claims."""
    found = []
    for pod in world.waiting:
        claims = world.storage.claims[pod["metadata"]["namespace"]] if world.storage else []
        for number in range(3):
            each = copy.deepcopy(pod)
            each["metadata"] |= {"name": f"{pod['metadata']['name']}-{number}", "uid": f"uid-{number}"}
            for volume in each["spec"].get("volumes", ())[:1]:
                if "persistentVolumeClaim" in volume and number:
                    volume["persistentVolumeClaim"] = {"claimName": claims[number % len(claims)]}
            found.append(each)
    return found


def loaded(world: DrawnWorld) -> Snapshot:
    snapshot = Snapshot()
    for value in (*world.objects, *world.nodes, *world.residents):
        snapshot.add(convert(value, VIEWS[value["apiVersion"], value["kind"]]))
    return snapshot


def told(world: DrawnWorld, slot: int, *, at_once: bool) -> list[Told]:
    cluster = loaded(world).cluster
    pods = [cluster.compiler.compile(convert(pod, VIEWS["v1", "Pod"])) for pod in waiting(world)]
    engine = Engine(cluster)
    groups = [pods] if at_once else [[pod] for pod in pods]
    return [
        (
            each.pod.key,
            each.fate.name,
            each.node,
            sorted(victim.key for victim in each.victims),
            [cause.text for cause in each.causes],
            each.behind,
        )
        for group in groups
        for each in place_waiting(engine, slot, group)
    ]


@pytest.mark.parametrize("seed", range(30_000, 30_024))
def test_pods_that_wait_are_told_apart_as_if_each_was_asked_about(seed: int) -> None:
    world = draw_world(seed)
    assert told(world, 0, at_once=True) == told(world, 0, at_once=False)
