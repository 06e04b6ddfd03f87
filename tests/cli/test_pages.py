"""Whole pages, kept as files: what a user sees must not change unnoticed.

`MOORING_UPDATE_GOLDEN=1 pytest tests/cli/test_pages.py` writes them anew; look at the difference before keeping it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.world import World, requests

GOLDEN = Path(__file__).parent / "golden"
GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"
TOLERATE = [{"key": "nvidia.com/gpu", "operator": "Exists"}]


def check(name: str, text: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("MOORING_UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()
    assert "\x1b" not in text


@pytest.fixture
def fleet(world: World) -> World:
    for number in (1, 2, 3):
        world.node(f"cpu-{number}", zone="abc"[number - 1])
    world.node("h100-1", gpu=8, taint=GPU_TAINT, zone="a", gpu_product="H100")
    world.node("h100-2", gpu=8, taint=GPU_TAINT, zone="b", gpu_product="H100")
    world.node("a100-1", gpu=4, taint=GPU_TAINT, zone="c", gpu_product="A100", cordoned=True)
    return world.running("train-0", "h100-1", resources=requests(cpu=8, gpu=6), tolerations=TOLERATE)


def test_a_pod_that_cannot_land_on_a_small_fleet(fleet: World) -> None:
    pod = fleet.pod("llama-70b", resources=requests(cpu=8, memory="48Gi", gpu=8), nodeSelector={"gpu_product": "h100"})
    check("cannot-land", fleet.explain(pod).stdout)


def test_a_pod_that_lands(fleet: World) -> None:
    fleet.running("busy", "cpu-1", resources=requests(cpu=10, memory="8Gi"))
    check("lands", fleet.explain(fleet.pod("web", resources=requests(cpu=2, memory="4Gi"))).stdout)


def test_a_deployment_of_which_one_replica_cannot_land(fleet: World) -> None:
    anti = {"labelSelector": {"matchLabels": {"app": "cache"}}, "topologyKey": "topology.kubernetes.io/zone"}
    rules = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [anti]}}
    fleet.running("old", "cpu-3", labels={"app": "cache"})
    deployment = fleet.workload("Deployment", "cache", requests(cpu=1), replicas=3, pod={"affinity": rules})
    check("replicas", fleet.explain(deployment).stdout)


def test_causes_that_lie_in_other_pods(fleet: World) -> None:
    """Ports, spreading, and the anti-affinity of a pod that is there first, each on its own node."""
    port = {"name": "web", "containerPort": 80, "hostPort": 8080}
    refuses = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    fleet.running("proxy", "cpu-1", labels={"app": "proxy"})
    fleet.objects[-1]["spec"]["containers"][0]["ports"] = [port]
    rules = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [refuses]}}
    fleet.running("lonely", "cpu-2", labels={"app": "lonely"}, affinity=rules)
    fleet.running("web-old", "cpu-3", labels={"app": "web"})
    spread: dict[str, Any] = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    pod = fleet.pod("web-new", labels={"app": "web"}, topologySpreadConstraints=[spread])
    pod["spec"]["containers"][0]["ports"] = [port]
    check("other-pods", fleet.explain(pod).stdout)


def test_every_node_by_itself(fleet: World) -> None:
    pod = fleet.pod("llm", resources=requests(gpu=4), nodeSelector={"gpu_product": "H100"})
    check("all-nodes", fleet.explain(pod, "--all-nodes").stdout)


@pytest.mark.slow
def test_five_thousand_nodes_do_not_flood_the_screen(world: World) -> None:
    for number in range(5000):
        pool = ("cpu", "cpu", "cpu", "spot", "gpu")[number % 5]
        taint = {"spot": "spot=true:NoSchedule", "gpu": GPU_TAINT}.get(pool, "")
        gpus = 8 if pool == "gpu" else 0
        name = f"{pool}-{number:04}"
        world.node(name, gpu=gpus, taint=taint, zone="abc"[number % 3], pool=pool, cordoned=number % 97 == 0)
        if number % 2:
            world.running(f"busy-{number}", name, resources=requests(cpu=number % 16 + 0.5, memory=f"{number % 60}Gi"))
    pod = world.pod("llama", resources=requests(cpu=12, memory="40Gi", gpu=16), nodeSelector={"pool": "gpu-large"})
    text = world.explain(pod).stdout
    assert text.startswith("default/llama cannot be placed: 0 of 5,000 nodes fit\n")
    assert len(text.splitlines()) <= 60
    check("five-thousand", text)
