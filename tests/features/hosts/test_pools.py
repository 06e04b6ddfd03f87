"""What a template says of the Nodes of its pool, and when a ByoCluster is ready and may go."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from mooring.testing.hosts import byo_cluster, byo_host, byo_machine_template, put_machine
from tests.features.hosts.world import HostWorld, labelled


def template_status(world: HostWorld) -> Object:
    found: Object = world.get("ByoMachineTemplate", "t")["status"]
    return found


def test_a_pool_without_nodes_has_the_capacity_of_its_smallest_host() -> None:
    small = labelled("small", "gpu", cpu="16", memory="64Gi", gpu=1)
    world = HostWorld(labelled("large", "gpu", cpu="64", gpu=8), small, labelled("tiny", "worker", cpu="1"))
    world.put(byo_machine_template("t", {"purpose": "gpu"}))
    world.run()
    status = template_status(world)
    assert status["capacity"] == {"cpu": "16", "memory": "64Gi", "nvidia.com/gpu": "1"}
    assert status["nodeInfo"] == {"architecture": "amd64", "operatingSystem": "linux"}
    assert world.condition("ByoMachineTemplate", "t", "Ready")["reason"] == "HostsMatch"


def test_what_a_template_says_itself_counts_more() -> None:
    world = HostWorld(labelled("a", "gpu", gpu=1))
    made = byo_machine_template("t", {"purpose": "gpu"})
    made["spec"]["capacity"] = {"cpu": "4", "maxPods": "50", "gpuType": "nvidia.com/gpu", "gpuCount": "2"}
    world.put(made)
    world.run()
    wanted = {"cpu": "4", "memory": "32Gi", "pods": "50", "nvidia.com/gpu": "2"}
    assert template_status(world)["capacity"] == wanted


def test_a_resource_that_no_host_has_any_more_goes() -> None:
    world = HostWorld(labelled("a", "gpu", gpu=1))
    world.put(byo_machine_template("t", {"purpose": "gpu"}))
    world.run()
    world.patch("ByoHost", "a", {"spec": {"capacity": {"nvidia.com/gpu": None}}})
    world.run()
    assert template_status(world)["capacity"] == {"cpu": "8", "memory": "32Gi"}


@pytest.mark.parametrize(
    ("selector", "required", "part"),
    [
        ({"purpose": "gqu"}, {}, "no ByoHost matches purpose=gqu; the nearest label is purpose=gpu on a"),
        ({"purpose": "gpu"}, {"cpu": "128"}, "no host that matches has cpu=128: a have less"),
    ],
)
def test_a_template_that_no_host_matches_says_why(
    selector: dict[str, str], required: dict[str, str], part: str
) -> None:
    world = HostWorld(labelled("a", "gpu"))
    world.put(byo_machine_template("t", selector, capacityRequirements=required))
    world.run()
    told = world.condition("ByoMachineTemplate", "t", "Ready")
    assert (told["status"], told["reason"]) == ("False", "NoHostMatches")
    assert part in told["message"]


def test_a_byocluster_is_ready_with_its_cluster_and_goes_after_its_machines() -> None:
    world = HostWorld(byo_host("a"))
    put_machine(world.simulation, "m")
    world.run()
    assert world.get("ByoCluster", "my-cluster")["status"]["ready"]
    world.delete("ByoCluster", "my-cluster")
    world.run()
    told = world.condition("ByoCluster", "my-cluster", "Ready")
    assert told["reason"] == "WaitingForByoMachines"
    assert "1 ByoMachines of Cluster my-cluster are still there" in told["message"]
    world.delete("ByoMachine", "m")
    world.run()
    assert world.find("ByoCluster", "my-cluster") is None


def test_a_byocluster_that_no_cluster_has_says_so_and_a_port_is_filled_in() -> None:
    world = HostWorld()
    world.put(byo_cluster("lonely", controlPlaneEndpoint={"host": "10.0.0.1", "port": 0}))
    world.run()
    assert world.condition("ByoCluster", "lonely", "Ready")["reason"] == "ClusterNotFound"
    world.patch("Cluster", "my-cluster", {"spec": {"infrastructureRef": {"name": "lonely"}}})
    world.patch("ByoCluster", "lonely", {"metadata": {"labels": {"cluster.x-k8s.io/cluster-name": "my-cluster"}}})
    world.run()
    lonely = world.get("ByoCluster", "lonely")
    assert lonely["status"]["ready"]
    assert lonely["spec"]["controlPlaneEndpoint"]["port"] == 6443


def test_a_byocluster_without_an_address_is_the_cluster_that_it_is_in() -> None:
    world = HostWorld()
    world.patch("ByoCluster", "my-cluster", {"spec": {"controlPlaneEndpoint": None}})
    world.run()
    assert "controlPlaneEndpoint" not in world.get("ByoCluster", "my-cluster")["spec"]
    info = {"namespace": "kube-public", "name": "cluster-info"}
    text = "clusters:\n- cluster:\n    server: https://10.0.0.1:7443\n"
    world.put({"apiVersion": "v1", "kind": "ConfigMap", "metadata": info, "data": {"kubeconfig": text}})
    world.run()
    assert world.get("ByoCluster", "my-cluster")["spec"]["controlPlaneEndpoint"] == {"host": "10.0.0.1", "port": 7443}
