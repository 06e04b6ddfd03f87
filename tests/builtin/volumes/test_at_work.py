"""Pods whose claims wait for them, claims that wait for their class, and volumes that are given to one claim."""

from __future__ import annotations

from mooring.builtin.nodelifecycle.controller import CONTROLLER as NODE_LIFECYCLE
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.builtin.volumes.claims import CONTROLLER as CLAIMS
from mooring.builtin.volumes.ephemeral import CONTROLLER as EPHEMERAL
from mooring.builtin.volumes.matching import CONTROLLER as MATCHING
from mooring.builtin.volumes.phases import CONTROLLER as VOLUMES
from mooring.kube.objects import Object
from mooring.testing import node, pod
from tests.builtin.town import NODES, Town, condition
from tests.builtin.volumes.objects import claim, local_volume, mounting, storage_class, with_scratch

SELECTED = "volume.kubernetes.io/selected-node"


def town(*objects: Object) -> Town:
    controllers = (SCHEDULER, CLAIMS, VOLUMES, MATCHING, EPHEMERAL, NODES, NODE_LIFECYCLE)
    return Town(*objects, controllers=controllers, settled=True)


def found(place: Town, kind: str, name: str) -> Object:
    obj = place.get(kind, name)
    assert obj is not None
    return obj


def why(place: Town, name: str) -> str:
    return str(condition(place.get("Pod", name), "PodScheduled")["message"])


def test_a_pod_waits_for_its_claim_and_lands_when_it_comes() -> None:
    place = town(node("a"), mounting("p", "data"))
    assert why(place, "p").startswith('0/1 nodes are available: persistentvolumeclaim "data" not found.')
    place.create(claim("data"))
    place.run()
    assert place.placed() == {"p": "a"}
    bound = found(place, "PersistentVolumeClaim", "data")
    assert bound["status"]["phase"] == "Bound"
    assert found(place, "PersistentVolume", bound["spec"]["volumeName"])["status"]["phase"] == "Bound"


def test_the_volume_that_was_made_for_a_claim_goes_with_it() -> None:
    place = town(node("a"), claim("data"))
    assert len(place.all("PersistentVolume")) == 1
    place.delete("PersistentVolumeClaim", "data")
    place.run()
    assert place.all("PersistentVolume") == []


def test_a_claim_of_a_class_that_is_not_there_waits_and_so_does_its_pod() -> None:
    place = town(node("a"), claim("data", "fast"), mounting("p", "data"))
    assert not place.placed()
    assert why(place, "p").startswith("0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.")
    assert "volumeName" not in found(place, "PersistentVolumeClaim", "data")["spec"]


def test_a_claim_that_waits_for_its_pod_is_sent_to_the_node_and_the_pod_holds_its_place() -> None:
    place = town(node("a", cpu="2"), storage_class("fast"), claim("data", "fast"), mounting("p", "data", cpu="2"))
    assert not place.placed()
    assert found(place, "PersistentVolumeClaim", "data")["metadata"]["annotations"][SELECTED] == "a"
    assert found(place, "Pod", "p")["status"]["nominatedNodeName"] == "a"
    place.create(pod("later", cpu="2"))
    place.run()
    assert not place.placed()


def test_the_pod_is_bound_once_somebody_has_made_the_volume() -> None:
    place = town(node("a"), node("b"), storage_class("fast"), claim("data", "fast"), mounting("p", "data"))
    chosen = found(place, "PersistentVolumeClaim", "data")["metadata"]["annotations"][SELECTED]
    made = local_volume("made", chosen, "fast")
    uid = found(place, "PersistentVolumeClaim", "data")["metadata"]["uid"]
    made["spec"]["claimRef"] = {"namespace": "default", "name": "data", "uid": uid}
    place.create(made)
    place.run()
    assert place.placed() == {"p": chosen}


def test_a_local_volume_is_given_to_the_claim_and_its_pod_goes_there() -> None:
    local = storage_class("local", "kubernetes.io/no-provisioner")
    place = town(
        node("a"), node("b"), local, local_volume("disk", "b", "local"), claim("data", "local"), mounting("p", "data")
    )
    assert place.placed() == {"p": "b"}
    assert found(place, "PersistentVolume", "disk")["spec"]["claimRef"]["name"] == "data"
    assert found(place, "PersistentVolumeClaim", "data")["spec"]["volumeName"] == "disk"


def test_two_pods_of_one_batch_are_not_given_the_same_volume() -> None:
    local = storage_class("local", "kubernetes.io/no-provisioner")
    claims = [claim("one", "local"), claim("two", "local")]
    pods = [mounting("p1", "one"), mounting("p2", "two")]
    place = town(node("a"), node("b"), local, local_volume("disk", "b", "local"), *claims, *pods)
    assert place.placed() == {"p1": "b"}
    assert "2 node(s) didn't find available persistent volumes to bind" in why(place, "p2")
    place.create(local_volume("other", "a", "local"))
    place.run()
    assert place.placed() == {"p1": "b", "p2": "a"}


def test_an_ephemeral_volume_has_a_claim_of_its_own() -> None:
    place = town(node("a"), with_scratch("p"))
    made = found(place, "PersistentVolumeClaim", "p-scratch")
    assert made["metadata"]["labels"] == {"kept": "yes"}
    assert made["metadata"]["ownerReferences"][0]["uid"] == found(place, "Pod", "p")["metadata"]["uid"]
    assert place.placed() == {"p": "a"}


def test_a_claim_of_that_name_which_is_not_the_pods_keeps_it_waiting() -> None:
    place = town(node("a"), claim("p-scratch"), with_scratch("p"))
    assert "PVC default/p-scratch was not created for pod default/p (pod is not owner)" in why(place, "p")
