"""Pods whose claims wait for them, claims that wait for their class, and volumes that are given to one claim."""

from __future__ import annotations

from mooring.nodes.storage.default_class import default_class
from mooring.testing import node, pod
from tests.builtin.volumes.objects import claim, local_volume, mounting, reserved, storage_class, with_scratch
from tests.builtin.volumes.town import SELECTED, claim_of, found, phases, storage_town, volume_of, why


def test_a_pod_waits_for_its_claim_and_lands_when_it_comes() -> None:
    place = storage_town(default_class(), node("a"), mounting("p", "data"))
    assert why(place, "p").startswith('0/1 nodes are available: persistentvolumeclaim "data" not found.')
    place.create(claim("data"))
    place.run()
    assert place.placed() == {"p": "a"}
    assert claim_of(place)["status"]["phase"] == volume_of(place)["status"]["phase"] == "Bound"


def test_a_claim_of_a_class_that_is_not_there_waits_and_so_does_its_pod() -> None:
    place = storage_town(node("a"), claim("data", "fast"), mounting("p", "data"))
    assert not place.placed()
    assert why(place, "p").startswith("0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.")
    assert "volumeName" not in claim_of(place)["spec"]
    assert set(place.events("ProvisioningFailed")) == {'storageclass.storage.k8s.io "fast" not found'}


def test_a_claim_without_a_class_waits_where_there_is_no_default_one() -> None:
    place = storage_town(node("a"), claim("data"), mounting("p", "data"))
    assert not place.placed()
    text = "no persistent volumes available for this claim and no storage class is set"
    assert set(place.events("FailedBinding")) == {text}


def test_a_claim_that_waits_gets_the_default_class_when_there_is_one() -> None:
    place = storage_town(node("a"), claim("data"), claim("none", ""), mounting("p", "data"))
    place.create(default_class())
    place.run()
    assert claim_of(place)["spec"]["storageClassName"] == "standard"
    assert claim_of(place, "none")["spec"]["storageClassName"] == ""
    assert place.placed() == {"p": "a"}


def test_a_claim_that_waits_for_its_pod_says_so() -> None:
    place = storage_town(storage_class("fast"), claim("data", "fast"))
    assert set(place.events("WaitForFirstConsumer")) == {"waiting for first consumer to be created before binding"}
    place.create(mounting("p", "data"))
    place.run()
    assert set(place.events("WaitForPodScheduled")) == {"waiting for pod p to be scheduled"}
    place.create(node("a"))
    place.run()
    notes = claim_of(place)["metadata"]["annotations"]
    assert notes["volume.kubernetes.io/storage-provisioner"] == "ebs.csi.aws.com"
    (told,) = set(place.events("ExternalProvisioning"))
    assert told.startswith("Waiting for a volume to be created either by the external provisioner 'ebs.csi.aws.com'")


def test_a_claim_that_waits_for_its_pod_is_sent_to_the_node_and_the_pod_holds_its_place() -> None:
    place = storage_town(
        node("a", cpu="2"), storage_class("fast"), claim("data", "fast"), mounting("p", "data", cpu="2")
    )
    assert not place.placed()
    assert claim_of(place)["metadata"]["annotations"][SELECTED] == "a"
    assert found(place, "Pod", "p")["status"]["nominatedNodeName"] == "a"
    place.create(pod("later", cpu="2"))
    place.run()
    assert not place.placed()


def test_the_pod_is_bound_once_somebody_has_made_the_volume() -> None:
    place = storage_town(node("a"), node("b"), storage_class("fast"), claim("data", "fast"), mounting("p", "data"))
    chosen = claim_of(place)["metadata"]["annotations"][SELECTED]
    place.create(reserved(local_volume("made", chosen, "fast"), "data", claim_of(place)["metadata"]["uid"]))
    place.run()
    assert place.placed() == {"p": chosen}


def test_a_local_volume_is_given_to_the_claim_and_its_pod_goes_there() -> None:
    local = storage_class("local", "kubernetes.io/no-provisioner")
    place = storage_town(
        node("a"), node("b"), local, local_volume("disk", "b", "local"), claim("data", "local"), mounting("p", "data")
    )
    assert place.placed() == {"p": "b"}
    assert found(place, "PersistentVolume", "disk")["spec"]["claimRef"]["name"] == "data"
    assert claim_of(place)["spec"]["volumeName"] == "disk"


def test_two_pods_of_one_batch_are_not_given_the_same_volume() -> None:
    local = storage_class("local", "kubernetes.io/no-provisioner")
    claims = [claim("one", "local"), claim("two", "local")]
    pods = [mounting("p1", "one"), mounting("p2", "two")]
    place = storage_town(node("a"), node("b"), local, local_volume("disk", "b", "local"), *claims, *pods)
    assert place.placed() == {"p1": "b"}
    assert "2 node(s) didn't find available persistent volumes to bind" in why(place, "p2")
    place.create(local_volume("other", "a", "local"))
    place.run()
    assert place.placed() == {"p1": "b", "p2": "a"}


def test_a_class_without_a_provisioner_that_binds_at_once_says_that_there_is_none() -> None:
    place = storage_town(storage_class("none", "kubernetes.io/no-provisioner", "Immediate"), claim("data", "none"))
    assert set(place.events("ProvisioningFailed")) == {"no volume plugin matched name: kubernetes.io/no-provisioner"}


def test_an_ephemeral_volume_has_a_claim_of_its_own() -> None:
    place = storage_town(default_class(), node("a"), with_scratch("p"))
    made = claim_of(place, "p-scratch")
    assert made["metadata"]["labels"] == {"kept": "yes"}
    assert made["metadata"]["ownerReferences"][0]["uid"] == found(place, "Pod", "p")["metadata"]["uid"]
    assert place.placed() == {"p": "a"}


def test_a_claim_of_that_name_which_is_not_the_pods_keeps_it_waiting() -> None:
    place = storage_town(default_class(), node("a"), claim("p-scratch"), with_scratch("p"))
    assert "PVC default/p-scratch was not created for pod default/p (pod is not owner)" in why(place, "p")
    assert phases(place) == {"p-scratch": "Pending"}
