"""What `mooring explain node/NAME` tells: what is free, what keeps pods off, who holds its GPUs, what it gets."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.testing.devices import device_class, resource_claim, resource_slice
from tests.cli.live import Live
from tests.cli.test_pages import check
from tests.cli.world import World, requests

GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"
TOLERATE = [{"key": "nvidia.com/gpu", "operator": "Exists"}]


@pytest.fixture
def fleet(world: World) -> World:
    """A GPU node that is half in use, a plain one, and pods that wait for several reasons."""
    world.node("gpu-1", gpu=8, taint=GPU_TAINT, zone="a").node("cpu-1", zone="a")
    world.running("train", "gpu-1", resources=requests(cpu=8, gpu=4), tolerations=TOLERATE, priority=10)
    world.add(world.pod("llm", resources=requests(cpu=2, gpu=2), tolerations=TOLERATE, priority=100))
    world.add(world.pod("huge", resources=requests(gpu=8), tolerations=TOLERATE))
    world.add(world.pod("web", resources=requests(cpu=1)))
    world.add(world.pod("api", resources=requests(cpu=1)))
    return world.add(world.pod("gated", schedulingGates=[{"name": "quota"}]))


def test_the_page_of_a_node(fleet: World) -> None:
    result = fleet.explain("node/gpu-1")
    assert result.exit_code == 0
    check("node", result.stdout)


@pytest.mark.parametrize("words", [("node", "gpu-1"), ("nodes/gpu-1",), ("no/gpu-1",)])
def test_a_node_is_named_as_kubectl_lets_people_name_it(fleet: World, words: tuple[str, ...]) -> None:
    assert fleet.explain(*words).stdout == fleet.explain("node/gpu-1").stdout


def test_the_same_as_data(fleet: World) -> None:
    answer = fleet.answer("node/gpu-1")
    assert (answer["node"], answer["ready"], answer["cordoned"]) == ("gpu-1", True, False)
    assert answer["resources"]["cpu"] == {"allocatable": "16000m", "used": "8000m", "free": "8000m"}
    assert answer["largestPod"] == {"cpu": "8000m", "memory": str(64 << 30), "nvidia.com/gpu": "4"}
    assert answer["keepsOff"] == [
        {
            "text": f"taint {GPU_TAINT}",
            "toleratedBy": {"waiting": {"count": 2, "total": 5}, "running": {"count": 1, "total": 1}},
        }
    ]
    assert [(each["pod"], each["amount"], each["priority"]) for each in answer["holders"]] == [("default/train", 4, 10)]
    assert answer["lands"] == [{"pod": "default/llm", "victims": [], "notKnown": []}]
    blocked = {pod: group["causes"] for group in answer["blocked"] for pod in group["pods"]}
    assert blocked["default/web"] == blocked["default/api"]
    assert [cause["text"] for cause in blocked["default/huge"]] == ["needs 8 nvidia.com/gpu, 2 of 8 free"]


def test_a_pod_that_would_fit_and_goes_elsewhere(fleet: World) -> None:
    fleet.node("cpu-2").running("busy", "cpu-2", resources=requests(cpu=8))
    answer = fleet.answer("node/cpu-2")
    assert answer["fits"] == [
        {"pod": "default/web", "node": "cpu-1", "behind": 50},
        {"pod": "default/api", "node": "cpu-1", "behind": 44},
    ]
    assert "have room here; cpu-1 is up to 50 points better" in fleet.explain("node/cpu-2").stdout


def test_a_pod_that_makes_room_for_itself(fleet: World) -> None:
    fleet.add(fleet.pod("urgent", resources=requests(gpu=8), tolerations=TOLERATE, priority=1000))
    answer = fleet.answer("node/gpu-1")
    assert answer["lands"][0] == {"pod": "default/urgent", "victims": ["default/train"], "notKnown": []}
    assert "default/urgent  after default/train left, of lower priority" in fleet.explain("node/gpu-1").stdout


@pytest.mark.parametrize(
    ("spec", "conditions", "told"),
    [
        pytest.param({"unschedulable": True}, {}, "it is cordoned (spec.unschedulable)", id="cordoned"),
        pytest.param(
            {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]},
            {"Ready": "False"},
            "it is not ready (Why)",
            id="not ready",
        ),
        pytest.param(
            {},
            {"Ready": "Unknown"},
            "nothing was heard from its kubelet (Why), but no taint says so",
            id="lost just now",
        ),
        pytest.param(
            {"taints": [{"key": "node.kubernetes.io/memory-pressure", "effect": "NoSchedule"}]},
            {"Ready": "True", "MemoryPressure": "True"},
            "memory runs short (Why)",
            id="memory pressure",
        ),
        pytest.param(
            {"taints": [{"key": "spot", "effect": "PreferNoSchedule"}]},
            {},
            "taint spot:PreferNoSchedule (pods go elsewhere if they can)",
            id="a preference",
        ),
    ],
)
def test_what_keeps_pods_off_is_told_once(
    world: World, spec: dict[str, Any], conditions: dict[str, str], told: str
) -> None:
    world.node("n1")
    world.objects[0]["spec"] = spec
    world.objects[0]["status"]["conditions"] = [
        {"type": kind, "status": status, "reason": "Why"} for kind, status in conditions.items()
    ]
    texts = [each["text"] for each in world.answer("node/n1")["keepsOff"]]
    assert len(texts) == 1
    assert texts[0].startswith(told)


def test_a_full_node_has_room_for_no_pod(world: World) -> None:
    world.node("n1")
    world.objects[0]["status"]["allocatable"]["pods"] = "1"
    world.running("only", "n1", resources=requests(cpu=16))
    page = world.explain("node/n1").stdout
    assert "There is no room for a pod." in page
    assert "no cpu is free, of 16" in page
    assert "it is full: 1 of 1 pods" in page


def test_devices_of_a_driver_are_counted_and_their_holders_named(world: World) -> None:
    world.node("n1").add(device_class(), resource_slice("n1", "device-0", "device-1", driver="gpu.example.com"))
    claim = resource_claim("mine")
    claim["metadata"]["namespace"] = "default"
    result = {"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": "device-0"}
    claim["status"] = {"allocation": {"devices": {"results": [result]}}}
    world.add(claim)
    world.running("train", "n1", resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}])
    answer = world.answer("node/n1")
    assert answer["resources"]["gpu.example.com"] == {"allocatable": "2", "used": "1", "free": "1"}
    assert [(each["pod"], each["resource"], each["amount"]) for each in answer["holders"]] == [
        ("default/train", "gpu.example.com", 1)
    ]


def test_what_is_not_known_of_a_pod_is_said_where_it_lands(world: World) -> None:
    world.node("n1")
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    world.add(world.pod("db", volumes=[volume]))
    assert "as far as is known: claim default/data is not known" in world.explain("node/n1").stdout


def test_a_node_that_is_not_there(fleet: World) -> None:
    result = fleet.explain("node/gpu-2")
    assert result.exit_code == 1
    assert result.stderr == 'error: node "gpu-2" not found in cluster.yaml; did you mean gpu-1 or cpu-1?\n'


def test_a_node_of_a_live_cluster(town: Live) -> None:
    result = town.run("explain", "node/gpu-1")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "gpu-1 is ready; 0 of 1 pod that waits would be scheduled on it"
