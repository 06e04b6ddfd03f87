"""The autoscaler at work on pools of hosts, in virtual time: scenarios S4, S5 and S8, and what is wrong with pools."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from mooring.testing.hosts import byo_host
from mooring.testing.scaled_pools import scaled_pool
from mooring.testing.workloads import budget, replica_set, template
from tests.features.autoscaler.world import ScaledWorld, gpu_host, gpu_pod
from tests.features.machines.world import workers

SILENT = {"mooring.dev/lost": "yes"}
PAUSED = {"cluster.x-k8s.io/paused": "yes"}


def test_a_pod_that_finds_no_node_makes_the_one_right_pool_grow_from_zero() -> None:
    world = ScaledWorld(scaled_pool(), scaled_pool("gpu", most=2), gpu_pod(), hosts=[*workers("w1"), gpu_host()])
    world.run(60)
    assert world.targets == {"worker-pool": 0, "gpu-pool": 1}
    assert world.node_of("train") == "g1"
    plan = "[{MachineDeployment/default/gpu-pool 0->1 (max: 2)}]"
    assert world.told("TriggeredScaleUp") == [f"pod triggered scale-up: {plan}"]
    assert f"Final scale-up plan: {plan}" in world.log
    assert "discovered nodegroup: MachineDeployment/default/gpu-pool (min: 0, max: 2, replicas: 0)" in world.log


def test_no_pool_grows_where_no_host_is_free_and_the_pod_is_told_why() -> None:
    world = ScaledWorld(scaled_pool("gpu", most=2), gpu_pod(), gpu_pod("second"), hosts=[gpu_host()])
    world.run(60)
    assert world.targets == {"gpu-pool": 1}
    assert world.told("NotTriggerScaleUp") == ["pod didn't trigger scale-up: 1 no free host for another node"]
    world.put(gpu_host("g2"))
    world.run(60)
    assert world.targets == {"gpu-pool": 2}
    assert sorted(map(world.node_of, ("train", "second"))) == ["g1", "g2"]


def test_an_idle_node_goes_back_and_its_host_can_be_had_by_another_pool() -> None:
    world = ScaledWorld(scaled_pool("gpu", most=2), gpu_pod(), hosts=[gpu_host()])
    world.run(60)
    world.delete("Pod", "train")
    world.wait(9 * 60)
    assert world.nodes_of("gpu-pool") == ["g1"]
    world.wait(3 * 60)
    assert world.targets == {"gpu-pool": 0}
    assert not world.all("Node")
    assert not world.all("Machine")
    assert world.told("ScaleDownEmpty") == ['Scale-down: removing empty node "g1"']
    assert world.get("ByoHost", "g1")["status"]["phase"] == "Available"
    world.patch("ByoHost", "g1", {"metadata": {"labels": {"purpose": "worker"}}})
    world.put(scaled_pool(replicas=1))
    world.run(60)
    assert world.get("Node", "g1")["metadata"]["labels"]["purpose"] == "worker"


def test_exactly_the_idle_node_goes_and_its_pods_move() -> None:
    web = replica_set("web", 3, pods=template("web", nodeSelector={"purpose": "worker"}))
    world = ScaledWorld(scaled_pool(replicas=3), hosts=workers("w1", "w2", "w3"))
    world.run(60)
    for name in ("w1", "w3"):
        world.annotate("Node", name, {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"})
    world.put(web)
    world.wait(12 * 60)
    assert (world.targets, world.nodes_of()) == ({"worker-pool": 2}, ["w1", "w3"])
    assert {world.node_of(name) for name in world.all("Pod")} <= {"w1", "w3"}
    assert len(world.all("Pod")) == 3


def test_a_pod_that_must_not_move_keeps_its_node() -> None:
    web = replica_set("web", 1, pods=template("web"))
    world = ScaledWorld(scaled_pool(replicas=2), hosts=workers("w1", "w2"))
    world.put(web)
    world.put(budget("web", "web", minAvailable=1))
    world.wait(15 * 60)
    assert world.nodes_of() == [world.node_of(next(iter(world.all("Pod"))))]


def test_a_pod_that_comes_while_its_node_is_about_to_go_keeps_it() -> None:
    settings = {"scale-down-unneeded-time": "30s", "node-deletion-delay-after-taint": "30s"}
    world = ScaledWorld(scaled_pool(replicas=1), hosts=workers("w1"), settings=settings)
    world.run(20)
    tainted = "ToBeDeletedByClusterAutoscaler"
    world.simulation.run(until=lambda: tainted in str(world.all("Node")))
    pod = gpu_pod("late", node="w1")
    pod["spec"]["containers"][0]["resources"] = {}
    world.put(pod)
    world.wait(40)
    assert world.targets == {"worker-pool": 1}
    assert tainted not in str(world.all("Node"))
    assert world.told("ScaleDownFailed") == [
        "the node is kept after all: pod default/late may not be moved (NotReplicated)"
    ]


def test_a_host_that_never_joins_is_given_up_and_the_pool_left_alone() -> None:
    lost = byo_host("g1", labels={"purpose": "gpu"}, gpu=1)
    world = ScaledWorld(scaled_pool("gpu"), gpu_pod(), hosts=[lost])
    world.simulation.run(until=lambda: world.targets == {"gpu-pool": 1})
    world.annotate("ByoHost", "g1", SILENT)
    world.wait(17 * 60)
    assert world.targets == {"gpu-pool": 0}
    assert world.told("ScaleUpTimedOut")
    assert "pod didn't trigger scale-up: 1 in backoff after failed scale-up" in world.told("NotTriggerScaleUp")


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (scaled_pool("gpu", most="many"), "write whole numbers, and no minimum above the maximum"),
        (scaled_pool("gpu", least=3, most=2), "write whole numbers, and no minimum above the maximum"),
        (scaled_pool("gpu", annotations=PAUSED), "it is paused; take the annotation cluster.x-k8s.io/paused off"),
        (scaled_pool("gpu", most=0), "its maximum is 0"),
    ],
    ids=["no number", "minimum above maximum", "paused", "no maximum"],
)
def test_what_is_wrong_with_one_pool_is_told_on_it_and_the_others_go_on(broken: Object, said: str) -> None:
    web = gpu_pod("web", cpu="1")
    web["spec"] |= {"nodeSelector": {"purpose": "worker"}}
    web["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    world = ScaledWorld(scaled_pool(), web, gpu_pod(), hosts=[*workers("w1"), gpu_host()], admission=False)
    world.put(broken)
    world.run(60)
    assert world.targets == {"worker-pool": 1, "gpu-pool": 0}
    (message,) = world.told("NotScaled")
    assert message.startswith("MachineDeployment/default/gpu-pool is not scaled: ")
    assert said in message


def test_the_pools_of_a_paused_cluster_are_left_alone() -> None:
    world = ScaledWorld(scaled_pool("gpu"), hosts=[gpu_host()])
    world.patch("Cluster", "my-cluster", {"spec": {"paused": True}})
    world.put(gpu_pod())
    world.run(60)
    assert world.targets == {"gpu-pool": 0}
    assert "paused by spec.paused of Cluster my-cluster" in world.told("NotScaled")[0]


def test_a_pool_whose_template_is_missing_says_which() -> None:
    world = ScaledWorld(scaled_pool("lost"))
    world.run(60)
    (told,) = world.told("NotScaled")
    assert "there is no ByoMachineTemplate lost-template in namespace default" in told


def test_a_pool_whose_hosts_are_all_silent_says_so() -> None:
    silent = byo_host("g1", labels={"purpose": "gpu"}, gpu=1, annotations=SILENT)
    world = ScaledWorld(scaled_pool("gpu"), gpu_pod(), hosts=[silent])
    world.run(60)
    assert world.targets == {"gpu-pool": 0}
    assert "none of the 1 hosts that match is heard of (g1)" in world.told("HostsSilent")[0]


def test_pools_with_equal_selectors_never_count_each_others_machines() -> None:
    world = ScaledWorld(scaled_pool(replicas=1), scaled_pool("gpu", 1), hosts=[*workers("w1"), gpu_host()])
    world.run(60)
    lines = [line for line in world.log if line.startswith("discovered")]
    assert lines[-1].endswith("worker-pool (min: 0, max: 5, replicas: 1)")
    assert (world.nodes_of(), world.nodes_of("gpu-pool")) == (["w1"], ["g1"])
