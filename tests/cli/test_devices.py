"""What `explain`, `plan` and `snapshot` make of claims to devices: who lands, who waits, and what is not known."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result

from mooring.cli.main import cli
from mooring.kube.objects import Object
from mooring.manifests import read_manifests
from mooring.testing.devices import device_class, resource_claim, resource_claim_template, resource_slice
from mooring.testing.groups import leader_worker_set
from tests.cli.live import Live
from tests.cli.world import World

CLAIMING = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]}


@pytest.fixture
def devices(world: World) -> World:
    """Two nodes, of which one has a device, and a claim that nobody uses."""
    world.node("plain").node("fast").add(device_class(), resource_slice("fast", "gpu-0"))
    return world.add(_at_home(resource_claim_template()), _at_home(resource_claim("idle")))


def _at_home(obj: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "namespace": "default"}}


def serving(world: World, replicas: int) -> Object:
    return world.workload("Deployment", "llm", replicas=replicas, pod=CLAIMING)


def plan(world: World, *objects: Object) -> Result:
    return CliRunner().invoke(cli, ["plan", "-f", world.manifest(*objects), "--snapshot", world.snapshot()])


def test_a_pod_lands_where_the_device_is(devices: World) -> None:
    result = devices.explain(serving(devices, 1))

    assert result.exit_code == 0
    assert "would be scheduled on fast, the only node that fits" in result.stdout


def test_the_next_pod_is_told_what_is_there_and_what_is_taken(devices: World) -> None:
    result = devices.explain(serving(devices, 2))

    assert result.exit_code == 2
    assert "Deployment default/llm: 1 of 2 pods would be scheduled" in result.stdout
    lacking = "claim llm-2-gpu, request gpu: 1 device of class gpu"
    assert f"DynamicResources   {lacking}; none here matches" in result.stdout
    assert f"DynamicResources   {lacking}; of 1 here that match, none are free" in result.stdout


def test_a_template_that_asks_for_more_than_a_node_has_is_named_with_what_it_has(devices: World) -> None:
    (template,) = (obj for obj in devices.objects if obj["kind"] == "ResourceClaimTemplate")
    template["spec"] = {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}}
    template["spec"]["spec"]["devices"]["requests"][0]["exactly"] |= {"allocationMode": "ExactCount", "count": 4}
    result = devices.explain(serving(devices, 1))

    assert result.exit_code == 2
    assert "Lower count of request gpu in ResourceClaimTemplate one-gpu from 4 to 1 -> fast" in result.stdout


def test_the_pods_of_a_group_have_claims_of_their_own(devices: World) -> None:
    result = devices.explain(leader_worker_set(replicas=1, size=2, pod=CLAIMING))

    assert result.exit_code == 2
    assert "LeaderWorkerSet default/serve: 0 of 1 group would be scheduled, 1 of 2 pods" in result.stdout
    assert "claim serve-0-1-gpu, request gpu: 1 device of class gpu" in result.stdout


def test_a_plan_gives_each_pod_its_device(devices: World) -> None:
    landed, waiting = plan(devices, serving(devices, 1)), plan(devices, serving(devices, 2))

    assert landed.exit_code == 0
    assert "Running" in landed.stdout
    assert waiting.exit_code == 2
    assert "2 cannot allocate all claims" in waiting.stdout


@pytest.mark.parametrize(
    ("unread", "reason"),
    [
        (
            "ResourceSlice",
            "which devices nodes have for claim default/llm-1-gpu is not known, as no ResourceSlice was read",
        ),
        ("ResourceClaimTemplate", "ResourceClaimTemplate default/one-gpu is not known, as none was read"),
        ("DeviceClass", "DeviceClass gpu is not known, as none was read"),
        ("ResourceClaim", "which devices are taken is not known, as no ResourceClaim was read"),
    ],
)
def test_a_pod_may_land_where_devices_were_not_read(devices: World, unread: str, reason: str) -> None:
    devices.objects = [obj for obj in devices.objects if obj["kind"] != unread]
    explained, planned = devices.explain(serving(devices, 1)), plan(devices, serving(devices, 1))

    assert explained.exit_code == planned.exit_code == 3
    assert f"Not known: {reason}." in explained.stdout
    assert "Not known: " in planned.stdout


def test_a_snapshot_holds_devices_and_says_that_all_of_them_are_there(town: Live) -> None:
    secret = {"opaque": {"driver": "gpu.example.com", "parameters": {"key": "hush"}}}
    offered = device_class()
    offered["spec"]["config"] = [secret]
    town.cluster.add(offered, _at_home(resource_claim_template()), resource_slice("gpu-1", "gpu-0"))
    town.run("snapshot", "-o", "cluster.yaml")
    text = (town.world.folder / "cluster.yaml").read_text()

    kinds = {document.value["kind"] for document in read_manifests("cluster.yaml")}
    assert {"DeviceClass", "ResourceClaimTemplate", "ResourceSlice"} <= kinds
    assert "hush" not in text
    found = town.world.explain(serving(town.world, 1), "--snapshot", "cluster.yaml")
    assert found.exit_code in (0, 2)
    assert "Not known" not in found.stdout
