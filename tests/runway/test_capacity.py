"""Free GPUs by node, pool and kind, and the largest pod that fits."""

from __future__ import annotations

import msgspec

from mooring.runway.capacity import GpuKind, GpuPool, GpuTotals, LargestPod, cluster_capacity
from mooring.testing.builders import node, pod
from tests.runway.clusters import gpu_node, not_ready, snapshot

POOL = "node.kubernetes.io/pool"


def test_free_gpus_are_told_by_node_pool_and_kind() -> None:
    made = snapshot(
        gpu_node("h-1", **{POOL: "h100"}),
        gpu_node("h-2", **{POOL: "h100"}),
        node("a-1", gpu=4, labels={"nvidia.com/gpu.product": "A10"}),
        node("cpu"),
        pod("one", gpu=5, node="h-1"),
        pod("two", gpu=6, node="h-2"),
        pod("three", gpu=4, node="a-1"),
    )
    found = cluster_capacity(made.cluster)
    assert found.gpus == GpuTotals(20, 5, 15, 3)
    assert found.kinds == (GpuKind("A10", 4, 0, 0, 1), GpuKind("NVIDIA-H100-80GB-HBM3", 16, 5, 3, 2))
    assert found.pools == (GpuPool("default", 2, 2, 4, 0, 0), GpuPool("h100", 2, 2, 16, 5, 3))
    assert [(each.name, each.free) for each in found.nodes] == [("a-1", 0), ("cpu", 0), ("h-1", 3), ("h-2", 2)]


def test_five_free_gpus_on_two_nodes_hold_no_pod_of_four() -> None:
    made = snapshot(
        gpu_node("h-1"), gpu_node("h-2"), pod("one", gpu=5, cpu="2", node="h-1"), pod("two", gpu=6, node="h-2")
    )
    assert cluster_capacity(made.cluster).largest_pod == LargestPod(3, 6.0, 32 << 30, "h-1")


def test_gpus_of_nodes_that_take_no_pods_are_not_free() -> None:
    made = snapshot(
        not_ready(gpu_node("lost")),
        node("cordoned", gpu=8, unschedulable=True),
        node("full", gpu=8, pods=1),
        pod("small", node="full"),
    )
    found = cluster_capacity(made.cluster)
    assert (found.gpus.total, found.gpus.free) == (24, 0)
    assert [(each.name, each.ready, each.cordoned) for each in found.nodes] == [
        ("cordoned", True, True),
        ("full", True, False),
        ("lost", False, False),
    ]


def test_an_init_container_holds_gpus_as_the_scheduler_counts_them() -> None:
    asking = {"requests": {"nvidia.com/gpu": "6"}, "limits": {"nvidia.com/gpu": "6"}}
    loading = {"name": "load", "image": "example.com/load:1", "resources": asking}
    made = snapshot(gpu_node("h-1"), pod("model", gpu=2, node="h-1", initContainers=[loading]))
    assert cluster_capacity(made.cluster).gpus.free == 2


def test_a_pod_that_has_ended_holds_nothing() -> None:
    ended = pod("job", gpu=8, node="h-1")
    made = snapshot(gpu_node("h-1"), {**ended, "status": {"phase": "Succeeded"}})
    assert cluster_capacity(made.cluster).gpus.free == 8


def test_an_empty_cluster_has_nothing() -> None:
    found = cluster_capacity(snapshot().cluster)
    assert found.gpus == GpuTotals(0, 0, 0, 0)
    assert found.largest_pod is None


def test_it_is_written_with_the_names_of_the_rest_api() -> None:
    written = msgspec.to_builtins(cluster_capacity(snapshot(gpu_node("h-1")).cluster))
    assert written["gpus"] == {"total": 8, "free": 8, "allocated": 0, "largestFreeBlock": 8}
    assert written["largestPod"] == {"gpus": 8, "cpu": 8.0, "memory": 32 << 30, "node": "h-1"}
