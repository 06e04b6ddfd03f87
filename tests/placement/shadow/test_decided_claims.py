"""Pods with volumes and devices: judged on their claims as they were before the scheduler decided about them."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.placement.shadow import WATCHED, Agreement, Judgement
from mooring.testing.devices import DRIVER, device_class, resource_claim, resource_slice
from tests.placement.shadow.test_judgements import Stage, verdict

UNBOUND = "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"


class Storage(Stage):
    """Two nodes, all kinds followed, and verbs for claims and volumes."""

    def __init__(self) -> None:
        super().__init__("a", "b")
        for _, kind in WATCHED:
            if kind not in ("Node", "Pod"):
                self.shadow.replace(kind, {})
        self.claims: dict[str, Object] = {}
        self.volumes: dict[str, Object] = {}

    def storage_class(self, mode: str, provisioner: str = "kubernetes.io/no-provisioner") -> None:
        meta = {"name": "local"}
        self.tell("StorageClass", {"metadata": meta, "provisioner": provisioner, "volumeBindingMode": mode})

    def claim(self, name: str = "data", *, volume: str = "", node: str = "") -> None:
        """A claim arrives, is sent to a node, or is bound to a volume."""
        notes = {"volume.kubernetes.io/selected-node": node} if node else {}
        spec: Object = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "local",
        }
        if volume:
            spec["volumeName"] = volume
            notes["pv.kubernetes.io/bind-completed"] = "yes"
        meta = {"name": name, "namespace": "shop", "uid": name, "annotations": notes}
        self.tell("PersistentVolumeClaim", {"metadata": meta, "spec": spec})

    def volume(self, node: str, *, claim: str = "") -> None:
        """A local volume on a node arrives, or is given to a claim."""
        term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
        spec: Object = {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        }
        if claim:
            spec["claimRef"] = {"namespace": "shop", "name": claim, "uid": claim}
        phase = "Bound" if claim else "Available"
        meta = {"name": f"disk-{node}"}
        self.tell("PersistentVolume", {"metadata": meta, "spec": spec, "status": {"phase": phase}})

    def mounting(self, name: str = "db") -> list[Judgement]:
        return self.pod(name, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])


@pytest.fixture
def stage() -> Storage:
    return Storage()


def best(judgement: Judgement) -> set[str]:
    assert judgement.prediction is not None
    return set(judgement.prediction.best)


def test_a_pod_goes_where_there_is_a_volume_for_its_claim(stage: Storage) -> None:
    stage.storage_class("WaitForFirstConsumer")
    stage.volume("b")
    stage.claim()
    stage.mounting()
    (judgement,) = stage.bound("db", "b")
    assert judgement.verdict is Agreement.EXACT


def test_what_was_written_before_the_binding_predicts_nothing(stage: Storage) -> None:
    """Both nodes have a volume. That the claim has the one on a when the pod is seen there is the outcome itself."""
    stage.storage_class("WaitForFirstConsumer")
    stage.volume("a")
    stage.volume("b")
    stage.claim()
    stage.mounting()
    stage.volume("a", claim="data")
    stage.claim(volume="disk-a")
    (judgement,) = stage.bound("db", "a")
    assert judgement.verdict is Agreement.EXACT
    assert best(judgement) == {"a", "b"}


def test_a_volume_that_was_made_for_the_node_is_taken_back_too(stage: Storage) -> None:
    stage.storage_class("WaitForFirstConsumer", "csi.example.com")
    stage.claim()
    stage.mounting()
    stage.claim(node="b")
    stage.volume("b", claim="data")
    stage.claim(volume="disk-b", node="b")
    (judgement,) = stage.bound("db", "b")
    assert best(judgement) == {"a", "b"}
    assert "disk-b" in stage.shadow.world.snapshot.cluster.storage.volumes, "the world is as it was"


def test_a_claim_that_others_bound_stays_bound(stage: Storage) -> None:
    stage.storage_class("Immediate")
    stage.volume("b")
    stage.claim()
    stage.mounting()
    assert verdict(stage.failed("db", UNBOUND)) is Agreement.EXACT
    stage.volume("b", claim="data")
    stage.claim(volume="disk-b")
    (judgement,) = stage.bound("db", "b")
    assert (judgement.verdict, best(judgement)) == (Agreement.EXACT, {"b"})


def test_a_claim_of_an_earlier_pod_stays_with_its_volume(stage: Storage) -> None:
    stage.storage_class("WaitForFirstConsumer")
    stage.volume("a")
    stage.volume("b", claim="data")
    stage.claim(volume="disk-b")
    stage.mounting()
    assert stage.bound("db", "a") == []
    assert verdict(stage.later()) is Agreement.WRONG


def test_a_second_look_leaves_the_claim_undecided(stage: Storage) -> None:
    """Another pod took the room on a before, and its binding was seen after."""
    stage.storage_class("WaitForFirstConsumer")
    stage.volume("a")
    stage.volume("b")
    stage.claim()
    stage.pod("big", cpu=4)
    stage.mounting()
    stage.volume("b", claim="data")
    stage.claim(volume="disk-b")
    stage.node("a", cpu=9)
    assert stage.bound("db", "b") == []
    stage.bound("big", "a")
    assert verdict(stage.later()) is Agreement.NEAR


def test_a_claim_that_came_just_before_its_pod_may_not_be_known_to_the_scheduler_yet(stage: Storage) -> None:
    """Claims and pods come by different watches, in no order."""
    stage.storage_class("WaitForFirstConsumer")
    stage.volume("a")
    stage.claim()
    stage.mounting()
    words = '0/2 nodes are available: persistentvolumeclaim "data" not found. not found'
    assert stage.failed("db", words) == []
    (judgement,) = stage.later()
    assert (judgement.verdict, judgement.why) == (Agreement.NEAR, "with its claims behind")


def test_a_claim_that_is_heard_of_long_after_its_pod_is_brought_forward(stage: Storage) -> None:
    stage.storage_class("WaitForFirstConsumer")
    stage.volume("b")
    stage.mounting()
    assert stage.bound("db", "b") == []
    for number in range(40):
        stage.node("a", cpu=4 + number)
    stage.claim()
    (judgement,) = stage.later()
    assert (judgement.verdict, judgement.why) == (Agreement.NEAR, "with its claims ahead")


def allocated(claim: Object, node: str) -> Object:
    result = {"request": "gpu", "driver": DRIVER, "pool": node, "device": f"gpu-{node}"}
    return {**claim, "status": {"allocation": {"devices": {"results": [result]}, "nodeSelector": _only(node)}}}


def _only(node: str) -> Object:
    return {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}


def test_devices_that_were_allocated_before_the_binding_are_given_back(stage: Storage) -> None:
    claim: Any = resource_claim("mine")
    claim["metadata"] |= {"namespace": "shop", "uid": "mine"}
    stage.tell("DeviceClass", device_class())
    for node in ("a", "b"):
        stage.tell("ResourceSlice", resource_slice(node, f"gpu-{node}"))
    stage.tell("ResourceClaim", claim)
    stage.pod("train", resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}])
    stage.tell("ResourceClaim", allocated(claim, "b"))
    (judgement,) = stage.bound("train", "b")
    assert (judgement.verdict, best(judgement)) == (Agreement.EXACT, {"a", "b"})


def test_without_a_kind_that_decides_the_pod_is_not_evaluated() -> None:
    stage = Storage()
    stage.shadow.world.snapshot.unread_kinds.add("StorageClass")
    stage.claim()
    stage.mounting()
    (judgement,) = stage.bound("db", "a")
    assert (judgement.verdict, judgement.why) == (
        Agreement.SKIPPED,
        "StorageClass local of claim shop/data is not known, as none was read",
    )
