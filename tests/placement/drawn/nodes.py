"""Drawn nodes: zones and racks that some lack, taints of every effect, amounts that are soon used up, images."""

from __future__ import annotations

from mooring.kube.objects import Object
from tests.placement.drawn.dice import Dice

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
RACK = "example.com/rack"
GPU = "nvidia.com/gpu"
CARD = "example.com/card"
PAGES = "hugepages-2Mi"
ZONES = ("zone-a", "zone-b", "zone-c")
POOLS = ("gpu", "batch", "web")
DISKS = ("ssd", "hdd")
RACKS = ("r1", "r2")
ARCH = "kubernetes.io/arch"

TAINTS: tuple[Object, ...] = (
    {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "batch", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "gpu", "effect": "NoExecute"},
    {"key": "spot", "value": "yes", "effect": "PreferNoSchedule"},
    {"key": "team", "effect": "NoSchedule"},
    {"key": "level", "value": "5", "effect": "NoSchedule"},
)
OUTAGES: tuple[Object, ...] = (
    {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/memory-pressure", "effect": "NoSchedule"},
)
CORDONED: Object = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}

IMAGES = ("registry.example.com/app:1", "registry.example.com/model:2", "registry.example.com/side")
# Below what counts, the least that counts, between, and above.
SIZES = (10 * 2**20, 23 * 2**20 + 1, 94_371_840, 423_456_789, 999_999_999, 2000 * 2**20)


def draw_nodes(dice: Dice, least: int = 3, most: int = 8) -> list[Object]:
    # In one world nodes are alike but for a little, in another each is its own.
    variety = dice.pick((0.1, 0.4, 0.8))
    sizes = dice.pick(((4, 4, 4), (2, 4, 8), (8, 16, 3)))
    # An image has the size that the first node tells, whichever that is.
    images = {image: dice.pick(SIZES) for image in IMAGES}
    return [_node(dice, number, variety, sizes, images) for number in range(dice.randint(least, most))]


def _node(dice: Dice, number: int, variety: float, sizes: tuple[int, ...], images: dict[str, int]) -> Object:
    name = f"node-{number}"
    pool = dice.pick(POOLS)
    labels = {HOSTNAME: name, "kubernetes.io/os": "linux", ARCH: "arm64" if dice.chance(0.15) else "amd64"}
    labels |= {"pool": pool, "disk": dice.pick(DISKS)}
    if dice.chance(0.02):
        del labels[HOSTNAME]
    if dice.chance(0.85):
        labels |= {ZONE: "" if dice.chance(0.02) else dice.pick(ZONES), REGION: "region-1"}
    if dice.chance(0.6):
        labels[RACK] = dice.pick(RACKS)
    if dice.chance(0.7):
        labels["rank"] = dice.pick(("1", "3", "5", "10", "high"))
    cpu = dice.pick(sizes)
    allocatable = {"cpu": str(cpu), "memory": f"{cpu * 2}Gi", "pods": dice.pick(("3", "5", "110", "110"))}
    allocatable["ephemeral-storage"] = "20Gi"
    if dice.chance(variety):
        allocatable |= dice.pick(({"cpu": "2500m"}, {"memory": "3000Mi"}, {"cpu": "1"}, {"memory": "7G"}))
    if pool == "gpu":
        allocatable[GPU] = dice.pick(("1", "2", "4"))
    if dice.chance(0.3):
        allocatable[CARD] = dice.pick(("1", "3"))
    if dice.chance(0.2):
        allocatable[PAGES] = "64Mi"
    taints = dice.some(TAINTS, 1, 2) if dice.chance(variety * 0.6) else []
    if dice.chance(0.06):
        taints.append(dice.pick(OUTAGES))
    spec: Object = {}
    if dice.chance(0.1):
        spec["unschedulable"] = True
        taints.append(CORDONED)
    if taints:
        # The API takes a key and an effect once.
        spec["taints"] = list({(taint["key"], taint["effect"]): taint for taint in taints}.values())
    status: Object = {"allocatable": allocatable, "capacity": allocatable}
    status["conditions"] = [_readiness(taints)]
    if dice.chance(0.5):
        status["images"] = [{"names": [image], "sizeBytes": images[image]} for image in dice.some(IMAGES, 1, 3)]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": status,
    }


def _readiness(taints: list[Object]) -> Object:
    keys = {taint["key"].rpartition("/")[2] for taint in taints}
    away = keys & {"not-ready", "unreachable"}
    status = {"not-ready": "False", "unreachable": "Unknown"}[away.pop()] if away else "True"
    return {"type": "Ready", "status": status, "reason": "KubeletReady" if status == "True" else "KubeletNotReady"}
