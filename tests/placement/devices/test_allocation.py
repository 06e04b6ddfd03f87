"""Devices on nodes: which ones a pod gets, what keeps it waiting, and what ends the attempt."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.api.resource.views import DeviceClass, ResourceClaim
from mooring.kube.objects import Object
from mooring.placement.devices.dra_manager import DRAManager
from mooring.placement.devices.results import allocation_result
from mooring.placement.requests import explain_request
from mooring.testing import node
from mooring.testing.devices import DRIVER, claiming_pod, device_class, resource_claim, resource_slice

Json = dict[str, Any]


def device(name: str, capacity: Object | None = None, **attributes: Any) -> Object:
    kinds = {bool: "bool", int: "int", str: "string"}
    values = {key: {kinds[type(value)]: value} for key, value in attributes.items()}
    return {"name": name, "attributes": values, "capacity": capacity or {}}


def offer(name: str, *devices: Object) -> Object:
    made = resource_slice(name)
    made["spec"]["devices"] = list(devices)
    return made


def asking(*requests: Object, **more: Any) -> Object:
    return resource_claim("c", {"devices": {"requests": list(requests), **more}})


def exactly(name: str, expression: str = "", **more: Any) -> Object:
    selectors = {"selectors": [{"cel": {"expression": expression}}]} if expression else {}
    return {"name": name, "exactly": {"deviceClassName": "gpu", **selectors, **more}}


def answer(claim: Object, *slices: Object, others: tuple[Object, ...] = (), nodes: int = 1) -> Json:
    return explain_request(
        {
            "nodes": [node(f"n{number}") for number in range(nodes)],
            "pod": claiming_pod("p", claim="c") | {"status": {}},
            "deviceClasses": [device_class()],
            "resourceSlices": list(slices),
            "resourceClaims": [claim, *others],
        }
    )


def taken(found: Json) -> list[str]:
    (claim,) = found["reserve"]["claims"]
    return [f"{result['request']}={result['device']}" for result in claim["devices"]]


def test_a_request_gets_the_first_device_that_it_selects() -> None:
    gpus = offer("n0", device("a", model="l4"), device("b", model="h100"), device("c", model="h100"))

    found = answer(asking(exactly("gpu", f'device.attributes["{DRIVER}"].model == "h100"')), gpus)

    assert taken(found) == ["gpu=b"]


def test_what_another_claim_has_is_left_alone() -> None:
    results = [{"request": "gpu", "driver": DRIVER, "pool": "n0", "device": "a"}]
    other = {**resource_claim("other"), "status": {"allocation": {"devices": {"results": results}}}}

    found = answer(asking(exactly("gpu")), offer("n0", device("a"), device("b")), others=(other,))

    assert taken(found) == ["gpu=b"]


def test_devices_of_one_claim_share_an_attribute_where_that_is_asked_for() -> None:
    gpus = offer("n0", device("a", numa=0), device("b", numa=1), device("c", numa=1))
    together = [{"matchAttribute": f"{DRIVER}/numa"}]

    found = answer(asking(exactly("gpu", count=2), constraints=together), gpus)

    assert taken(found) == ["gpu=b", "gpu=c"]


def test_the_first_alternative_that_can_be_had_is_taken() -> None:
    big = {"name": "big", "deviceClassName": "gpu", "count": 3}
    small = {"name": "small", "deviceClassName": "gpu", "count": 1}

    found = answer(asking({"name": "gpu", "firstAvailable": [big, small]}), offer("n0", device("a"), device("b")))

    assert taken(found) == ["gpu/small=a"]


def test_a_domain_that_a_device_knows_nothing_of_is_empty_and_no_error() -> None:
    gpus = offer("n0", device("a"))

    guarded = answer(asking(exactly("gpu", '!has(device.attributes["other.example.com"].x)')), gpus)
    unguarded = answer(asking(exactly("gpu", 'device.attributes["other.example.com"].x == 1')), gpus)

    assert taken(guarded) == ["gpu=a"]
    assert unguarded["schedulerError"]
    assert unguarded["message"] == (
        'running "DynamicResources" filter plugin: claim default/c: selector #0: CEL runtime error: no such key: x'
    )


def test_amounts_are_compared_as_quantities() -> None:
    memory = {"memory": {"value": "40960Mi"}}
    enough = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0'

    assert taken(answer(asking(exactly("gpu", enough)), offer("n0", device("a", memory)))) == ["gpu=a"]


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        (
            "device.driver ==",
            "claim default/c: selector #0: CEL compile error: compilation failed: ERROR: <input>:1:17",
        ),
        ("device.driver", "CEL compile error: must evaluate to bool or the unknown type, not string"),
    ],
)
def test_an_expression_that_the_api_would_have_refused_ends_the_attempt(expression: str, error: str) -> None:
    found = answer(asking(exactly("gpu", expression)), offer("n0", device("a")))

    assert error in found["message"]


def test_a_pool_that_is_being_updated_gives_nothing() -> None:
    half = offer("n0", device("a"))
    half["spec"]["pool"]["resourceSliceCount"] = 2

    found = answer(asking(exactly("gpu")), half)

    assert found["message"].startswith("0/1 nodes are available: 1 cannot allocate all claims.")


def test_one_device_too_few_is_found_out_at_once() -> None:
    gpus = offer("n0", *(device(f"gpu-{number}") for number in range(15)))

    found = answer(asking(exactly("gpu", count=16)), gpus)

    assert found["message"].startswith("0/1 nodes are available: 1 cannot allocate all claims.")


def test_a_search_without_end_is_given_up() -> None:
    gpus = offer("n0", *(device(f"gpu-{number}", numa=number % 2) for number in range(30)))
    together = [{"matchAttribute": f"{DRIVER}/numa"}]

    found = answer(asking(exactly("gpu", count=16), constraints=together), gpus)

    assert "1 timed out trying to allocate devices" in found["message"]


def test_what_is_told_to_drivers_goes_into_the_allocation_once_for_each_class() -> None:
    opaque = {"driver": DRIVER, "parameters": {"mig": True}}
    configured = {**device_class(), "spec": {"config": [{"opaque": opaque}]}}
    claim = asking(exactly("a"), exactly("b"), config=[{"requests": ["b"], "opaque": opaque}])
    devices = DRAManager()
    devices.set(msgspec.convert(configured, DeviceClass))

    made = allocation_result(msgspec.convert(claim, ResourceClaim), (), (0, 0), devices.classes)

    assert [(each.source, each.requests) for each in made.devices.config or ()] == [
        ("FromClass", ("a", "b")),
        ("FromClaim", ("b",)),
    ]
