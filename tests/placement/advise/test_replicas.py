"""What advice brings to a whole workload, and what it takes until all of its pods have a place."""

from __future__ import annotations

import msgspec
import pytest

from mooring.api.core.types import Pod
from mooring.kube.objects import Object
from mooring.placement.advise import Advice, AdviceKind, Asked, CommandTarget, WorkloadPod, advise, weigh
from mooring.placement.advise.workload.scale import scaled
from mooring.testing import Scene, cluster, node, pod

HOSTNAME = "kubernetes.io/hostname"
GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"


def advised_for(scene: Scene, pods: list[Object]) -> list[Advice]:
    """Advice for a workload none of whose pods has a place."""
    asked = Asked(scene.explain(pods[0]), pods[0], own=frozenset(_key(each) for each in pods))
    found = advise(scene.engine, asked).advice
    replicas = [WorkloadPod(_key(each), each, "spec.template", placed=False) for each in pods]
    return weigh(scene.engine, found, asked, replicas, "spec.template")


def _key(each: Object) -> str:
    return f"{each['metadata']['namespace']}/{each['metadata']['name']}"


def replicas(count: int, **wishes: object) -> list[Object]:
    return [pod(f"trainer-{i}", labels={"app": "trainer"}, **wishes) for i in range(count)]  # type: ignore[arg-type]


def brings(advice: Advice) -> int:
    assert advice.brings is not None
    return len(advice.brings)


def test_a_toleration_that_brings_all_pods_a_place_says_so() -> None:
    scene = cluster(node("gpu-1", gpu=8, taints=[GPU_TAINT]))
    first = advised_for(scene, replicas(4, gpu=2))[0]
    assert (first.title, brings(first)) == (f"Tolerate taint {GPU_TAINT}", 4)


def test_the_nodes_that_are_still_needed_are_counted() -> None:
    scene = cluster(node("gpu-1", gpu=8, taints=[GPU_TAINT]), pod("other", gpu=8, node="gpu-1"))
    first = next(each for each in advised_for(scene, replicas(5, gpu=4)) if "add" in each.title)
    assert first.title == f"Tolerate taint {GPU_TAINT}, and add 3 more nodes like gpu-1"
    assert brings(first) == 5


def test_what_brings_all_comes_before_what_brings_some() -> None:
    scene = cluster(node("a", gpu=4, taints=[GPU_TAINT]), node("b", gpu=4, taints=[GPU_TAINT], unschedulable=True))
    found = advised_for(scene, replicas(2, gpu=4))
    counts = [brings(each) for each in found]
    assert counts == sorted(counts, reverse=True)
    assert (found[0].title, counts[0]) == (f"Tolerate taint {GPU_TAINT}, and uncordon node b", 2)
    assert f"Tolerate taint {GPU_TAINT}" in [each.title for each in found if brings(each) == 1]


def test_as_many_nodes_are_opened_as_the_pods_need() -> None:
    scene = cluster(*(node(name, gpu=4, unschedulable=True) for name in ("a", "b", "c")))
    first = advised_for(scene, replicas(2, gpu=4))[0]
    assert (first.title, brings(first)) == ("Uncordon nodes a and b", 2)
    assert first.command == "kubectl uncordon a b"


@pytest.mark.parametrize("live", [False, True])
def test_replicas_that_keep_apart_may_prefer_to_before_they_run(live: bool) -> None:
    """Old replicas keep their term until they are renewed, and the first that is new meets it."""
    apart = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "trainer"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    pods = replicas(2, affinity=affinity)
    scene = cluster(node("a"))
    first = scene.cluster.compiler.compile(msgspec.convert(pods[0], Pod))
    scene.cluster.bind(first, scene.cluster.slots["a"])
    target = CommandTarget("Deployment", "trainer", "default", "/spec/template", live=live)
    asked = Asked(scene.explain(pods[1]), pods[1], target, own=frozenset(map(_key, pods)))
    kinds = [each.kind for each in advise(scene.engine, asked).advice]
    assert (AdviceKind.RELAX in kinds) is not live
    assert list(scene.cluster.pods) == [_key(pods[0])]


def test_nobody_is_told_to_delete_a_pod_of_the_workload() -> None:
    pods = replicas(3, gpu=4)
    scene = cluster(node("a", gpu=8), pod("trainer-0", gpu=4, node="a"), pod("trainer-1", gpu=4, node="a"))
    asked = Asked(scene.explain(pods[2]), pods[2], own=frozenset(_key(each) for each in pods))
    assert not any(each.victims for each in advise(scene.engine, asked).advice)


def test_weighing_leaves_the_cluster_as_it_was() -> None:
    scene = cluster(node("gpu-1", gpu=8, taints=[GPU_TAINT]), node("gpu-2", gpu=8))
    before = scene.explain(pod("other", gpu=8))
    advised_for(scene, replicas(4, gpu=8))
    after = scene.explain(pod("other", gpu=8))
    assert (before.message, before.chosen) == (after.message, after.chosen)
    assert len(scene.cluster.pods) == 0


def test_fewer_replicas_are_a_scale_of_the_workload() -> None:
    target = CommandTarget("Deployment", "web", "shop", "/spec/template", live=True)
    advice = scaled(target, 8, 5, frozenset())
    assert advice.title == "Lower replicas from 8 to 5"
    assert advice.command == "kubectl scale deployment web -n shop --replicas=5"


def test_fewer_pods_of_a_job_at_a_time_let_it_run_in_waves() -> None:
    advice = scaled(CommandTarget("Job", "train", "ml", "/spec/template", live=True), 8, 5, frozenset())
    assert advice.title == "Lower parallelism from 8 to 5, so that it runs in waves"
    assert advice.command == """kubectl patch job train -n ml --type=merge -p '{"spec":{"parallelism":5}}'"""
