"""Claims find a volume at once."""

from __future__ import annotations

from mooring.builtin.apps.statefulset import controller as statefulset
from mooring.builtin.volumes.claims import CONTROLLER as CLAIMS
from mooring.kube.objects import Object
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing.crashes import survives_every_crash
from mooring.testing.simulations import checked_simulation
from tests.builtin.volumes.objects import claim, local_volume


def stateful_set() -> Object:
    claimed = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}},
    }
    container = {"name": "c", "image": "x", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [container]}}
    spec = {
        "replicas": 2,
        "serviceName": "db",
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {"app": "db"}},
        "volumeClaimTemplates": [claimed],
        "template": template,
    }
    return {"metadata": {"name": "db", "namespace": "default"}, "spec": spec}


def populate(simulation: Simulation) -> None:
    registry = simulation.registry
    registry.create(registry.resource("apps/v1", "StatefulSet"), stateful_set(), now=simulation.now)


def test_the_claims_of_a_statefulset_are_bound_with_all_they_ask_for() -> None:
    simulation = checked_simulation([statefulset.CONTROLLER, CLAIMS])
    populate(simulation)
    simulation.run()
    registry = simulation.registry
    found = registry.list(registry.resource("v1", "PersistentVolumeClaim")).items
    assert [obj["metadata"]["name"] for obj in found] == ["data-db-0", "data-db-1"]
    for obj in found:
        assert obj["spec"]["volumeName"] == f"pvc-{obj['metadata']['uid']}"
        assert obj["status"]["phase"] == "Bound"
        assert obj["status"]["capacity"] == {"storage": "5Gi"}


def test_a_crash_at_any_write_ends_the_same() -> None:
    assert survives_every_crash([statefulset.CONTROLLER, CLAIMS], populate) > 6


def test_a_volume_of_an_earlier_claim_of_the_same_name_is_not_given_to_the_next() -> None:
    simulation = checked_simulation([CLAIMS])
    registry = simulation.registry
    kept = local_volume("kept", "a", "", size="10Gi")
    kept["spec"]["claimRef"] = {"namespace": "default", "name": "data", "uid": "the one before"}
    registry.create(registry.resource("v1", "PersistentVolume"), kept, now=simulation.now)
    registry.create(registry.resource("v1", "PersistentVolumeClaim"), claim("data"), now=simulation.now)
    simulation.run()
    found = registry.get(registry.resource("v1", "PersistentVolumeClaim"), "default", "data")
    assert found["spec"]["volumeName"] == f"pvc-{found['metadata']['uid']}"
