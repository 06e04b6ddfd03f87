"""Which volume a claim gets, and what becomes of both when one of them goes."""

from __future__ import annotations

import pytest

from mooring.builtin.apps.statefulset import controller as statefulset
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.kube.objects import Object
from mooring.nodes.storage.default_class import default_class
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing import node
from mooring.testing.controllers import STORAGE
from mooring.testing.crashes import survives_every_crash
from mooring.testing.workloads import claim_template, stateful_set
from tests.builtin.volumes.objects import claim, local_volume, reserved
from tests.builtin.volumes.town import claim_of, found, phases, storage_town

BOTH_MODES = ["ReadWriteOnce", "ReadWriteMany"]
DISK = {"volumeMode": "Block"}


def disk(name: str, size: str = "10Gi", **spec: object) -> Object:
    return local_volume(name, "a", "by-hand", size, **spec)


def labelled(volume: Object, **labels: str) -> Object:
    return {**volume, "metadata": {**volume["metadata"], "labels": labels}}


def test_a_crash_at_any_write_ends_the_same() -> None:
    def populate(simulation: Simulation) -> None:
        registry = simulation.registry
        ready = {"conditions": [{"type": "Ready", "status": "True"}]}
        claims = [claim_template("data")]
        for obj in (default_class(), node("a"), stateful_set("db", 1, volumeClaimTemplates=claims)):
            resource = registry.resource(obj["apiVersion"], obj["kind"])
            place = "default" if resource.namespaced else None
            registry.create(resource, obj, now=simulation.now, namespace=place)
        registry.patch(registry.resource("v1", "Node"), "", "a", "merge", {"status": ready}, now=simulation.now)

    assert survives_every_crash([statefulset.CONTROLLER, SCHEDULER, *STORAGE], populate) > 6


@pytest.mark.parametrize(
    ("wanted", "volumes", "expected"),
    [
        (claim("data", "by-hand"), [disk("big", "30Gi"), disk("fits", "20Gi"), disk("small", "5Gi")], "fits"),
        (claim("data", "by-hand"), [disk("both", accessModes=BOTH_MODES), disk("one", "30Gi")], "one"),
        (claim("data", "by-hand", accessModes=BOTH_MODES), [disk("one"), disk("both", accessModes=BOTH_MODES)], "both"),
        (claim("data", "by-hand", **DISK), [disk("folder"), disk("block", "30Gi", **DISK)], "block"),
        (
            claim("data", "by-hand", selector={"matchLabels": {"kind": "ssd"}}),
            [disk("plain"), labelled(disk("fast", "30Gi"), kind="ssd")],
            "fast",
        ),
        (claim("data", "by-hand"), [disk("free"), reserved(disk("reserved", "30Gi"), "data")], "reserved"),
        (claim("data", "by-hand"), [reserved(disk("reserved"), "other"), disk("free", "30Gi")], "free"),
        (claim("data", "by-hand"), [reserved(disk("kept"), "data", "one before"), disk("free", "30Gi")], "free"),
        (claim("data", "by-hand", volumeName="named"), [disk("smaller"), disk("named", "30Gi")], "named"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_claim_gets_the_volume_that_suits_it_best(wanted: Object, volumes: list[Object], expected: str) -> None:
    place = storage_town(*volumes, wanted)
    assert claim_of(place)["spec"]["volumeName"] == expected
    assert claim_of(place)["status"]["phase"] == "Bound"
    volume = found(place, "PersistentVolume", expected)
    assert claim_of(place)["status"]["capacity"] == volume["spec"]["capacity"]
    notes = claim_of(place)["metadata"]["annotations"]
    assert notes["pv.kubernetes.io/bind-completed"] == "yes"
    # A claim that named its volume, and a volume that was reserved, were bound by people.
    assert ("pv.kubernetes.io/bound-by-controller" in notes) == (expected != "named")
    chosen = "pv.kubernetes.io/bound-by-controller" in volume["metadata"].get("annotations", {})
    assert chosen == (expected != "reserved")


@pytest.mark.parametrize(
    ("volume", "why"),
    [
        (disk("named", "1Gi"), "requested PV is too small"),
        (local_volume("named", "a", "other"), "storageClassName does not match"),
        (disk("named", **DISK), "incompatible volumeMode"),
        (disk("named", accessModes=["ReadOnlyMany"]), "incompatible accessMode"),
    ],
)
def test_a_claim_that_names_a_volume_that_does_not_suit_it_waits_and_says_why(volume: Object, why: str) -> None:
    place = storage_town(volume, claim("data", "by-hand", volumeName="named"))
    assert phases(place) == {"named": "Available", "data": "Pending"}
    assert set(place.events("VolumeMismatch")) == {f'Cannot bind to requested volume "named": {why}'}


def test_a_claim_that_names_the_volume_of_another_waits() -> None:
    place = storage_town(disk("one"), claim("first", "by-hand"))
    place.create(claim("data", "by-hand", volumeName="one"))
    place.run()
    assert phases(place) == {"one": "Bound", "first": "Bound", "data": "Pending"}
    assert set(place.events("FailedBinding")) == {'volume "one" already bound to a different claim.'}


def test_a_volume_that_is_retained_is_released_and_given_to_nobody() -> None:
    place = storage_town(disk("one"), claim("data", "by-hand"))
    place.delete("PersistentVolumeClaim", "data")
    place.run()
    assert phases(place) == {"one": "Released"}
    place.create(claim("data", "by-hand"))
    place.run()
    assert phases(place) == {"one": "Released", "data": "Pending"}


def test_a_volume_by_hand_that_nobody_can_delete_fails_and_says_so() -> None:
    place = storage_town(disk("one", persistentVolumeReclaimPolicy="Delete"), claim("data", "by-hand"))
    place.delete("PersistentVolumeClaim", "data")
    place.run()
    failed = found(place, "PersistentVolume", "one")["status"]
    text = 'error getting deleter volume plugin for volume "one": no deletable volume plugin matched'
    assert (failed["phase"], failed["message"]) == ("Failed", text)
    assert place.events("VolumeFailedDelete") == [text]


def test_a_claim_whose_volume_is_gone_is_lost() -> None:
    place = storage_town(disk("one"), claim("data", "by-hand"))
    place.patch("PersistentVolume", "one", {"metadata": {"finalizers": None}})
    place.delete("PersistentVolume", "one")
    place.run()
    assert phases(place) == {"data": "Lost"}
    assert place.events("ClaimLost") == ["Bound claim has lost its PersistentVolume. Data on the volume is lost!"]


def test_a_volume_whose_claim_has_another_one_is_free_again() -> None:
    place = storage_town(disk("one"), claim("data", "by-hand"))
    uid = claim_of(place)["metadata"]["uid"]
    chosen = reserved(disk("two"), "data", uid)
    chosen["metadata"]["annotations"] = {"pv.kubernetes.io/bound-by-controller": "yes"}
    place.create(chosen)
    place.create(reserved(disk("three"), "data", uid))
    place.run()
    assert phases(place) == {"one": "Bound", "two": "Available", "three": "Available", "data": "Bound"}
    assert "claimRef" not in found(place, "PersistentVolume", "two")["spec"]
    assert "uid" not in found(place, "PersistentVolume", "three")["spec"]["claimRef"]
