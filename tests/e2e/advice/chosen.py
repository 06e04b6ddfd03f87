"""Broken workloads that a seed seldom draws, each with the proposal that is to be pasted."""

from __future__ import annotations

from typing import NamedTuple

from mooring.kube.objects import Object
from mooring.testing.builders import ZONE, deployment, node, pod
from mooring.testing.groups import leader_worker_set
from mooring.testing.homes import simulated
from tests.e2e.advice.broken import FILE, LABELS, LIVE, NAME, BrokenScene

TAINT = "team=ml:NoSchedule"


class ChosenScene(NamedTuple):
    scene: BrokenScene
    title: str
    # How many pods the workload has, all of which are to land.
    pods: int


def _zone_without_room() -> ChosenScene:
    """Six replicas over three zones, of which one has no room for any."""
    rooms = {"east": "8", "north": "8", "west": "1"}
    nodes = [simulated(node(f"left-out-{zone}", cpu=cpu, zone=zone)) for zone, cpu in rooms.items()]
    spread = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": LABELS},
    }
    made = pod(NAME, namespace="left-out", cpu="2", labels=LABELS, topologySpreadConstraints=[spread])
    workload = deployment(NAME, made, replicas=6)
    return ChosenScene(BrokenScene("left-out", FILE, nodes, [], [], workload), "Leave zone west out of", 6)


def _leaders_and_workers(form: str) -> ChosenScene:
    """Two groups whose templates both lack a toleration."""
    namespace = f"templates-{form}"
    nodes = [simulated(node(f"{namespace}-{number}", taints=[TAINT])) for number in range(2)]
    workload = leader_worker_set(NAME, namespace=namespace, replicas=2, size=2)
    group: Object = workload["spec"]["leaderWorkerTemplate"]
    group["leaderTemplate"] = {"spec": group["workerTemplate"]["spec"]}
    title = f"Tolerate taint {TAINT} in both templates"
    return ChosenScene(BrokenScene(namespace, form, nodes, [], [], workload), title, 4)


CHOSEN = {
    "a zone is left out of the spread": _zone_without_room(),
    "both templates of a file tolerate a taint": _leaders_and_workers(FILE),
    "both templates of a live set tolerate a taint": _leaders_and_workers(LIVE),
}
