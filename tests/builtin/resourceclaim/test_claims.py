"""Claims from templates in a cluster at work: who gets which device, who waits, and what is given back."""

from __future__ import annotations

from typing import Any

from mooring.builtin.nodelifecycle.controller import CONTROLLER as NODE_LIFECYCLE
from mooring.builtin.resourceclaim.generation import CONTROLLER as GENERATION
from mooring.builtin.resourceclaim.release import CONTROLLER as RELEASE
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.kube.objects import Object
from mooring.runtime.drivers.faults import Faults
from mooring.runtime.drivers.simulation import Simulation
from mooring.testing import node
from mooring.testing.crashes import survives_every_crash
from mooring.testing.devices import (
    DRIVER,
    claiming_pod,
    device_class,
    resource_claim,
    resource_claim_template,
    resource_slice,
)
from tests.builtin.town import GARBAGE, NODES, Town, condition

CONTROLLERS = (SCHEDULER, GENERATION, RELEASE, GARBAGE, NODES, NODE_LIFECYCLE)


def town(*objects: Object, **options: Any) -> Town:
    return Town(node("a"), node("b"), device_class(), *objects, controllers=CONTROLLERS, settled=True, **options)


def devices(place: Town) -> dict[str, list[str]]:
    """The devices that each claim has, by the pod that it was made for or its own name."""
    found = {}
    for each in place.all("ResourceClaim"):
        owners = each["metadata"].get("ownerReferences") or [each["metadata"]]
        allocation = each.get("status", {}).get("allocation")
        results = allocation["devices"]["results"] if allocation else []
        found[owners[0]["name"]] = [f"{result['pool']}/{result['device']}" for result in results]
    return found


def test_a_pod_lands_on_the_node_that_has_the_device_and_the_next_one_waits() -> None:
    place = town(resource_claim_template(), resource_slice("b", "gpu-0"))
    place.create(claiming_pod("first"))
    place.run()
    place.create(claiming_pod("second"))
    place.run()

    assert place.placed() == {"first": "b"}
    assert devices(place) == {"first": ["b/gpu-0"], "second": []}
    waiting = condition(place.get("Pod", "second"), "PodScheduled")
    assert waiting["reason"] == "Unschedulable"
    assert waiting["message"] == (
        "0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, "
        "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    )


def test_a_claim_says_what_it_has_and_for_whom() -> None:
    place = town(resource_claim_template(), resource_slice("b", "gpu-0"), claiming_pod("p"))
    (made,) = place.all("ResourceClaim")
    owner = place.pods()["p"]

    assert made["metadata"]["annotations"] == {"resource.kubernetes.io/pod-claim-name": "gpu"}
    assert made["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    assert made["metadata"]["ownerReferences"][0]["uid"] == owner["metadata"]["uid"]
    name = made["metadata"]["name"]
    assert name.startswith("p-gpu-")
    assert owner["status"]["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": name}]
    assert made["status"] == {
        "allocation": {
            "devices": {"results": [{"request": "gpu", "driver": DRIVER, "pool": "b", "device": "gpu-0"}]},
            "nodeSelector": {
                "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]
            },
        },
        "reservedFor": [{"resource": "pods", "name": "p", "uid": owner["metadata"]["uid"]}],
    }


def test_a_pod_whose_claim_is_not_there_is_not_tried_and_nothing_is_said() -> None:
    place = town(claiming_pod("p", template="nothing"), claiming_pod("q", claim="absent"))

    assert not place.placed()
    assert place.events("FailedScheduling") == []
    place.create(resource_claim_template("nothing"))
    place.create(resource_claim("absent"))
    place.create(resource_slice("a", "gpu-0", "gpu-1"))
    place.run()
    assert place.placed() == {"p": "a", "q": "a"}


def test_a_device_is_given_back_with_its_pod_and_goes_to_the_one_that_waits() -> None:
    place = town(resource_claim_template(), resource_slice("b", "gpu-0"), claiming_pod("first"))
    place.create(claiming_pod("second"))
    place.run()
    place.delete("Pod", "first")
    place.run()

    assert place.placed() == {"second": "b"}
    assert devices(place) == {"second": ["b/gpu-0"]}


def test_pods_share_a_claim_on_one_node_until_the_last_is_gone() -> None:
    users = (claiming_pod("p", claim="shared"), claiming_pod("q", claim="shared"))
    place = town(resource_claim("shared"), resource_slice("b", "gpu-0"), *users)
    assert place.placed() == {"p": "b", "q": "b"}
    (held,) = place.all("ResourceClaim")
    assert [user["name"] for user in held["status"]["reservedFor"]] == ["p", "q"]

    place.delete("Pod", "p")
    place.run()
    (held,) = place.all("ResourceClaim")
    assert [user["name"] for user in held["status"]["reservedFor"]] == ["q"]
    place.delete("Pod", "q")
    place.run()
    (free,) = place.all("ResourceClaim")
    assert free.get("status", {}) == {}
    assert "finalizers" not in free["metadata"]


def test_a_claim_that_is_deleted_while_used_goes_when_its_pod_does() -> None:
    place = town(resource_claim("shared"), resource_slice("b", "gpu-0"), claiming_pod("p", claim="shared"))
    place.delete("ResourceClaim", "shared")
    place.run()
    assert "deletionTimestamp" in place.all("ResourceClaim")[0]["metadata"]

    place.delete("Pod", "p")
    place.run()
    assert place.all("ResourceClaim") == []


def test_devices_on_a_node_that_is_full_are_taken_back_and_found_elsewhere() -> None:
    place = town(resource_claim("mine"), resource_slice("a", "gpu-0"))
    place.create(claiming_pod("p", claim="mine", cpu="1"))
    place.run()
    place.patch("Node", "a", {"spec": {"unschedulable": True}})
    place.delete("Pod", "p", grace=0)
    place.run()
    place.create(resource_slice("b", "gpu-0"))
    place.create(claiming_pod("p2", claim="mine"))
    place.run()

    assert place.placed() == {"p2": "b"}


def test_no_device_is_given_twice_whatever_is_lost_on_the_way() -> None:
    for seed in range(4):
        objects = [claiming_pod(f"p{i}") for i in range(6)]
        slices = (resource_slice("a", "gpu-0", "gpu-1"), resource_slice("b", "gpu-0"))
        place = town(resource_claim_template(), *slices, *objects, seed=seed, faults=Faults.everything(0.02))
        held = [device for found in devices(place).values() for device in found]

        assert sorted(held) == ["a/gpu-0", "a/gpu-1", "b/gpu-0"]
        assert len(place.placed()) == 3


def _populate(simulation: Simulation) -> None:
    registry = simulation.registry
    for obj in (node("a"), device_class(), resource_claim_template(), resource_slice("a", "gpu-0"), claiming_pod("p")):
        resource = registry.resource(obj["apiVersion"], obj["kind"])
        namespace = "default" if resource.namespaced else None
        registry.create(resource, obj, now=simulation.now, namespace=namespace)


def test_a_claim_survives_every_crash() -> None:
    survives_every_crash(CONTROLLERS, _populate)
