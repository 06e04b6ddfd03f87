"""Volumes and RuntimeClasses in explain and plan: what lands, what cannot, and what may."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mooring.cli.main import cli
from mooring.kube.objects import Object
from mooring.testing.groups import leader_worker_set
from tests.builtin.volumes.objects import claim, local_volume, storage_class
from tests.cli.world import World, requests

ZONAL = {"topology.kubernetes.io/zone": "a"}
EVERYTHING_READ: Object = {
    "apiVersion": "mooring.dev/v1",
    "kind": "SnapshotContents",
    "metadata": {"name": "contents"},
    "kinds": [
        "CSIDriver",
        "CSINode",
        "CSIStorageCapacity",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "RuntimeClass",
        "StorageClass",
        "VolumeAttachment",
    ],
}


@pytest.fixture
def read(world: World) -> World:
    """Two nodes in two zones, of which all storage was read."""
    return world.node("a", zone="a").node("b", zone="b").add(EVERYTHING_READ)


def mounting(world: World, *claims: str, **spec: Any) -> Object:
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    return world.pod("web", volumes=volumes, **spec)


def bound(name: str, volume: str, class_name: str = "fast") -> Object:
    made = claim(name, class_name)
    made["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    made["spec"]["volumeName"] = volume
    made["status"] = {"phase": "Bound"}
    return made


def plan(world: World, *objects: Object) -> Result:
    for number, obj in enumerate(objects):
        (world.folder / f"{number}.json").write_text(json.dumps(obj))
    (world.folder / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": world.objects}))
    files = [part for number in range(len(objects)) for part in ("-f", f"{number}.json")]
    return CliRunner().invoke(cli, ["plan", *files, "--snapshot", "cluster.json"])


def test_a_pod_goes_where_its_volume_is(read: World) -> None:
    read.add(bound("data", "disk"), local_volume("disk", "b", "fast"))
    result = read.explain(mounting(read, "data"))
    assert result.exit_code == 0
    assert "default/web would be scheduled on b, the only node that fits" in result.stdout
    cause = "PersistentVolume disk of claim data is reached from kubernetes.io/hostname=b only"
    assert cause in result.stdout


def test_the_pods_of_a_group_go_where_volumes_for_their_claims_are(read: World) -> None:
    free = {"status": {"phase": "Available"}}
    disks = [{**local_volume(f"disk-{number}", "b", "local"), **free} for number in range(2)]
    read.add(storage_class("local", "kubernetes.io/no-provisioner"), *disks)
    template = {"volumeClaimTemplates": [claim("data", "local")]}
    result = read.explain(leader_worker_set(replicas=1, size=2, template=template))
    assert result.exit_code == 0
    assert "default/serve-0    b" in result.stdout
    assert "default/serve-0-1  b" in result.stdout
    assert read.explain(leader_worker_set(replicas=2, size=2, template=template)).exit_code == 2


def test_a_claim_that_is_missing_from_a_cluster_that_was_read_is_no_doubt(read: World) -> None:
    result = read.explain(mounting(read, "data"))
    assert result.exit_code == 2
    assert 'cannot be placed on any node: persistentvolumeclaim "data" not found' in result.stdout


def test_a_pod_is_told_that_the_class_of_its_claim_is_missing_and_which_there_are(read: World) -> None:
    read.add(storage_class("fast"))
    asked = (claim("data", "fast-ssd"), mounting(read, "data"))
    said = "Claim data asks for StorageClass fast-ssd, which does not exist; there is fast."
    assert f"What it waits for\n  {said}\n" in read.explain(*asked).stdout
    assert read.answer(*asked)["waitsFor"] == [said]


def test_a_claim_of_the_same_file_counts_as_made(read: World) -> None:
    read.add(storage_class("fast"))
    result = read.explain(claim("data", "fast"), mounting(read, "data"))
    assert result.exit_code == 0


def test_a_claim_that_is_bound_when_it_is_made_leaves_open_where(read: World) -> None:
    read.add(storage_class("fast", mode="Immediate"))
    result = read.explain(claim("data", "fast"), mounting(read, "data"))
    assert result.exit_code == 3
    what = "which volume claim default/data is given, and so which nodes reach it, is not known"
    assert f"Not known: {what}: StorageClass fast binds it when it is made." in result.stdout


def test_a_class_that_was_not_read_is_named_and_the_rest_is_judged(world: World) -> None:
    world.node("a")
    asked = (claim("data", "fast"), mounting(world, "data", resources=requests(cpu=1)))
    may = world.explain(*asked, "-o", "json")
    assert may.exit_code == 3
    found = json.loads(may.stdout)
    assert (found["lands"], found["mayLand"], found["node"]) == (False, True, "a")
    assert "StorageClass fast of claim default/data is not known, as none was read" in found["notKnown"]
    big = mounting(world, "data", resources=requests(cpu=99))
    assert world.explain(claim("data", "fast"), big).exit_code == 2


def test_a_stateful_set_brings_its_claims(read: World) -> None:
    disk = {**local_volume("disk", "b", "local"), "status": {"phase": "Available"}}
    read.add(storage_class("local", "kubernetes.io/no-provisioner"), disk)
    template = {"metadata": {"name": "data"}, "spec": claim("x", "local")["spec"]}
    sts = read.workload("StatefulSet", "db", requests(cpu=1), replicas=2, volumeClaimTemplates=[template])
    result = read.explain(sts)
    assert result.exit_code == 2
    assert "StatefulSet default/db: 1 of 2 pods would be scheduled" in result.stdout
    assert "no free PersistentVolume of class local suits claim data-db-1, and none is made here" in result.stdout


def test_what_is_proposed_is_tried_with_the_volumes(read: World) -> None:
    """Without its selector the pod would fit on b, where its volume is; no other change helps."""
    read.add(bound("data", "disk"), local_volume("disk", "b", "fast"))
    pod = mounting(read, "data", nodeSelector={"topology.kubernetes.io/zone": "a"})
    found = json.loads(read.explain(pod, "-o", "json").stdout)
    assert found["lands"] is False
    assert found["advice"]
    assert {name for advice in found["advice"] for name in advice["nodes"]} == {"b"}


def test_a_runtime_class_adds_what_it_adds_and_refuses_what_it_refuses(read: World) -> None:
    kata = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
        "overhead": {"podFixed": {"cpu": "14"}},
        "scheduling": {"nodeSelector": {"topology.kubernetes.io/zone": "b"}},
    }
    read.add(kata)
    small = read.explain(read.pod("web", resources=requests(cpu=1), runtimeClassName="kata"))
    assert "default/web would be scheduled on b" in small.stdout
    assert read.explain(read.pod("web", resources=requests(cpu=3), runtimeClassName="kata")).exit_code == 2
    unknown = read.explain(read.pod("web", runtimeClassName="gvisor"))
    assert unknown.exit_code == 2
    assert 'pod rejected: RuntimeClass "gvisor" not found' in unknown.stdout


def test_a_runtime_class_that_was_not_read_leaves_it_open(world: World) -> None:
    result = world.node("a").explain(world.pod("web", runtimeClassName="kata"))
    assert result.exit_code == 3
    assert "what RuntimeClass kata adds to the pod is not known" in result.stdout


def test_a_plan_waits_for_volumes_and_says_what_it_could_not_know(read: World, world: World) -> None:
    read.add(storage_class("fast"))
    template = {"metadata": {"name": "data"}, "spec": claim("x", "fast")["spec"]}
    sts = read.workload("StatefulSet", "db", requests(cpu=1), replicas=2, volumeClaimTemplates=[template])
    lands = plan(read, sts)
    assert (lands.exit_code, lands.stdout.splitlines()[0][:24]) == (0, "2 of 2 pods scheduled; s")
    world.objects.remove(EVERYTHING_READ)
    world.objects.pop()
    may = plan(world, sts, world.pod("sandboxed", runtimeClassName="kata"))
    assert may.exit_code == 3
    assert may.stdout.startswith("3 of 3 pods scheduled, as far as is known; settled")
    assert "Not known: StorageClass fast of claim default/data-db-0 is not known, as none was read." in may.stdout
    assert "Not known: what RuntimeClass kata adds to pods is not known, as no RuntimeClass was read." in may.stdout


def test_a_plan_leaves_a_pod_pending_whose_volume_is_nowhere(read: World) -> None:
    read.add(storage_class("local", "kubernetes.io/no-provisioner"))
    result = plan(read, claim("data", "local"), mounting(read, "data"))
    assert result.exit_code == 2
    assert "2 node(s) didn't find available persistent volumes to bind" in result.stdout


def test_replicas_that_share_a_claim_are_promised_the_one_node_of_its_volume(read: World) -> None:
    """Each node has a disk and room for one: the first replica takes a disk, and the other has to follow it."""
    read.objects = [obj for obj in read.objects if obj["kind"] != "Node"]
    for name in ("a", "b"):
        read.node(name, taint="team=ml:NoSchedule")
        read.add({**local_volume(f"disk-{name}", name, "local"), "status": {"phase": "Available"}})
    read.add(storage_class("local", "kubernetes.io/no-provisioner"), claim("data", "local"))
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    web = read.workload("Deployment", "web", requests(cpu=12), replicas=2, pod={"volumes": volumes})
    result = read.explain(web)
    assert "Tolerate taint team=ml:NoSchedule -> a and b: 1 of 2 pods land" in result.stdout
    assert "Tolerate taint team=ml:NoSchedule, and lower cpu of container main from 12 to 4" in result.stdout
