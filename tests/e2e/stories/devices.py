"""Devices: a claim made from a template for each pod, one that pods share, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterator

from mooring.kube.objects import Object
from mooring.testing.conditions import has_condition
from mooring.testing.devices import (
    claiming_pod,
    device_class,
    resource_claim,
    resource_claim_template,
    resource_slice,
)
from tests.e2e.town import Town

Scenes = Iterator[tuple[str, ...] | None]


def offer(town: Town, name: str, *devices: str) -> Object:
    """A driver of this story's own on one node, with a class for it; what a claim for one of its devices asks."""
    driver = f"{name}.example.com"
    found = (
        ("deviceclasses", device_class(name, f'device.driver == "{driver}"')),
        ("resourceslices", resource_slice("n2", *devices, name=name, driver=driver)),
    )
    for plural, obj in found:
        assert town.api.post(f"/apis/resource.k8s.io/v1/{plural}", obj).code == 201
    return {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": name}}]}}


def user(town: Town, name: str, **reference: str) -> Object:
    """A pod without a token, whose volume has a name that is drawn."""
    return claiming_pod(name, namespace=town.namespace, automountServiceAccountToken=False, **reference)


def wait_for_pod(town: Town, name: str) -> None:
    town.until(lambda: has_condition(town.get("Pod", name), "Ready"), f"{name} is ready")
    assert town.get("Pod", name)["spec"]["nodeName"] == "n2"


def a_device_goes_to_one_pod_and_the_next_one_waits_for_it(town: Town) -> Scenes:
    town.create(resource_claim_template("one", offer(town, "single", "gpu-0")))
    town.create(user(town, "first", template="one"))
    wait_for_pod(town, "first")
    town.create(user(town, "second", template="one"))
    town.until(lambda: has_condition(town.get("Pod", "second"), "PodScheduled", "False"), "second waits")
    yield None
    town.delete("Pod", "first")
    wait_for_pod(town, "second")
    town.until(lambda: len(town.all("ResourceClaim")) == 1, "one claim")
    yield None


def pods_share_a_claim_until_the_last_one_is_gone(town: Town) -> Scenes:
    town.create(resource_claim("shared", offer(town, "common", "gpu-0", "gpu-1")))
    for name in ("a", "b"):
        town.create(user(town, name, claim="shared"))
        wait_for_pod(town, name)
    yield None
    for name in ("a", "b"):
        town.delete("Pod", name)
    town.until(lambda: "allocation" not in town.status("ResourceClaim", "shared"), "devices given back")
    yield None


STORIES = (
    a_device_goes_to_one_pod_and_the_next_one_waits_for_it,
    pods_share_a_claim_until_the_last_one_is_gone,
)
