"""What is told of one node: what keeps pods off, what is free, who holds its devices, and what becomes of a pod."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.api.core.types import Node, Pod
from mooring.kube.objects import Object
from mooring.kube.quantities import parse_quantity
from mooring.placement.node_pools import Growth, NodePool, Replicated, pool_notes
from mooring.placement.node_report.obstacles import is_ready, obstacles
from mooring.placement.node_report.room import NodeRoom, device_holders, is_device, node_rooms
from mooring.placement.node_report.waiting_pods import place_waiting
from mooring.testing import Scene, cluster, node, pod
from mooring.testing.devices import device_class, resource_slice

PREFIX = "node.kubernetes.io/"


def condition(kind: str, status: str, reason: str = "") -> Object:
    return {"type": kind, "status": status, **({"reason": reason} if reason else {})}


def told(
    made: Object, *rooms: NodeRoom, waiting: tuple[Object, ...] = (), running: tuple[Object, ...] = ()
) -> list[str]:
    scene = cluster()
    pods = [[scene.explain(each).pod for each in several] for several in (waiting, running)]
    found = obstacles(msgspec.convert(made, Node), rooms, *pods)
    return [
        each.text + "".join(f" {some.number}/{some.total}" for some in (each.waiting, each.running) if some is not None)
        for each in found
    ]


@pytest.mark.parametrize(
    ("kind", "status", "words", "taint"),
    [
        ("Ready", "False", "it is not ready", "not-ready"),
        ("Ready", "Unknown", "nothing was heard from its kubelet", "unreachable"),
        ("MemoryPressure", "True", "memory runs short", "memory-pressure"),
        ("DiskPressure", "True", "disk space runs short", "disk-pressure"),
        ("PIDPressure", "True", "process numbers run short", "pid-pressure"),
        ("NetworkUnavailable", "True", "its network is not set up", "network-unavailable"),
    ],
)
def test_a_condition_and_its_taint_are_one_obstacle(kind: str, status: str, words: str, taint: str) -> None:
    tainted = node("n", taints=[f"{PREFIX}{taint}:NoSchedule", f"{PREFIX}{taint}:NoExecute", "x=1:NoSchedule"])
    tainted["status"]["conditions"] = [condition(kind, status, "Why")]
    half = pod("half", tolerations=[f"{PREFIX}{taint}:NoSchedule", "x=1:NoSchedule"])
    whole = pod("whole", tolerations=[f"{PREFIX}{taint}:NoSchedule", f"{PREFIX}{taint}:NoExecute"])
    assert told(tainted, waiting=(half, whole), running=(whole, whole, half)) == [
        f"{words} (Why) 1/2 2/3",
        "taint x=1:NoSchedule 1/2 1/3",
    ]
    bare = node("n")
    bare["status"]["conditions"] = [condition(kind, status)]
    assert told(bare) == [f"{words}, but no taint says so, so pods are still sent there"]
    good = condition(kind, "True" if kind == "Ready" else "False")
    bare["status"]["conditions"] = [good]
    assert told(bare) == []


def test_a_cordon_a_preference_and_what_is_full_are_obstacles_too() -> None:
    made = node("n", unschedulable=True, taints=["spot=yes:PreferNoSchedule"])
    rooms = (
        NodeRoom("cpu", 4000, 4000),
        NodeRoom("memory", 2**30, 2**30 - 1),
        NodeRoom("pods", 110, 111),
        NodeRoom("nvidia.com/gpu", 0, 0),
        NodeRoom("example.com/card", 2, 3),
    )
    tolerating = pod("p", tolerations=[f"{PREFIX}unschedulable:NoSchedule"])
    assert told(made, *rooms, waiting=(pod("q"), tolerating)) == [
        "it is cordoned (spec.unschedulable) 1/2 0/0",
        "taint spot=yes:PreferNoSchedule (pods go elsewhere if they can) 0/2 0/0",
        "no cpu is free, of 4",
        "it is full: 111 of 110 pods",
        "no example.com/card is free, of 2",
    ]
    made["spec"]["taints"] = []
    assert told(made, waiting=(tolerating,)) == ["it is cordoned (spec.unschedulable) 1/1 0/0"]


def test_a_node_is_ready_unless_it_says_otherwise() -> None:
    for conditions, ready in (
        (None, True),
        ([], True),
        ([condition("Ready", "True")], True),
        ([condition("DiskPressure", "True")], True),
        ([condition("Ready", "False")], False),
        ([condition("DiskPressure", "False"), condition("Ready", "Unknown")], False),
    ):
        made = node("n")
        made["status"]["conditions"] = conditions
        assert is_ready(msgspec.convert(made, Node)) is ready


# Room


def claim(name: str, driver: str, *devices: str, admin: bool = False) -> Object:
    results = [
        {"request": "r", "driver": driver, "pool": "n", "device": each, **({"adminAccess": True} if admin else {})}
        for each in devices
    ]
    requests = [{"name": "r", "exactly": {"deviceClassName": "gpu", "count": len(devices)}}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {"devices": {"requests": requests}},
        "status": {"allocation": {"devices": {"results": results}}, "reservedFor": []},
    }


def claiming(name: str, claimed: str, **facts: Any) -> Object:
    made = pod(name, **facts)
    made["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": claimed}]
    return made


def with_devices() -> Scene:
    made = node("n", cpu="4", memory="8Gi", gpu=4, pods=9)
    made["status"]["allocatable"] |= {"hugepages-2Mi": "4Mi", "example.com/none": "0"}
    return cluster(
        made,
        node("other", gpu=8),
        device_class(),
        resource_slice("n", "a", "b", "c"),
        claim("two", "gpu.example.com", "a", "b"),
        claim("seen", "gpu.example.com", "c", admin=True),
        pod("small", cpu="500m", gpu=1, node="n"),
        pod("large", memory="1Gi", gpu=2, node="n"),
        pod("same", gpu=1, node="n"),
        claiming("claims", "two", node="n"),
        claiming("looks", "seen", node="n"),
        claiming("lost", "gone", node="n"),
        pod("elsewhere", gpu=8, node="other"),
    )


def test_rooms_are_of_what_the_node_has_and_what_of_it_is_used() -> None:
    scene = with_devices()
    assert node_rooms(scene.cluster, scene.cluster.slots["n"]) == [
        NodeRoom("cpu", 4000, 500),
        NodeRoom("memory", 8 * 2**30, 2**30),
        NodeRoom("pods", 9, 6),
        NodeRoom("ephemeral-storage", 100 * 2**30, 0),
        NodeRoom("hugepages-2Mi", 4 * 2**20, 0),
        NodeRoom("nvidia.com/gpu", 4, 4),
        NodeRoom("gpu.example.com", 3, 2),
    ]
    assert [NodeRoom("cpu", 4, used).free for used in (0, 3, 4, 5)] == [4, 1, 0, 0]


def test_holders_of_devices_come_by_resource_and_number() -> None:
    scene = with_devices()
    found = device_holders(scene.cluster, scene.cluster.slots["n"])
    assert [(each.resource, each.amount, each.pod.name) for each in found] == [
        ("gpu.example.com", 2, "claims"),
        ("nvidia.com/gpu", 2, "large"),
        ("nvidia.com/gpu", 1, "same"),
        ("nvidia.com/gpu", 1, "small"),
    ]


def test_devices_are_what_people_count() -> None:
    names = ("nvidia.com/gpu", "hugepages-2Mi", "cpu", "hugepages-x/y")
    assert [is_device(name) for name in names] == [True, False, False, False]


# Pods that wait


def fates(scene: Scene, *waiting: Object) -> list[str]:
    pods = [scene.explain(each).pod for each in waiting]
    return [
        f"{each.pod.name} {each.fate.value} {each.node or '-'} {[victim.name for victim in each.victims]} "
        f"{[(cause.plugin, cause.text) for cause in each.causes]} {each.behind}"
        for each in place_waiting(scene.engine, 0, pods)
    ]


def test_pods_land_one_after_another_and_what_is_left_is_told() -> None:
    scene = cluster(node("a", cpu="2"), node("b", cpu="4", taints=["x=1:NoSchedule"]))
    tolerating = pod("far", cpu="3", tolerations=["x=1:NoSchedule"])
    gated = pod("gated", schedulingGates=[{"name": "one"}, {"name": "two"}])
    alike = [pod(f"web-{number}", cpu="1", labels={"app": "web"}) for number in range(4)]
    assert fates(scene, gated, tolerating, *alike) == [
        "gated blocked - [] [('SchedulingGates', 'held back by one, two')] 0",
        "far blocked b [] [('NodeResourcesFit', 'needs 3 cpu, has only 2')] 0",
        "web-0 lands a [] [] 0",
        "web-1 lands a [] [] 0",
        "web-2 blocked - [] [('NodeResourcesFit', 'needs 1 cpu, none of 2 free')] 0",
        "web-3 blocked - [] [('NodeResourcesFit', 'needs 1 cpu, none of 2 free')] 0",
    ]


def test_a_pod_that_would_fit_goes_where_it_is_better() -> None:
    scene = cluster(node("a", cpu="2"), node("b", cpu="64", memory="512Gi"))
    totals = scene.explain(pod("web", cpu="1", memory="1Gi")).totals
    behind = int(totals[1] - totals[0])
    (line,) = fates(scene, pod("web", cpu="1", memory="1Gi"))
    assert behind > 0
    assert line == f"web fits b [] [] {behind}"


def test_pods_that_preempt_take_their_victims_away() -> None:
    scene = cluster(node("a", cpu="2"), node("b", cpu="1"), pod("cheap", cpu="2", node="a", priority=-1))
    important = pod("web", cpu="2", priority=5)
    assert fates(scene, important, pod("next", cpu="2", priority=4)) == [
        "web lands a ['cheap'] [] 0",
        "next blocked - [] [('NodeResourcesFit', 'needs 2 cpu, none of 2 free')] 0",
    ]
    scene = cluster(node("a", cpu="1"), node("b", cpu="2"), pod("cheap", cpu="2", node="b", priority=-1))
    assert fates(scene, important) == ["web blocked b ['cheap'] [('NodeResourcesFit', 'needs 2 cpu, has only 1')] 0"]


def test_a_pod_that_cannot_be_read_is_blocked_with_the_reason() -> None:
    unread: Object = {"matchExpressions": [{"key": "app", "operator": "In", "values": []}]}
    term = {"topologyKey": "zone", "labelSelector": unread}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    (line,) = fates(cluster(node("a")), pod("odd", affinity={"podAffinity": {required: [term]}}))
    assert line.startswith("odd blocked - [] [('InterPodAffinity', ")
    assert "values" in line


# Pools


POOL = NodePool("MachineDeployment default/gpu", {"purpose": "gpu"}, (), "")
BEGINS = "MachineDeployment default/gpu brings nodes"


def test_a_pool_tells_the_first_way_to_a_node_that_is_large_enough() -> None:
    one, eight, memory = parse_quantity("1"), parse_quantity("8"), parse_quantity("8Gi")
    small = Growth("raise it", {"cpu": one, "memory": memory})
    large = Growth("register a host", {"cpu": eight, "memory": memory, "nvidia.com/gpu": one})
    unknown = Growth("ask somebody")
    asked = msgspec.convert(pod("p", cpu="2500m", gpu=1), Pod)
    for growths, otherwise, told_of in (
        ((large, unknown), "", f"{BEGINS} that p suits: register a host"),
        ((small, large), "", f"{BEGINS} that p suits: register a host"),
        ((small, unknown, large), "", f"{BEGINS} whose labels and taints p suits: ask somebody"),
        ((small,), "buy one", f"{BEGINS} whose labels and taints p suits: buy one"),
        (
            (small,),
            "",
            f"{BEGINS} whose labels and taints p suits, and too small ones: it asks for 2.5 of cpu, and the next node "
            "has 1 and it asks for 1 of nvidia.com/gpu, and the next node has 0",
        ),
    ):
        assert pool_notes(asked, [POOL._replace(growths=growths, otherwise=otherwise)]) == [told_of]
    assert pool_notes(asked, [POOL, POOL._replace(waiting="one is on its way")]) == [
        f"{BEGINS} that p suits, and waits: one is on its way"
    ]
    exact = msgspec.convert(pod("p", cpu="8", memory="8Gi", gpu=1), Pod)
    assert pool_notes(exact, [POOL._replace(growths=(large,))]) == [f"{BEGINS} that p suits: register a host"]


def test_what_a_pool_has_to_spare_is_up_to_its_bound() -> None:
    assert Replicated("v1", "MachineDeployment", "default", "gpu", 2, 5).to_spare == 3
