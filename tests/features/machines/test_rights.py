"""Every right that the controllers of Machines declare is one that they use."""

from __future__ import annotations

from mooring.kube.objects import Object
from mooring.testing.hosts import bootstrap_kubeconfig, byo_machine_template
from mooring.testing.machines import BOOTSTRAP, machine, machine_deployment, machine_set, machine_template
from mooring.testing.rights import recorded_rights
from tests.features.machines.test_crashes import PROVIDER
from tests.features.machines.test_deletion import on_node
from tests.features.machines.world import OWN, PoolWorld, workers

TEMPLATE = {
    "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1",
    "kind": "BootstrapKubeconfigTemplate",
    "metadata": {"name": "t", "namespace": "default"},
    "spec": {"template": {"spec": {"apiserver": "https://127.0.0.1:6443"}}},
}


def from_template() -> Object:
    made = machine_template("worker-template")
    made["spec"]["bootstrap"]["configRef"] |= {"kind": "BootstrapKubeconfigTemplate", "name": "t"}
    return made


def a_node_that_its_provider_leaves_behind() -> None:
    pool = machine_deployment(replicas=1, template=from_template())
    world = PoolWorld(TEMPLATE, pool, controllers=(*OWN, *PROVIDER))
    world.run()
    assert len(world.all("Node")) == 1
    world.delete("MachineDeployment", "worker-pool")
    world.run()
    assert not world.all("Node")


def a_whole_life() -> None:
    """A pool, a set and a Machine by hand, with pods; all of them go with their Cluster."""
    by_hand = byo_machine_template("m", {"purpose": "worker"})
    by_hand = {**by_hand, "kind": "ByoMachine", "spec": by_hand["spec"]["template"]["spec"]}
    by_hand["metadata"]["labels"] = {"cluster.x-k8s.io/cluster-name": "my-cluster"}
    world = PoolWorld(
        TEMPLATE,
        machine_deployment(replicas=1),
        machine_set(replicas=1, template=from_template()),
        by_hand,
        bootstrap_kubeconfig("m"),
        machine("m"),
        hosts=workers("a", "b", "c"),
    )
    world.run()
    assert sorted(world.all("Node")) == ["a", "b", "c"]
    pool = next(name for name, each in world.all("Machine").items() if name.startswith("worker-pool"))
    world.put(on_node("web-0", world.get("Machine", pool)["status"]["nodeRef"]["name"]))
    world.run(5)
    world.upgrade()
    world.run()
    world.change(replicas=0)
    world.run()
    world.delete("Cluster", "my-cluster")
    world.wait(60)
    assert not world.all("Machine")
    assert list(world.all("BootstrapKubeconfig")) == [BOOTSTRAP]


def test_every_declared_right_of_machines_is_used() -> None:
    with recorded_rights() as used:
        a_whole_life()
        a_node_that_its_provider_leaves_behind()
    assert used.unused(OWN) == {}
