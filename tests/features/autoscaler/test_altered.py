"""What is decided for pools that are scaled in a cluster in which something is otherwise than it came to be."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mooring.features.autoscaler.feature import AUTOSCALER
from mooring.kube.objects import Object
from mooring.testing.builders import pod
from mooring.testing.replica_pools import replica_pods, replica_policy
from mooring.testing.scaled_pools import scaled_pool
from mooring.testing.workloads import budget, replica_set, template
from tests.features.altered import Change, decided_as_recorded
from tests.features.autoscaler.replica_pools.world import ReplicaPoolWorld
from tests.features.autoscaler.world import gpu_host, gpu_pod
from tests.features.machines.world import workers

P = "cluster-autoscaler.kubernetes.io/"
N = "cluster.x-k8s.io/cluster-api-autoscaler-node-group"
ALSO = {
    "MachineDeployment": [
        *(Change(("metadata", "annotations", f"{N}-{end}-size"), size) for end in ("min", "max") for size in "01x9"),
        Change(("metadata", "annotations", "capacity.cluster-autoscaler.kubernetes.io/cpu"), "2"),
        *(Change(("spec", "replicas"), number) for number in (0, 1, 3)),
        Change(("spec", "paused"), True),
    ],
    "Machine": [Change(("metadata", "annotations", "cluster.x-k8s.io/delete-machine"), "")],
    "Node": [
        Change(("spec", "unschedulable"), True),
        Change(("metadata", "annotations", f"{P}scale-down-disabled"), "true"),
        Change(("spec", "taints"), [{"key": "ToBeDeletedByClusterAutoscaler", "value": "1", "effect": "NoSchedule"}]),
        Change(
            ("status", "conditions"),
            [{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        ),
    ],
    "Pod": [
        Change(("metadata", "annotations", f"{P}safe-to-evict"), "false"),
        Change(("spec", "nodeName"), ""),
        Change(("spec", "priority"), -100),
        Change(("status", "phase"), "Succeeded"),
    ],
    "ConfigMap": [
        Change(("data", "maxPools"), "1"),
        Change(("data", "maxHosts"), "1"),
        Change(("data", "maxHosts"), "many"),
        Change(("data", "priorities"), "10: ['.*']"),
    ],
}


def growing() -> ReplicaPoolWorld:
    hosts: list[Object | str] = ["a", "b", *workers("w1", "w2", "w3"), gpu_host("g1")]
    world = ReplicaPoolWorld(scaled_pool(least=1), scaled_pool("gpu", most=3), hosts=hosts, policy=replica_policy())
    world.wait(120)
    for each in (gpu_pod("train"), *(pod(f"p{n}", cpu="6") for n in range(3)), *replica_pods("serve-0")):
        world.put(each)
    world.wait(12)
    return world


def shrinking() -> ReplicaPoolWorld:
    web = replica_set("web", 2, pods=template("web", nodeSelector={"purpose": "worker"}))
    settings = {
        "scale-down-unneeded-time": "5m",
        "scale-down-delay-after-add": "10s",
        "scale-down-delay-after-delete": "0s",
    }
    hosts: list[Object | str] = ["a", "b", *workers("w1", "w2", "w3"), gpu_host("g1")]
    world = ReplicaPoolWorld(
        scaled_pool(replicas=3), scaled_pool("gpu", most=3), web, budget("web", "web", minAvailable=1),
        hosts=hosts, policy=replica_policy(), settings=settings,
    )  # fmt: skip
    for each in (gpu_pod("train"), *replica_pods("serve-0")):
        world.put(each)
    world.wait(150)
    world.delete("Pod", "train")
    for each in replica_pods("serve-0"):
        world.delete("Pod", each["metadata"]["name"])
    world.wait(40)
    return world


@pytest.mark.parametrize("story", [growing, shrinking])
def test_pools_are_scaled_as_recorded_whatever_is_otherwise(story: Callable[[], ReplicaPoolWorld]) -> None:
    decided_as_recorded("autoscaler", story, AUTOSCALER.controllers.load(), cases=60, also=ALSO)
