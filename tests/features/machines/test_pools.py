"""Pools of Machines on hosts: they grow and shrink, keep apart, and say what they wait for."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from mooring.testing.hosts import bootstrap_kubeconfig, byo_cluster, byo_host, byo_machine_template, machine_cluster
from mooring.testing.machines import BOOTSTRAP, machine_deployment, machine_set, machine_template
from tests.features.machines.world import PoolWorld, workers

GPU_POOL = machine_deployment("gpu-pool", 1, template=machine_template("gpu-template", labels={"purpose": "gpu"}))
WORKER_POOL = machine_deployment(template=machine_template("worker-template", labels={"purpose": "worker"}))


def test_machines_become_nodes_of_their_pool() -> None:
    world = PoolWorld(WORKER_POOL, hosts=workers("node10", "node12"))
    world.run()
    assert world.nodes_of() == ["node10", "node12"]
    assert {name: node["spec"]["providerID"] for name, node in world.all("Node").items()} == {
        "node10": "byoh://node10",
        "node12": "byoh://node12",
    }
    assert {node["metadata"]["labels"]["purpose"] for node in world.all("Node").values()} == {"worker"}
    status = world.status()
    counts = ("replicas", "readyReplicas", "availableReplicas", "upToDateReplicas")
    assert [status[name] for name in counts] == [2, 2, 2, 2]
    assert (status["phase"], status["selector"]) == ("Running", "cluster.x-k8s.io/cluster-name=my-cluster")
    assert world.get("Cluster", "my-cluster")["status"]["workers"]["readyReplicas"] == 2


def test_a_machine_follows_its_node() -> None:
    world = PoolWorld(machine_deployment(replicas=1), hosts=workers("a"))
    world.run()
    (name,) = world.all("Machine")
    told = world.condition("Machine", name, "NodeReady")
    assert (told["status"], told["reason"]) == ("True", "NodeReady")
    world.annotate("Node", "a", {"mooring.dev/lost": "yes"})
    silent = {"type": "Ready", "status": "Unknown", "message": "it is not heard of"}
    world.patch("Node", "a", {"status": {"conditions": [silent]}}, "status")
    world.run(1)
    told = world.condition("Machine", name, "NodeReady")
    assert (told["status"], told["message"]) == ("False", "Node a is not ready: it is not heard of")


def test_a_pool_tells_how_it_was_scaled() -> None:
    world = PoolWorld(machine_deployment(replicas=1), hosts=workers("a", "b", "c"))
    world.run()
    (name,) = world.all("MachineSet")
    world.change(replicas=3)
    world.run()
    world.change(replicas=2)
    world.run()
    assert set(world.told("SuccessfulScale")) == {
        f"Scaled up MachineSet {name} from 0 to 1",
        f"Scaled up MachineSet {name} from 1 to 3",
        f"Scaled down MachineSet {name} from 3 to 2",
    }


def test_the_three_objects_of_a_machine_have_one_name_and_belong_to_it() -> None:
    world = PoolWorld(machine_deployment(replicas=1), hosts=workers("a"))
    world.run()
    (machine,) = world.all("Machine").values()
    name, uid = machine["metadata"]["name"], machine["metadata"]["uid"]
    for kind, source in (("ByoMachine", "worker-template"), ("BootstrapKubeconfig", BOOTSTRAP)):
        made = world.get(kind, name)
        assert [owner["uid"] for owner in made["metadata"]["ownerReferences"]] == [uid]
        assert made["metadata"]["annotations"]["cluster.x-k8s.io/cloned-from-name"] == source
    assert world.get("BootstrapKubeconfig", name)["spec"]["apiserver"] == "https://127.0.0.1:6443"
    assert machine["spec"]["bootstrap"]["dataSecretName"] == name
    assert machine["spec"]["infrastructureRef"]["name"] == name


def test_a_bootstrap_object_of_the_template_goes_before_that_of_the_pool() -> None:
    given = {"apiGroup": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "BootstrapKubeconfig", "name": "other"}
    world = PoolWorld(
        bootstrap_kubeconfig("other", apiserver="https://other:6443"),
        byo_machine_template("own-template", {"purpose": "worker"}, bootstrapConfigRef=given),
        machine_deployment(replicas=1, template=machine_template("own-template")),
        hosts=workers("a"),
    )
    world.run()
    (machine,) = world.all("Machine")
    assert world.get("BootstrapKubeconfig", machine)["spec"]["apiserver"] == "https://other:6443"


def test_pools_with_equal_selectors_keep_apart_and_are_warned_of() -> None:
    hosts = [*workers("node10", "node12"), byo_host("node11", labels={"purpose": "gpu"}, gpu=1)]
    world = PoolWorld(WORKER_POOL, GPU_POOL, hosts=hosts)
    world.run()
    assert (world.nodes_of("worker-pool"), world.nodes_of("gpu-pool")) == (["node10", "node12"], ["node11"])
    assert [world.status(pool)["replicas"] for pool in ("worker-pool", "gpu-pool")] == [2, 1]
    assert any("worker-pool" in text for text in world.told("EqualSelectors"))
    world.change("gpu-pool", replicas=0)
    world.run()
    assert (world.nodes_of("worker-pool"), world.nodes_of("gpu-pool")) == (["node10", "node12"], [])


def test_an_orphan_is_taken_only_by_the_pool_whose_name_it_carries() -> None:
    hosts = [*workers("node10"), byo_host("node11", labels={"purpose": "gpu"}, gpu=1)]
    world = PoolWorld(machine_deployment(replicas=1), GPU_POOL, hosts=hosts)
    world.run()
    before = {name: each["metadata"]["ownerReferences"] for name, each in world.all("Machine").items()}
    for name in before:
        world.patch("Machine", name, {"metadata": {"ownerReferences": None}})
    world.run()
    after = {name: each["metadata"]["ownerReferences"] for name, each in world.all("Machine").items()}
    assert after == before


def test_a_label_that_drifts_away_makes_no_second_machine() -> None:
    world = PoolWorld(machine_deployment(replicas=1), hosts=workers("a", "b"))
    world.run()
    (name,) = world.all("Machine")
    world.patch("Machine", name, {"metadata": {"labels": {"cluster.x-k8s.io/cluster-name": "elsewhere"}}})
    world.run()
    assert list(world.all("Machine")) == [name]


def test_a_pool_that_finds_no_host_says_so_and_goes_on_when_one_is_labelled() -> None:
    world = PoolWorld(machine_deployment(replicas=2), hosts=[*workers("a"), byo_host("b")])
    world.run()
    assert world.status()["readyReplicas"] == 1
    ready = world.condition("MachineDeployment", "worker-pool", "MachinesReady")
    assert ready["status"] == "False"
    waiting = [name for name, each in world.all("Machine").items() if "nodeRef" not in each["status"]]
    assert world.condition("Machine", waiting[0], "InfrastructureReady")["reason"] == "BYOHostsUnavailable"
    world.patch("ByoHost", "b", {"metadata": {"labels": {"purpose": "worker"}}})
    world.run()
    assert world.nodes_of() == ["a", "b"]


def test_the_phase_of_a_machine_tells_how_far_it_is() -> None:
    world = PoolWorld(machine_deployment(replicas=1), hosts=[byo_host("a")])
    world.run()
    (name,) = world.all("Machine")
    assert world.get("Machine", name)["status"]["phase"] == "Provisioning"
    world.patch("ByoHost", "a", {"metadata": {"labels": {"purpose": "worker"}}})
    world.run()
    assert world.get("Machine", name)["status"]["phase"] == "Running"


MISSING: dict[str, tuple[list[Object], str, str]] = {
    "a Cluster": ([byo_cluster()], "ClusterNotFound", "there is no Cluster my-cluster in namespace default"),
    "a template": (
        [byo_cluster(), machine_cluster(), bootstrap_kubeconfig(BOOTSTRAP)],
        "TemplateNotFound",
        "there is no ByoMachineTemplate worker-template in namespace default",
    ),
    "a bootstrap object": (
        [byo_cluster(), machine_cluster(), byo_machine_template("worker-template")],
        "BootstrapConfigNotFound",
        f"there is no BootstrapKubeconfig {BOOTSTRAP} in namespace default",
    ),
}


@pytest.mark.parametrize("what", MISSING)
def test_what_is_missing_is_named(what: str) -> None:
    there, reason, text = MISSING[what]
    world = PoolWorld(*there, machine_deployment(), machine_set(), surrounded=False)
    world.run()
    for kind, name in (("MachineDeployment", "worker-pool"), ("MachineSet", "set")):
        told = world.condition(kind, name, "ScalingUp")
        assert (told["status"], told["reason"]) == ("True", reason)
        assert text in told["message"]
    assert not world.all("Machine")
    # It goes on when the rest comes.
    names = {(each["kind"], each["metadata"]["name"]) for each in there}
    rest = [byo_cluster(), machine_cluster(), bootstrap_kubeconfig(BOOTSTRAP), byo_machine_template("worker-template")]
    for each in rest:
        if (each["kind"], each["metadata"]["name"]) not in names:
            world.put(each)
    world.run()
    assert len(world.all("Machine")) == 4


def test_a_missing_byocluster_is_named() -> None:
    world = PoolWorld(machine_cluster(), surrounded=False)
    world.run()
    told = world.condition("Cluster", "my-cluster", "InfrastructureReady")
    assert told["reason"] == "InfrastructureNotFound"
    assert "there is no ByoCluster my-cluster in namespace default" in told["message"]


def test_a_kind_that_nobody_serves_is_named() -> None:
    template = machine_template("x", infrastructureRef={"apiGroup": "g.io", "kind": "CloudTemplate", "name": "x"})
    world = PoolWorld(machine_deployment(template=template))
    world.run()
    told = world.condition("MachineDeployment", "worker-pool", "ScalingUp")
    assert told["reason"] == "UnknownReference"
    assert "CloudTemplate.g.io" in told["message"]


@pytest.mark.parametrize("pause", ["Cluster", "pool", "annotation"])
def test_nothing_is_changed_while_somebody_pauses(pause: str) -> None:
    world = PoolWorld(machine_deployment(replicas=1), hosts=workers("a", "b"))
    world.run()
    if pause == "Cluster":
        world.patch("Cluster", "my-cluster", {"spec": {"paused": True}})
    elif pause == "pool":
        world.change(paused=True)
    else:
        world.annotate("MachineDeployment", "worker-pool", {"cluster.x-k8s.io/paused": ""})
    world.change(replicas=2)
    world.run()
    assert world.condition("MachineDeployment", "worker-pool", "Paused")["status"] == "True"
    assert len(world.all("Machine")) == 1
    if pause == "Cluster":
        world.patch("Cluster", "my-cluster", {"spec": {"paused": False}})
    elif pause == "pool":
        world.change(paused=False)
    else:
        world.annotate("MachineDeployment", "worker-pool", {"cluster.x-k8s.io/paused": None})
    world.run()
    assert world.nodes_of() == ["a", "b"]
    assert world.condition("MachineDeployment", "worker-pool", "Paused")["status"] == "False"


def test_a_marked_machine_goes_first_and_its_name_does_not_come_back() -> None:
    world = PoolWorld(machine_deployment(replicas=3), hosts=workers("a", "b", "c"))
    world.run()
    before = sorted(world.all("Machine"))
    world.annotate("Machine", before[1], {"cluster.x-k8s.io/delete-machine": "now"})
    world.change(replicas=2)
    world.run()
    assert sorted(world.all("Machine")) == [before[0], before[2]]
    (machine_set,) = world.all("MachineSet").values()
    assert machine_set["metadata"]["annotations"]["mooring.dev/incarnation"] == "3", "a restart would forget it"
    world.change(replicas=3)
    world.run()
    after = set(world.all("Machine"))
    assert len(after) == 3
    assert before[1] not in after
    assert world.nodes_of() == ["a", "b", "c"]


def test_a_pool_that_is_deleted_gives_its_hosts_back() -> None:
    world = PoolWorld(machine_deployment(), hosts=workers("a", "b"))
    world.run()
    world.delete("MachineDeployment", "worker-pool")
    world.run()
    kinds = ("MachineDeployment", "MachineSet", "Machine", "ByoMachine", "Node")
    assert not [name for kind in kinds for name in world.all(kind)]
    assert list(world.all("BootstrapKubeconfig")) == [BOOTSTRAP]
    assert [each["status"]["phase"] for each in world.all("ByoHost").values()] == ["Available", "Available"]


def test_a_cluster_that_is_deleted_takes_its_pools_along() -> None:
    world = PoolWorld(machine_deployment(), machine_set(replicas=1), hosts=workers("a", "b", "c"))
    world.run()
    world.delete("Cluster", "my-cluster")
    world.run()
    kinds = ("Cluster", "ByoCluster", "MachineDeployment", "MachineSet", "Machine", "ByoMachine", "Node")
    assert not [name for kind in kinds for name in world.all(kind)]
