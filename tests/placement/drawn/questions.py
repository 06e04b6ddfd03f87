"""Drawn questions to `mooring explain`: files of a cluster and of what is to be applied to it, and arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from mooring.kube.objects import Object
from mooring.manifests.emit import to_yaml
from tests.placement.drawn.dice import Dice
from tests.placement.drawn.mistakes import MISTAKES
from tests.placement.drawn.wide import wide_questions
from tests.placement.drawn.workloads import draw_pool, draw_workload, live_workload
from tests.placement.drawn.world import DrawnWorld, draw_world

ALL_KINDS = (
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "DeviceClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceSlice",
    "RuntimeClass",
    "StorageClass",
    "VolumeAttachment",
)


# From here on they are not drawn.
WIDE = 1_000_000


class Question(NamedTuple):
    cluster: list[Object]
    given: list[Object]
    arguments: tuple[str, ...]
    # Whether the files are written as JSON, which is YAML too.
    as_json: bool

    def written(self, folder: Path) -> list[str]:
        """The arguments, once the files are there."""
        write = _as_json if self.as_json else _as_yaml
        (folder / "cluster.yaml").write_text(write(self.cluster), encoding="utf-8")
        arguments = [*self.arguments, "--snapshot", "cluster.yaml"]
        if self.given:
            (folder / "work.yaml").write_text(write(self.given), encoding="utf-8")
            arguments += ["-f", "work.yaml"]
        return arguments


def _as_yaml(objects: list[Object]) -> str:
    return "---\n".join(map(to_yaml, objects))


def _as_json(objects: list[Object]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=1)


def question(number: int) -> Question:
    """That of a seed, or one of the wide ones."""
    if number < WIDE:
        return draw_question(number)
    cluster, given = wide_questions()[number - WIDE]
    arguments = ("explain", "-o", "json", "--limit", "300")
    return Question(_complete(cluster), given, arguments, as_json=True)


def _complete(cluster: list[Object]) -> list[Object]:
    """With a word that all kinds were read."""
    contents: Object = {"apiVersion": "mooring.dev/v1", "kind": "SnapshotContents", "metadata": {"name": "c"}}
    return [{**contents, "kinds": list(ALL_KINDS)}, *cluster]


def draw_question(seed: int) -> Question:
    world = draw_world(seed, odd_pools=seed % 8 == 1)
    dice = Dice(seed + 1_000_000)
    for pod in world.waiting:
        if dice.chance(0.35):
            for mistake in dice.some(MISTAKES, 1, 2):
                mistake(dice, pod, world.nodes)
    if world.devices is not None and dice.chance(0.3):
        _misname_a_class(world, dice)
    cluster = [*world.nodes, *world.objects, *world.residents]
    if dice.chance(0.7):
        contents: Object = {"apiVersion": "mooring.dev/v1", "kind": "SnapshotContents", "metadata": {"name": "c"}}
        cluster.insert(0, {**contents, "kinds": dice.some(ALL_KINDS, 8, 12) if dice.chance(0.2) else ALL_KINDS})
    if dice.chance(0.3):
        cluster += draw_pool(dice)
    given: list[Object] = []
    arguments: list[str] = []
    match dice.pick(("pods", "mixed", "mixed", "waiting", "live", "live", "node")):
        case "pods":
            given = world.waiting
        case "mixed":
            given = [
                draw_workload(dice, pod, f"work-{number}") if dice.chance(0.8) else pod
                for number, pod in enumerate(world.waiting)
            ]
        case "waiting":
            cluster += _pending(world.waiting)
            arguments = ["pods", "-A"]
        case "live":
            made = live_workload(dice, world.waiting[0], "live")
            cluster += made
            arguments = [f"{made[0]['kind'].lower()}/live", "-n", made[0]["metadata"]["namespace"]]
        case "node":
            cluster += _pending(world.waiting)
            arguments = [f"node/{dice.pick(world.nodes)['metadata']['name']}"]
    if dice.chance(0.75):
        arguments += ["-o", "json", "--limit", dice.pick(("3", "20"))]
    if dice.chance(0.15):
        arguments.append("--all-nodes")
    return Question(cluster, given, ("explain", *arguments), dice.chance(0.3))


def _pending(pods: list[Object]) -> list[Object]:
    for pod in pods:
        pod["metadata"]["uid"] = f"uid-{pod['metadata']['name']}"
        pod["status"] = {"phase": "Pending"}
    return pods


def _misname_a_class(world: DrawnWorld, dice: Dice) -> None:
    for each in world.objects:
        if each["kind"] == "ResourceClaim" and "status" not in each:
            request = each["spec"]["devices"]["requests"][0]
            request.get("exactly", {})["deviceClassName"] = dice.pick(("gpuu", "smal", "other"))
