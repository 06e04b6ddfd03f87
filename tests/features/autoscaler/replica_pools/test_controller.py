"""Pools of replicas at work, in virtual time: made, grown, shared, removed, and what stands in their way."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mooring.kube.times import moment
from mooring.testing.hosts import byo_host, byo_machine_template
from mooring.testing.replica_pools import KEY, replica_pod, replica_pods, replica_policy, serving_host
from mooring.testing.scaled_pools import scaled_pool
from tests.features.autoscaler.replica_pools.world import ReplicaPoolWorld
from tests.features.autoscaler.world import gpu_pod

LOST = {"mooring.dev/lost": "yes"}
PAUSED = {"cluster.x-k8s.io/paused": "yes"}


def refusals(world: ReplicaPoolWorld) -> set[str]:
    return {text for text in world.told("NotTriggerScaleUp") if text.startswith("no nodes are added")}


def test_a_replica_gets_a_pool_of_its_own_with_its_label_and_taint() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=["a", "b", "c"])
    world.settle()
    assert world.targets == {"serve-0": 2}
    nodes = world.nodes_with("serve-0")
    assert len(nodes) == 2
    assert sorted(map(world.node_of, ("serve-0", "serve-0-1"))) == nodes
    taints = world.get("Node", nodes[0])["spec"]["taints"]
    assert {"key": KEY, "value": "serve-0", "effect": "NoSchedule"} in taints
    assert len(world.free) == 1
    plan = "[{MachineDeployment/default/serve-0 0->2 (max: 2)}]"
    assert set(world.told("TriggeredScaleUp")) == {f"pod triggered scale-up: {plan}"}
    pool = world.get("MachineDeployment", "serve-0")
    assert pool["metadata"]["annotations"]["mooring.dev/replica-pool-for"] == "default/serve-0"


def test_the_pool_goes_with_its_replica_and_the_hosts_are_free_again() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), *replica_pods("serve-1"), hosts=["a", "b", "c", "d"])
    world.settle()
    assert world.targets == {"serve-0": 2, "serve-1": 2}
    world.drop("serve-1", "serve-1-1")
    world.wait(240)
    assert world.targets == {"serve-0": 2}
    assert sorted(world.all("ByoMachineTemplate")) == ["gpu-template", "serve-0", "worker-template"]
    assert len(world.free) == 2
    assert all("labels" not in world.get("ByoHost", name)["spec"] for name in world.free)


def test_a_replica_that_is_made_anew_within_the_time_keeps_its_pool() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=["a", "b"])
    world.settle()
    uid = world.get("MachineDeployment", "serve-0")["metadata"]["uid"]
    world.drop("serve-0", "serve-0-1")
    world.wait(40)
    for each in replica_pods("serve-0"):
        world.put(each)
    world.settle()
    assert world.get("MachineDeployment", "serve-0")["metadata"]["uid"] == uid
    assert sorted(map(world.node_of, ("serve-0", "serve-0-1"))) == ["a", "b"]


def test_no_pool_is_begun_without_hosts_for_the_whole_group() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0", 3), hosts=["a", "b"])
    world.settle()
    assert world.targets == {}
    assert world.free == ["a", "b"]
    assert refusals(world) == {
        f"no nodes are added for {KEY}=serve-0: it needs 3 hosts at once, and 2 of the 2 that are large enough "
        "(nvidia.com/gpu=1) are free; free some, or label more"
    }
    world.put(serving_host("c"))
    world.settle()
    assert world.targets == {"serve-0": 3}


def test_pods_that_are_yet_to_come_count_as_large_as_their_leader() -> None:
    world = ReplicaPoolWorld(replica_pod("serve-0", size=3), hosts=["a", "b"])
    world.settle()
    assert world.targets == {}
    world.put(serving_host("c"))
    world.settle()
    assert world.targets == {"serve-0": 3}


def test_two_replicas_never_count_on_the_same_hosts() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), *replica_pods("serve-1"), hosts=["a", "b", "c"])
    world.settle()
    assert world.targets == {"serve-0": 2}
    (text,) = refusals(world)
    assert "it needs 2 hosts at once, and 1 of the 3 that are large enough" in text


def test_hosts_that_another_pool_waits_for_are_left_to_it() -> None:
    taken = scaled_pool("serving", 2)
    world = ReplicaPoolWorld(hosts=["a", "b"])
    world.put(byo_machine_template("serving-template", {"purpose": "serving"}))
    world.put(taken)
    for each in replica_pods("serve-0"):
        world.put(each)
    world.settle()
    assert "serve-0" not in world.targets


def test_without_a_policy_nothing_is_made_and_the_event_says_how_to_allow_it() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), gpu_pod("other"), hosts=["a", "b"], allowed=False)
    world.settle()
    assert world.targets == {}
    assert refusals(world) == {
        f"no nodes are added for {KEY}=serve-0: there is no ConfigMap kube-system/mooring-replica-pools; create it "
        "with the label keys, hosts and limits for such pools, as in docs/replica-pools.md"
    }
    world.put(replica_policy())
    world.settle()
    assert world.targets == {"serve-0": 2}


def test_a_malformed_policy_makes_nothing_and_names_the_key() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=["a", "b"], policy=replica_policy(maxHosts="many"))
    world.settle()
    assert world.targets == {}
    sentence = 'ConfigMap kube-system/mooring-replica-pools: maxHosts is "many"; write a whole number above 0'
    assert world.told("InvalidPolicy") == [sentence]
    assert refusals(world) == {f"no nodes are added for {KEY}=serve-0: {sentence}"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"maxPools": "1"}, "there are 1 pools, and maxPools of the policy is 1; raise it, or scale down"),
        (
            {"maxHosts": "3"},
            "it needs 2 hosts, pools of replicas have 2, and maxHosts of the policy is 3; raise it, or scale down",
        ),
    ],
)
def test_a_policy_limits_pools_and_hosts(change: dict[str, str], said: str) -> None:
    pods = [*replica_pods("serve-0"), *replica_pods("serve-1")]
    world = ReplicaPoolWorld(*pods, hosts=["a", "b", "c", "d"], policy=replica_policy(**change))
    world.settle()
    assert world.targets == {"serve-0": 2}
    assert refusals(world) == {f"no nodes are added for {KEY}=serve-1: {said}"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"clusterName": "other"}, "there is no Cluster other in namespace default, which clusterName"),
        ({"bootstrapConfigRef": "BootstrapKubeconfig/x"}, "there is no BootstrapKubeconfig x in namespace default"),
        ({"installerRef": "K8sInstallerConfigTemplate/x"}, "there is no K8sInstallerConfigTemplate x in namespace"),
        ({"hostSelector": "purpose=nothing"}, "no ByoHost matches hostSelector of the policy"),
    ],
)
def test_what_a_policy_names_must_exist(change: dict[str, str], said: str) -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=["a", "b"], policy=replica_policy(**change))
    world.settle()
    assert world.targets == {}
    (text,) = refusals(world)
    assert said in text


def test_pods_that_no_host_can_take_are_told_in_the_words_of_the_scheduler() -> None:
    pods = replica_pods("serve-0", gpu=4)
    world = ReplicaPoolWorld(*pods, hosts=["a", "b"])
    world.settle()
    (text,) = refusals(world)
    assert "none of the 2 hosts that match the policy can take its pods (serve-0: Insufficient nvidia.com/gpu)" in text


def test_a_second_set_of_the_same_value_shares_the_pool_and_is_told_so() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=["a", "b", "c", "d"])
    world.settle()
    world.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-b"}})
    for each in replica_pods("serve-0", namespace="team-b"):
        world.put(each)
    world.settle()
    assert world.targets == {"serve-0": 4}
    assert world.told("ReplicaPoolShared")[0] == (
        "MachineDeployment/default/serve-0 was made for default/serve-0, and team-b/serve-0 asks for nodes with "
        f"{KEY}=serve-0 too: they share the pool; give them different label keys if they should not"
    )


def test_one_that_fits_beside_the_first_makes_the_shared_pool_no_larger() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0", cpu="1", gpu=0), hosts=["a", "b", "c"])
    world.settle()
    assert world.targets == {"serve-0": 1}
    world.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-b"}})
    for each in replica_pods("serve-0", namespace="team-b", cpu="1", gpu=0):
        world.put(each)
    world.settle()
    assert world.targets == {"serve-0": 1}


def test_a_lost_host_is_replaced_by_a_free_one() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=["a", "b", "c"])
    world.settle()
    lost = world.node_of("serve-0-1")
    world.annotate("ByoHost", lost, LOST)
    world.annotate("Node", lost, LOST)
    world.wait(40 * 60)
    assert world.targets == {"serve-0": 2}
    assert len(world.nodes_with("serve-0")) == 2
    assert lost not in world.nodes_with("serve-0")
    assert f"node {lost} is not ready: Machine " in world.told("HostLost")[0]


def test_a_lost_host_is_given_up_at_the_very_end_of_its_time() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=["a", "b", "c"])
    world.settle()
    world.annotate("ByoHost", "a", LOST)
    world.annotate("Node", "a", LOST)
    world.wait(120)
    (since,) = (each for each in world.get("Node", "a")["status"]["conditions"] if each["type"] == "Ready")
    world.wait(25 * 60)
    (told,) = (each for each in world.all("Event").values() if each["reason"] == "HostLost")
    assert moment(told["firstTimestamp"]) - moment(since["lastTransitionTime"]) == timedelta(minutes=20)


def test_a_lost_host_without_another_in_its_place_is_waited_for() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=["a", "b"])
    world.settle()
    machines = sorted(world.all("Machine"))
    world.annotate("ByoHost", "a", LOST)
    world.annotate("Node", "a", LOST)
    world.wait(40 * 60)
    assert sorted(world.all("Machine")) == machines
    assert world.told("HostLost") == [
        "node a is not ready, and no other host is free in its place; bring it back, or free another"
    ]


def test_small_hosts_are_taken_before_large_ones() -> None:
    hosts = [serving_host("big", gpu=8, cpu="64", memory="512Gi"), serving_host("s1"), serving_host("s2")]
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=hosts)
    world.settle()
    assert world.nodes_with("serve-0") == ["s1", "s2"]
    for each in replica_pods("serve-1"):
        world.put(each)
    world.settle()
    assert world.targets == {"serve-0": 2, "serve-1": 1}
    assert world.nodes_with("serve-1") == ["big"]


def test_no_pool_is_made_while_the_cluster_is_paused_and_none_goes() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=["a", "b", "c", "d"])
    world.settle()
    world.patch("Cluster", "my-cluster", {"spec": {"paused": True}})
    world.drop("serve-0", "serve-0-1")
    for each in replica_pods("serve-1"):
        world.put(each)
    world.wait(300)
    assert world.targets == {"serve-0": 2}
    assert "Cluster my-cluster is paused" in refusals(world).pop()
    world.patch("Cluster", "my-cluster", {"spec": {"paused": False}})
    world.wait(300)
    assert world.targets == {"serve-1": 2}


def test_the_pool_of_somebody_else_with_the_same_name_is_left_alone() -> None:
    other = scaled_pool()
    other["metadata"]["name"] = "serve-0"
    world = ReplicaPoolWorld(other, *replica_pods("serve-0"), hosts=["a", "b"])
    world.settle()
    assert world.targets == {"serve-0": 0}
    assert "there is another MachineDeployment or ByoMachineTemplate serve-0" in refusals(world).pop()


def test_a_pool_that_was_begun_goes_though_the_policy_is_gone() -> None:
    world = ReplicaPoolWorld(*replica_pods("serve-0"), hosts=["a", "b"])
    world.settle()
    resource = world.registry.resource("v1", "ConfigMap")
    world.registry.delete(resource, "kube-system", "mooring-replica-pools", now=world.simulation.now)
    world.wait(300)
    assert world.targets == {"serve-0": 2}
    world.drop("serve-0", "serve-0-1")
    world.wait(300)
    assert world.targets == {}
    assert world.free == ["a", "b"]


def test_odd_values_and_second_keys_get_names_that_a_pool_can_have() -> None:
    world = ReplicaPoolWorld(replica_pod("serve.v1"), hosts=["a", "b"])
    world.settle()
    (name,) = world.targets
    assert name.startswith("serve-v1-")
    assert len(world.nodes_with("serve.v1")) == 1


def test_the_same_value_of_two_keys_is_two_replicas() -> None:
    other = replica_pod("serve-0", 1, key="example.com/rack")
    policy = replica_policy(labelKeys=f"{KEY}, example.com/rack")
    world = ReplicaPoolWorld(replica_pod("serve-0"), other, hosts=["a", "b"], policy=policy)
    world.settle()
    assert len(world.targets) == 2
    assert "serve-0" in world.targets
    assert len(world.nodes_with("serve-0")) == 1


def test_the_loop_of_the_autoscaler_leaves_these_pools_alone() -> None:
    idle = {"scale-down-unneeded-time": "30s", "scale-down-delay-after-add": "10s", "scan-interval": "5s"}
    light = replica_pods("serve-0", cpu="10m", gpu=0)
    world = ReplicaPoolWorld(
        scaled_pool(), *light, hosts=["a", byo_host("w", labels={"purpose": "worker"})], settings=idle
    )
    world.wait(600)
    assert world.targets == {"worker-pool": 0, "serve-0": 1}
    assert not [line for line in world.log if "discovered nodegroup: MachineDeployment/default/serve-0" in line]


def test_the_loop_of_the_autoscaler_counts_on_no_host_that_a_replica_waits_for() -> None:
    world = ReplicaPoolWorld(scaled_pool("serving"), *replica_pods("serve-0", 1), hosts=["a"])
    world.put(byo_machine_template("serving-template", {"purpose": "serving"}))
    world.settle()
    assert world.targets == {"serving-pool": 0, "serve-0": 1}
    # Nobody looks after the pool for a while, so that it waits for its second host.
    world.patch("MachineDeployment", "serve-0", {"metadata": {"annotations": PAUSED}, "spec": {"replicas": 2}})
    beside = gpu_pod("beside")
    beside["spec"]["nodeSelector"] = {"purpose": "serving"}
    world.put(beside)
    world.put(serving_host("b"))
    world.settle()
    assert world.targets == {"serving-pool": 0, "serve-0": 2}
    assert "pod didn't trigger scale-up: 1 no free host for another node" in world.told("NotTriggerScaleUp")


def test_the_loop_of_the_autoscaler_says_nothing_of_pods_whose_pool_is_on_its_way() -> None:
    worker = byo_host("w", labels={"purpose": "worker"})
    world = ReplicaPoolWorld(scaled_pool(), *replica_pods("serve-0", 1), hosts=["a", worker])
    world.simulation.run(until=lambda: "serve-0" in world.targets)
    world.annotate("ByoHost", "a", LOST)
    world.settle()
    assert world.nodes_with("serve-0") == []
    assert world.told("NotTriggerScaleUp") == []
