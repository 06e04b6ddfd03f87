"""Pools that are raised, alone and together with what keeps the pod off their next node."""

from __future__ import annotations

import random

import pytest

from mooring.api.core.types import Taint
from mooring.kube.objects import Object
from mooring.kube.quantities import parse_quantity
from mooring.placement.advise import Advice, AdviceKind, Asked, CommandTarget, WorkloadPod, advise, weigh
from mooring.placement.node_pools import Growth, NodePool, Replicated
from mooring.testing import advised, cluster, node, pod
from mooring.testing.builders import taint
from tests.placement.advise.brute_force import BruteForce
from tests.placement.advise.test_promises import Case, applied
from tests.placement.advise.test_sets import any_request

GPU = "nvidia.com/gpu"
GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"
RAISE = "kubectl scale machinedeployment gpu-pool -n default --replicas="


def pool(
    name: str = "gpu-pool",
    *,
    replicas: int = 1,
    most: int = 10,
    labels: dict[str, str] | None = None,
    taints: tuple[str, ...] = (),
    gpu: str = "0",
) -> NodePool:
    amounts = {"cpu": "8", "memory": "64Gi", "pods": "110"}
    if gpu != "0":
        amounts[GPU] = gpu
    return NodePool(
        f"MachineDeployment default/{name}",
        labels or {},
        tuple(Taint(**taint(each)) for each in taints),
        "",
        (Growth("", {key: parse_quantity(text) for key, text in amounts.items()}),),
        raisable=Replicated("cluster.x-k8s.io/v1beta2", "MachineDeployment", "default", name, replicas, most),
    )


def titles(found: list[Advice]) -> list[str]:
    return [advice.title for advice in found]


def test_a_pool_whose_next_node_takes_the_pod_is_raised() -> None:
    found = advised(cluster(node("cpu-1")), pod("trainer", gpu=4), pools=[pool(gpu="8")])
    (raised,) = (advice for advice in found if advice.kind is AdviceKind.RAISE_POOL)
    assert raised.title == "Raise pool gpu-pool from 1 to 2"
    assert raised.command == f"{RAISE}2"


def test_a_cluster_without_nodes_has_pools_that_bring_them() -> None:
    found = advised(cluster(), pod("trainer", gpu=4), pools=[pool(replicas=0, gpu="8", taints=(GPU_TAINT,))])
    assert titles(found)[0] == f"Raise pool gpu-pool from 0 to 1, and tolerate taint {GPU_TAINT}"


def test_a_pool_is_raised_and_its_taint_tolerated_in_one_answer() -> None:
    scene = cluster(node("cpu-1"))
    target = CommandTarget("Deployment", "trainer", "default", "/spec/template", live=True)
    found = advised(scene, pod("trainer", gpu=4), target, pools=[pool(gpu="8", taints=(GPU_TAINT,))])
    assert found[0].title == f"Raise pool gpu-pool from 1 to 2, and tolerate taint {GPU_TAINT}"
    assert found[0].command is not None
    assert found[0].command.startswith(f"{RAISE}2 && kubectl patch deployment trainer -n default --type=json -p ")
    assert found[0].changes == 2


def test_a_pool_a_selector_and_a_request_are_put_right_together() -> None:
    scene = cluster(node("cpu-1"))
    wanting = pod("trainer", gpu=4, cpu="16", nodeSelector={"pool": "gpuu"})
    (first, *_) = advised(scene, wanting, pools=[pool(gpu="8", labels={"pool": "gpu"})])
    assert [part.title for part in first.parts] == [
        "Raise pool gpu-pool from 1 to 2",
        'Correct nodeSelector pool from "gpuu" to "gpu"',
        "Lower cpu of container main from 16 to 8",
    ]


def test_a_node_that_is_not_there_yet_is_never_changed() -> None:
    scene = cluster(node("cpu-1"))
    wanting = pod("trainer", gpu=4, nodeSelector={"team": "vision"})
    found = advised(scene, wanting, pools=[pool(gpu="8", taints=(GPU_TAINT,))])
    assert found
    assert not [edit for advice in found for edit in advice.edits if "gpu-pool-next" in edit.target]


def test_a_pool_whose_nodes_are_too_small_is_not_raised() -> None:
    found = advised(cluster(node("cpu-1")), pod("trainer", cpu="64"), pools=[pool()])
    assert AdviceKind.RAISE_POOL not in {advice.kind for advice in found}


def brought(replicas: int, most: int) -> Advice:
    """What comes first for so many pods of 8 GPUs, with a tainted pool of one node that can be raised to `most`."""
    scene = cluster(node("cpu-1"))
    pods = [pod(f"trainer-{number}", gpu=8) for number in range(replicas)]
    asked = Asked(scene.explain(pods[0]), pods[0], pools=[pool(gpu="8", taints=(GPU_TAINT,), most=most)])
    known = [WorkloadPod(f"default/{each['metadata']['name']}", each, "spec.template", placed=False) for each in pods]
    return weigh(scene.engine, advise(scene.engine, asked).advice, asked, known, "spec.template")[0]


def test_a_pool_is_raised_by_as_many_nodes_as_the_workload_needs() -> None:
    advice = brought(4, most=10)
    assert advice.title == f"Raise pool gpu-pool from 1 to 5, and tolerate taint {GPU_TAINT}"
    assert len(advice.brings or ()) == 4
    assert advice.parts[0].command == f"{RAISE}5"


def test_a_pool_is_raised_no_further_than_its_bounds_and_hosts_allow() -> None:
    advice = brought(4, most=3)
    assert advice.title == f"Raise pool gpu-pool from 1 to 3, and tolerate taint {GPU_TAINT}"
    assert len(advice.brings or ()) == 2


# Against brute force


def any_request_with_pools(seed: int) -> tuple[Object, list[NodePool]]:
    """The same small clusters, nearly full, beside one or two pools with faults of their own."""
    rng = random.Random(seed)
    request = any_request(seed)
    pools = [
        pool(
            f"pool-{number}",
            labels=dict(rng.sample([("tier", "gold"), ("disk", "ssd"), ("pool", "y")], rng.randint(0, 2))),
            taints=tuple(rng.sample(["team=ml:NoSchedule", GPU_TAINT, "new:NoSchedule"], rng.randint(0, 2))),
            gpu=rng.choice(["0", "4", "16"]),
        )
        for number in range(rng.choice([1, 1, 2]))
    ]
    made = [_next_node(each) for each in pools]
    return {**request, "pools": made}, pools


def _next_node(source: NodePool) -> Object:
    assert source.raisable is not None
    taints = [f"{each.key}{'=' if each.value else ''}{each.value}:{each.effect}" for each in source.taints]
    amounts = source.growths[0].capacity or {}
    name = f"{source.raisable.name}-next"
    made = node(name, cpu="8", labels={**source.labels, "kubernetes.io/hostname": name}, taints=taints)
    made["status"]["allocatable"] = {key: str(amount) for key, amount in amounts.items()}
    return made


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))
def test_no_smaller_set_with_a_pool_is_there_than_the_one_advised_on_80_clusters(part: int) -> None:
    raised = 0
    for seed in range(40 * part, 40 * (part + 1)):
        request, pools = any_request_with_pools(seed)
        smallest = BruteForce(request).smallest_set()
        if smallest == ():
            continue
        case = Case(request)
        asked = Asked(case.explain(), request["pod"], pools=pools)
        found = [advice for advice in advise(case.engine, asked, limit=1000).advice if not advice.last_resort]
        for advice in found:
            assert advice.kind.name == "PRIORITISE" or Case(applied(request, advice)).lands, f"{seed}: {advice.title}"
        raised += any(part.pool is not None for advice in found for part in advice.parts)
        if smallest is not None:
            words = ", ".join(change.words for change in smallest)
            assert found, f"{seed}: nothing is advised, and this would do: {words}"
            assert found[0].changes <= len(smallest), f"{seed}: {found[0].title} is more than {words}"
    assert raised
