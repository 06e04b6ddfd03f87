"""A drawn cluster: its nodes, what surrounds them, the pods that are there, and those that are to be placed."""

from __future__ import annotations

from typing import NamedTuple

from mooring.kube.objects import Object
from tests.placement.drawn.devices import Devices
from tests.placement.drawn.dice import Dice
from tests.placement.drawn.nodes import draw_nodes
from tests.placement.drawn.pods import (
    APPS,
    OVERHEAD,
    PRIORITIES,
    RESIDENT,
    TIERS,
    WAITING,
    draw_pod,
    gates,
    other_scheduler,
)
from tests.placement.drawn.storage import Storage


class DrawnWorld(NamedTuple):
    nodes: list[Object]
    # Everything else that is there but pods.
    objects: list[Object]
    residents: list[Object]
    waiting: list[Object]
    storage: Storage | None
    devices: Devices | None


def draw_world(
    seed: int,
    residents: tuple[int, int] = (5, 20),
    waiting: tuple[int, int] = (2, 4),
    *,
    odd_pools: bool = False,
) -> DrawnWorld:
    """Every third world has volumes, and every fourth devices.

    Which of several pools gives a device is not defined, so there are `odd_pools` only where nobody else is asked.
    """
    dice = Dice(seed)
    nodes = draw_nodes(dice)
    storage = Storage(dice, nodes) if seed % 3 == 0 else None
    devices = Devices(dice, nodes, odd_pools=odd_pools) if seed % 4 == 1 else None
    objects = [*_surroundings(dice)]
    there = [_resident(dice, nodes, f"there-{number}", storage, devices) for number in range(dice.randint(*residents))]
    new = [_new(dice, nodes, f"new-{number}", storage, devices) for number in range(dice.randint(*waiting))]
    if storage is not None:
        storage.attached()
        objects += storage.objects
    if devices is not None:
        objects += devices.objects
    return DrawnWorld(nodes, objects, there, new, storage, devices)


def _resident(dice: Dice, nodes: list[Object], name: str, storage: Storage | None, devices: Devices | None) -> Object:
    pod = draw_pod(dice, name, nodes, dice.some(RESIDENT, 0, 2))
    pod["metadata"]["uid"] = f"uid-{name}"
    pod["spec"]["nodeName"] = dice.pick(nodes)["metadata"]["name"]
    pod["status"] = {"phase": "Running"}
    if dice.chance(0.5):
        kind = dice.pick(("ReplicaSet", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"))
        api_version = "batch/v1" if kind == "Job" else "apps/v1"
        owner = {"apiVersion": api_version, "kind": kind, "name": f"{kind.lower()}-1", "uid": f"uid-{kind}"}
        pod["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
    if storage is not None and dice.chance(0.4):
        storage.use(pod, bound=True)
    if devices is not None and dice.chance(0.5):
        devices.hold(pod)
    return pod


def _new(dice: Dice, nodes: list[Object], name: str, storage: Storage | None, devices: Devices | None) -> Object:
    features = dice.some(WAITING, 1, 3)
    if dice.chance(0.03):
        features.append(gates)
    if dice.chance(0.02):
        features.append(other_scheduler)
    pod = draw_pod(dice, name, nodes, features)
    if storage is not None and dice.chance(0.7):
        storage.use(pod)
    if devices is not None and dice.chance(0.7):
        devices.use(pod)
    return pod


def _surroundings(dice: Dice) -> list[Object]:
    found: list[Object] = []

    def add(api_version: str, kind: str, name: str, namespace: str = "", **fields: object) -> None:
        metadata: Object = {"name": name, **({"namespace": namespace} if namespace else {})}
        found.append({"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields})

    add("v1", "Namespace", "shop")
    add("v1", "Namespace", "lab")
    found[1]["metadata"]["labels"] = {"team": "ml"}
    for name, value in PRIORITIES.items():
        add("scheduling.k8s.io/v1", "PriorityClass", name, value=value)
    runtime: Object = {"handler": "sandboxed", "overhead": {"podFixed": OVERHEAD}}
    add("node.k8s.io/v1", "RuntimeClass", "sandboxed", **runtime)
    for app in dice.some(APPS, 0, 2):
        namespace = dice.pick(("default", "shop"))
        add("v1", "Service", app, namespace, spec={"selector": {"app": app}, "ports": [{"port": 80}]})
    for number, app in enumerate(dice.some(APPS, 0, 2)):
        spec: Object = {"selector": {"matchLabels": {"app": app}}}
        bound, amount = dice.pick((("minAvailable", 1), ("maxUnavailable", 1), ("minAvailable", "50%")))
        add("policy/v1", "PodDisruptionBudget", f"budget-{number}", dice.pick(("default", "shop")), spec=spec)
        spec[bound] = amount
        count = dice.pick((0, 0, 1))
        found[-1]["status"] = {
            "disruptionsAllowed": count,
            "currentHealthy": 2,
            "desiredHealthy": 2 - count,
            "expectedPods": 2,
        }
    selector = {"matchLabels": {"tier": dice.pick(TIERS)}}
    template = {"metadata": {"labels": selector["matchLabels"]}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    add(
        "apps/v1",
        "ReplicaSet",
        "replicaset-1",
        "default",
        spec={"replicas": 0, "selector": selector, "template": template},
    )
    return found
