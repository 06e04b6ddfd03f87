"""With whole definitions, defaults, rules and both versions: a pool is one object, whichever version wrote it."""

from __future__ import annotations

from pathlib import Path
from string import Template

import pytest
import yaml

from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.kube.status import ApiError
from mooring.runtime.drivers.simulation import START
from mooring.runtime.webhooks.direct import install
from mooring.testing.machines import BOOTSTRAP, machine_deployment, machine_set, machine_template
from tests.features.hosts.world import DEFINITIONS, new_registry
from tests.features.machines.world import HOSTS_VERSION, PoolWorld, workers

OLD = "cluster.x-k8s.io/v1beta1"


def old_pool() -> Object:
    """A pool as v1beta1 writes it."""
    reference = {"apiVersion": HOSTS_VERSION, "kind": "BootstrapKubeconfig", "name": BOOTSTRAP, "namespace": "default"}
    machine = {
        "clusterName": "my-cluster",
        "version": "1.34.1",
        "bootstrap": {"configRef": reference},
        "infrastructureRef": {"apiVersion": HOSTS_VERSION, "kind": "ByoMachineTemplate", "name": "worker-template"},
        "nodeDrainTimeout": "10m",
    }
    spec = {
        "clusterName": "my-cluster",
        "replicas": 1,
        "selector": {},
        "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        "progressDeadlineSeconds": 600,
        "template": {"spec": machine},
    }
    metadata = {"name": "worker-pool", "namespace": "default"}
    return {"apiVersion": OLD, "kind": "MachineDeployment", "metadata": metadata, "spec": spec}


@pytest.fixture
def world() -> PoolWorld:
    registry = new_registry(0, DEFINITIONS)
    install(registry, (), clock=lambda: START, conversions=CATALOG.conversions())
    return PoolWorld(hosts=workers("a", "b"), registry=registry)


def test_a_pool_of_the_old_version_becomes_nodes_and_keeps_what_only_it_can_say(world: PoolWorld) -> None:
    world.put(old_pool())
    world.run()
    assert len(world.nodes_of()) == 1
    stored = world.get("MachineDeployment", "worker-pool")
    assert stored["spec"]["template"]["spec"]["deletion"] == {"nodeDrainTimeoutSeconds": 600}
    assert stored["spec"]["rollout"]["strategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    shown = world.registry.find(OLD, "MachineDeployment", "default", "worker-pool")
    assert shown is not None
    assert shown["spec"]["progressDeadlineSeconds"] == 600
    assert shown["spec"]["template"]["spec"]["bootstrap"]["configRef"]["namespace"] == "default"
    assert (shown["status"]["updatedReplicas"], shown["status"]["phase"]) == (1, "Running")
    ready = next(each for each in shown["status"]["v1beta2"]["conditions"] if each["type"] == "MachinesReady")
    assert ready["status"] == "True"


def test_whole_definitions_hold_all_that_controllers_say(world: PoolWorld) -> None:
    taint = {"key": "team", "value": "a", "effect": "NoSchedule", "propagation": "Always"}
    template = machine_template("worker-template", labels={"tier": "one"}, taints=[taint])
    world.put(machine_deployment(replicas=1, surge=0, unavailable=1, template=template))
    world.put(machine_set(replicas=1))
    world.run()
    assert sorted(world.all("Node")) == ["a", "b"]
    world.upgrade()
    world.change(template={"metadata": {"labels": {"tier": None}}, "spec": {"taints": None}})
    world.run()
    assert sorted(world.versions().values()) == ["v1.34.1", "v1.35.0"]
    assert not [name for name, node in world.all("Node").items() if "tier" in node["metadata"]["labels"]]
    for kind, name in (("MachineDeployment", "worker-pool"), ("MachineSet", "set")):
        assert world.condition(kind, name, "MachinesReady")["status"] == "True"
        assert world.condition(kind, name, "MachinesUpToDate")["status"] == "True"
        assert world.status(name, kind)["upToDateReplicas"] == 1
    world.delete("Cluster", "my-cluster")
    world.run()
    assert not world.all("Machine")


def test_applying_a_pool_again_as_it_was_written_changes_nothing(world: PoolWorld) -> None:
    template = machine_template("worker-template")
    template["spec"]["infrastructureRef"]["apiGroup"] += "/v1beta1"
    world.put(machine_deployment(replicas=1, template=template))
    world.run()
    before = world.get("MachineDeployment", "worker-pool")["metadata"]
    world.change(template=template)
    after = world.get("MachineDeployment", "worker-pool")["metadata"]
    assert (after["generation"], after["resourceVersion"]) == (before["generation"], before["resourceVersion"])


def test_what_webhooks_refuse_is_refused_in_the_old_version_too(world: PoolWorld) -> None:
    pool = old_pool()
    pool["spec"]["template"]["spec"]["version"] = "latest"
    with pytest.raises(ApiError, match=r"spec\.template\.spec\.version"):
        world.put(pool)


MANIFESTS = sorted((Path(__file__).parents[4] / "shared/upstream/manifests/byoh").glob("*.yaml"))
FILLED = {
    "CLUSTER_NAME": "my-cluster",
    "NAMESPACE": "default",
    "WORKER_MACHINE_COUNT": "2",
    "KUBERNETES_VERSION": "v1.24.0",
}


@pytest.mark.skipif(not MANIFESTS, reason="upstream's manifests are not here")
@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name.split("__")[-2])
def test_manifests_of_upstream_apply_and_what_they_lack_is_named(world: PoolWorld, path: Path) -> None:
    text = Template(path.read_text(encoding="utf-8")).substitute(FILLED)
    for obj in yaml.safe_load_all(text):
        # Nobody serves kubeadm's kinds here.
        if obj is not None and obj["kind"] != "KubeadmConfigTemplate":
            world.put({**obj, "metadata": {**obj["metadata"], "namespace": "default"}})
    world.run()
    told = world.condition("MachineDeployment", "my-cluster-md-0", "ScalingUp")
    assert told["reason"] == "UnknownReference"
    assert "KubeadmConfigTemplate.bootstrap.cluster.x-k8s.io" in told["message"]
    assert world.get("MachineDeployment", "my-cluster-md-0")["spec"]["selector"]["matchLabels"] == {
        "cluster.x-k8s.io/cluster-name": "my-cluster",
        "cluster.x-k8s.io/deployment-name": "my-cluster-md-0",
    }
