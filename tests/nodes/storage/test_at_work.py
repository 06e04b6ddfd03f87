"""Volumes of our own classes: made where they belong, grown, and gone with their claims."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.nodes.storage.default_class import default_class
from mooring.nodes.storage.names import LOCAL, LOCAL_VOLUME, SIMULATED
from mooring.testing import node
from tests.builtin.town import Town
from tests.builtin.volumes.objects import claim, mounting, storage_class
from tests.builtin.volumes.town import SELECTED, claim_of, phases, storage_town, volume_of

FAKE = {"kwok.x-k8s.io/node": "fake"}
PROCESS = {"mooring.dev/local-volumes": "/data/node/volumes"}


def annotated(name: str, notes: dict[str, str]) -> Object:
    made = node(name)
    made["metadata"]["annotations"] = notes
    return made


def with_local_volume(notes: dict[str, str]) -> Town:
    return storage_town(default_class(), annotated("a", notes), claim("data"), mounting("p", "data"))


def test_a_local_volume_of_a_simulated_node_is_bound_there_and_goes_with_its_claim() -> None:
    place = with_local_volume(FAKE)
    assert place.placed() == {"p": "a"}
    spec = volume_of(place)["spec"]
    (term,) = spec["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["a"]
    assert (spec["persistentVolumeReclaimPolicy"], spec["storageClassName"]) == ("Delete", "standard")
    name = volume_of(place)["metadata"]["name"]
    assert place.events("ProvisioningSucceeded") == [f"Successfully provisioned volume {name}"]
    place.delete("PersistentVolumeClaim", "data")
    place.run()
    assert set(phases(place).values()) == {"Bound"}, "a pod uses it"
    place.delete("Pod", "p")
    place.run()
    assert phases(place) == {}


def test_the_folder_of_a_volume_on_the_process_node_goes_before_the_volume() -> None:
    place = with_local_volume(PROCESS)
    volume = volume_of(place)
    name = volume["metadata"]["name"]
    assert volume["spec"]["local"] == {"path": f"/data/node/volumes/{name}"}
    assert LOCAL_VOLUME in volume["metadata"]["finalizers"]
    for kind, each in (("Pod", "p"), ("PersistentVolumeClaim", "data")):
        place.delete(kind, each)
        place.run()
    assert phases(place) == {name: "Released"}


def test_a_volume_that_nobody_could_remove_from_its_node_is_retained() -> None:
    spec = volume_of(with_local_volume({}))["spec"]
    assert spec["persistentVolumeReclaimPolicy"] == "Retain"
    assert spec["hostPath"]["type"] == "DirectoryOrCreate"


def test_a_simulated_volume_is_made_at_once_and_grows_with_its_claim() -> None:
    growing = {**storage_class("grows", SIMULATED, "Immediate"), "allowVolumeExpansion": True}
    place = storage_town(growing, claim("data", "grows"))
    assert "nodeAffinity" not in volume_of(place)["spec"]
    more = {"storage": "20Gi"}
    place.patch("PersistentVolumeClaim", "data", {"spec": {"resources": {"requests": more}}})
    place.run()
    assert volume_of(place)["spec"]["capacity"] == claim_of(place)["status"]["capacity"] == more
    assert place.events("VolumeResizeSuccessful") == ["Resize volume succeeded"]
    place.delete("PersistentVolumeClaim", "data")
    place.run()
    assert phases(place) == {}


def test_a_volume_that_is_retained_stays_when_its_claim_goes() -> None:
    place = storage_town(
        {**storage_class("kept", SIMULATED, "Immediate"), "reclaimPolicy": "Retain"}, claim("data", "kept")
    )
    place.delete("PersistentVolumeClaim", "data")
    place.run()
    assert list(phases(place).values()) == ["Released"]


def test_volumes_of_a_class_for_some_nodes_are_reached_from_those() -> None:
    zone = {"key": "topology.kubernetes.io/zone", "values": ["a"]}
    zonal = {**storage_class("zonal", SIMULATED), "allowedTopologies": [{"matchLabelExpressions": [zone]}]}
    nodes = [node("a", zone="a"), node("b", zone="b")]
    place = storage_town(zonal, *nodes, claim("data", "zonal"), mounting("p", "data"))
    assert place.placed() == {"p": "a"}
    (term,) = volume_of(place)["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{**zone, "operator": "In"}]


@pytest.mark.parametrize(
    ("mode", "spec", "why"),
    [
        ("WaitForFirstConsumer", {"volumeMode": "Block"}, "makes folders and no disks"),
        ("Immediate", {}, "needs to know the node"),
        (
            "WaitForFirstConsumer",
            {"dataSource": {"kind": "PersistentVolumeClaim", "name": "other"}},
            "makes empty volumes",
        ),
    ],
)
def test_what_cannot_be_made_is_refused_in_an_event(mode: str, spec: dict[str, Any], why: str) -> None:
    place = storage_town(
        storage_class("local", LOCAL, mode), node("a"), claim("data", "local", **spec), mounting("p", "data")
    )
    assert phases(place) == {"data": "Pending"}
    assert any(why in text for text in place.events("ProvisioningFailed")), place.events("ProvisioningFailed")


def test_a_claim_that_was_sent_to_a_node_that_is_gone_is_sent_to_another() -> None:
    sent = claim("data")
    sent["metadata"]["annotations"] = {SELECTED: "gone"}
    place = storage_town(default_class(), annotated("a", FAKE), sent, mounting("p", "data"))
    assert place.placed() == {"p": "a"}
