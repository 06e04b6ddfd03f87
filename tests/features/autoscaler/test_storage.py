"""Pods with claims: no pool grows for one whose volume is elsewhere, or whose claim no new node would help."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.storage.views import PersistentVolume, StorageClass
from mooring.features.autoscaler.cluster_state.memory import Memory
from mooring.features.autoscaler.observation import ClusterObjects, look
from mooring.features.autoscaler.scale_up.orchestrator import scale_up
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.snapshot import HOSTNAME, AutoscalerSnapshot
from mooring.features.autoscaler.views import AutoscalerPod
from tests.features.autoscaler.clusters import NOON, aged_pod, cluster, nodes_of, pool

ZONE = "topology.kubernetes.io/zone"
GROUPS = [pool("a", labels={ZONE: "a"}, most=3), pool("b", labels={ZONE: "b"}, most=3)]


def storage_class(mode: str = "WaitForFirstConsumer", provisioner: str = "csi.example.com") -> msgspec.Struct:
    body = {"metadata": {"name": "disks"}, "provisioner": provisioner, "volumeBindingMode": mode}
    return msgspec.convert(body, StorageClass)


def claim(name: str, volume: str = "") -> msgspec.Struct:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "disks",
        "volumeName": volume,
    }
    notes = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    meta = {"name": name, "namespace": "default", "uid": name, "annotations": notes}
    return msgspec.convert({"metadata": meta, "spec": spec}, PersistentVolumeClaim)


def volume(name: str, *, key: str = ZONE, value: str, of: str = "") -> msgspec.Struct:
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
    spec: dict[str, Any] = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "disks",
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }
    if of:
        spec["claimRef"] = {"namespace": "default", "name": of, "uid": of}
    status = {"phase": "Bound" if of else "Available"}
    return msgspec.convert({"metadata": {"name": name}, "spec": spec, "status": status}, PersistentVolume)


def mounting(name: str, of: str = "data", **facts: Any) -> AutoscalerPod:
    return aged_pod(name, cpu="7", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": of}}], **facts)


def with_storage(objects: ClusterObjects, *storage: msgspec.Struct) -> ClusterObjects:
    return msgspec.structs.replace(objects, storage=storage)


def grown(*storage: msgspec.Struct, pods: int = 1) -> list[str]:
    """The pools that grow for pods of one claim each."""
    pending = [mounting(f"db-{i}", "data" if pods == 1 else f"data-{i}") for i in range(pods)]
    found = look(with_storage(cluster(GROUPS), *storage), Memory(), NOON, AutoscalerSettings())
    return [str(each) for each in scale_up(found, pending).plan]


def test_the_pool_grows_from_which_the_volume_is_reached() -> None:
    found = grown(storage_class(), claim("data", "disk"), volume("disk", value="b", of="data"))
    assert found == ["{b 0->1 (max: 3)}"]


@pytest.mark.parametrize(
    "storage",
    [
        pytest.param((), id="a claim that is not there"),
        pytest.param((storage_class("Immediate"), claim("data")), id="a claim that waits to be bound"),
        pytest.param(
            (
                storage_class(),
                claim("data", "disk"),
                volume("disk", key="kubernetes.io/hostname", value="n1", of="data"),
            ),
            id="a volume on a node that is there already",
        ),
        pytest.param(
            (storage_class(provisioner="kubernetes.io/no-provisioner"), claim("data")), id="no volume for the claim"
        ),
    ],
)
def test_no_pool_grows_where_a_node_would_not_help(storage: tuple[msgspec.Struct, ...]) -> None:
    assert grown(*storage) == []


def test_a_pool_grows_for_a_claim_whose_volume_is_made_where_the_pod_goes() -> None:
    assert grown(storage_class(), claim("data")) != []


def test_a_volume_is_given_to_one_of_two_pods() -> None:
    """Each pod fills a node. With one volume for both, one node is all that helps."""
    claims = [storage_class(provisioner="kubernetes.io/no-provisioner"), claim("data-0"), claim("data-1")]
    disks = [volume("disk-0", value="b"), volume("disk-1", value="b")]
    assert grown(*claims, *disks[:1], pods=2) == ["{b 0->1 (max: 3)}"]
    assert grown(*claims, *disks, pods=2) == ["{b 0->2 (max: 3)}"]


def test_what_is_tried_with_volumes_leaves_no_trace() -> None:
    storage = [storage_class(provisioner="kubernetes.io/no-provisioner"), claim("data"), volume("disk", value="b")]
    snapshot = AutoscalerSnapshot(nodes_of(pool("b", 1), labels={ZONE: "b"}), [], storage=storage)
    before = snapshot.cluster.storage.facts()
    with snapshot.fork():
        assert snapshot.schedule_anywhere(snapshot.compile(mounting("db"))) >= 0
        assert snapshot.cluster.storage.facts() != before
    assert snapshot.cluster.storage.facts() == before


def test_a_pod_is_not_moved_off_its_volume() -> None:
    storage = [storage_class(), claim("data", "disk"), volume("disk", key=HOSTNAME, value="b-0", of="data")]
    bound = [mounting("db", node="b-0"), aged_pod("web", cpu="1", node="b-0")]
    snapshot = AutoscalerSnapshot(nodes_of(pool("b", 2)), bound, storage=storage)
    others = snapshot.cluster.valid.copy()
    others[snapshot.cluster.slots["b-0"]] = False
    moved = {}
    with snapshot.fork():
        for info in snapshot.infos_on("b-0"):
            snapshot.unbind(info)
            moved[info.name] = snapshot.schedule_anywhere(info, others) >= 0
    assert moved == {"db": False, "web": True}
    assert {info.name for info in snapshot.infos_on("b-0")} == {"db", "web"}


def test_devices_of_new_nodes_are_not_known_so_pods_are_tried_without_their_resource_claims() -> None:
    pod = aged_pod("train", cpu="1", resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}])
    found = look(with_storage(cluster(GROUPS)), Memory(), NOON, AutoscalerSettings())
    assert scale_up(found, [pod]).plan
