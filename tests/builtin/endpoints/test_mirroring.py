"""Endpoints that people write are mirrored into EndpointSlices."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.api.kinds import Key
from mooring.builtin.endpoints.mirroring import MANAGER, MAX_ADDRESSES, SKIP, reconcile
from mooring.builtin.endpoints.slices import MANAGED_BY, SERVICE_NAME
from mooring.kube.objects import Object
from mooring.runtime.decision import Create, Decision, Delete, Patch
from mooring.testing.controllers import whole_control_plane
from mooring.testing.crashes import survives_every_crash
from mooring.testing.views import view_of
from mooring.workloads.kinds import ENDPOINT_SLICE
from tests.builtin.serving import port, service

KEY = Key("default", "web")
HTTP = {"name": "http", "port": 8080, "protocol": "TCP"}
BY_HAND = service(port(80, 8080), selector={})


def endpoints(*subsets: Object, **metadata: Any) -> Object:
    made = {"name": "web", "namespace": "default", "uid": "e1", **metadata}
    return {"apiVersion": "v1", "kind": "Endpoints", "metadata": made, "subsets": list(subsets)}


def subset(*ips: str, waiting: tuple[str, ...] = (), ports: tuple[Object, ...] = (HTTP,)) -> Object:
    return {
        "addresses": [{"ip": ip} for ip in ips],
        "notReadyAddresses": [{"ip": ip} for ip in waiting],
        "ports": list(ports),
    }


def decide(*objects: Object) -> Decision:
    view = view_of(objects)
    return reconcile(KEY, view, view.now)


def made(*objects: Object) -> list[Object]:
    found = decide(*objects).intent
    assert all(isinstance(write, Create) for write in found)
    return [write.object for write in found if isinstance(write, Create)]


def told(slice_: Object) -> list[tuple[str, bool]]:
    return [(each["addresses"][0], each["conditions"]["ready"]) for each in slice_["endpoints"]]


def test_a_subset_becomes_a_slice() -> None:
    noted = endpoints(subset("10.0.0.1", waiting=("10.0.0.2",)), labels={"a": "b"}, annotations={"c": "d"})
    (slice_,) = made(BY_HAND, noted)
    assert told(slice_) == [("10.0.0.1", True), ("10.0.0.2", False)]
    assert (slice_["addressType"], slice_["ports"]) == ("IPv4", [HTTP])
    metadata = slice_["metadata"]
    assert metadata["labels"] == {"a": "b", SERVICE_NAME: "web", MANAGED_BY: MANAGER}
    assert metadata["annotations"] == {"c": "d"}
    assert metadata["ownerReferences"][0]["kind"] == "Endpoints"


def test_families_and_ports_have_slices_of_their_own() -> None:
    other = {"name": "https", "port": 8443, "protocol": "TCP"}
    found = made(BY_HAND, endpoints(subset("10.0.0.1", "fd00::1"), subset("10.0.0.3", ports=(other,))))
    assert sorted((each["addressType"], each["ports"][0]["port"]) for each in found) == [
        ("IPv4", 8080),
        ("IPv4", 8443),
        ("IPv6", 8080),
    ]


def test_subsets_of_the_same_ports_are_one_slice_and_what_is_not_ready_in_one_is_not_ready() -> None:
    (slice_,) = made(BY_HAND, endpoints(subset("10.0.0.1", "10.0.0.2"), subset(waiting=("10.0.0.1",))))
    assert told(slice_) == [("10.0.0.1", False), ("10.0.0.2", True)]


@pytest.mark.parametrize(
    ("why", "objects"),
    [
        ("there is no Service", [endpoints(subset("10.0.0.1"))]),
        ("the Service selects pods", [service(port(80, 8080)), endpoints(subset("10.0.0.1"))]),
        ("they ask not to be", [BY_HAND, endpoints(subset("10.0.0.1"), labels={SKIP: "true"})]),
        (
            "somebody leads by them",
            [BY_HAND, endpoints(subset("10.0.0.1"), annotations={"control-plane.alpha.kubernetes.io/leader": "{}"})],
        ),
    ],
)
def test_endpoints_are_not_mirrored_when(why: str, objects: list[Object]) -> None:
    assert decide(*objects) == Decision()
    # And what was mirrored before goes.
    (slice_,) = made(BY_HAND, endpoints(subset("10.0.0.1")))
    (gone,) = decide(*objects, stored(slice_)).release
    assert isinstance(gone, Delete)


def stored(slice_: Object) -> Object:
    return {"apiVersion": ENDPOINT_SLICE.api_version, "kind": "EndpointSlice", **slice_}


def test_a_change_is_made_in_the_slice_that_is_there() -> None:
    before = endpoints(subset("10.0.0.1"))
    (slice_,) = made(BY_HAND, before)
    assert decide(BY_HAND, before, stored(slice_)) == Decision()
    (patch,) = decide(BY_HAND, endpoints(subset("10.0.0.1", "10.0.0.9"), labels={"a": "b"}), stored(slice_)).children
    assert isinstance(patch, Patch)
    assert [each["addresses"] for each in patch.body["endpoints"]] == [["10.0.0.1"], ["10.0.0.9"]]
    assert patch.body["metadata"] == {"labels": {"a": "b"}}


def test_too_many_are_told() -> None:
    many = subset(*(f"10.0.{number // 250}.{number % 250 + 1}" for number in range(MAX_ADDRESSES + 7)))
    decision = decide(BY_HAND, endpoints(many))
    (event,) = decision.events
    assert "7 addresses were skipped" in event.message
    (write,) = decision.intent
    assert isinstance(write, Create)
    assert len(write.object["endpoints"]) == MAX_ADDRESSES


def test_any_crash_ends_in_the_same_place() -> None:
    def populate(simulation: Any) -> None:
        registry, now = simulation.registry, simulation.now
        served = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"ports": [{"port": 80}]}}
        registry.create(registry.resource("v1", "Service"), served, now=now)
        registry.create(registry.resource("v1", "Endpoints"), endpoints(subset("10.0.0.1", "fd00::1")), now=now)

    assert survives_every_crash(whole_control_plane(), populate) > 1
