"""Advice for pods whose claims find no devices."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.placement.advise import Advice, AdviceKind
from mooring.testing import Scene, advised, cluster, node, pod
from mooring.testing.devices import DRIVER, claiming_pod, device_class, resource_slice

GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"
MEMORY = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("%s")) >= 0'
MODEL = f'device.attributes["{DRIVER}"].model == "%s"'


def offering(name: str, *devices: str, model: str = "a100", memory: str = "40Gi") -> Object:
    made = resource_slice(name, *devices)
    for device in made["spec"]["devices"]:
        device |= {"attributes": {"model": {"string": model}}, "capacity": {"memory": {"value": memory}}}
    return made


def claim(count: int = 1, class_name: str = "gpu", *expressions: str) -> Object:
    exactly: Object = {"deviceClassName": class_name, "allocationMode": "ExactCount", "count": count}
    exactly["selectors"] = [{"cel": {"expression": expression}} for expression in expressions]
    spec = {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}
    metadata = {"name": "two", "namespace": "default"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": spec}


def scene(claimed: Object, *objects: Object) -> Scene:
    return cluster(node("plain"), node("fast"), device_class(), offering("fast", "g0", "g1"), claimed, *objects)


def found(claimed: Object, *objects: Object, **facts: Any) -> list[Advice]:
    return advised(scene(claimed, *objects), claiming_pod("web", claim="two", **facts))


@pytest.mark.parametrize(
    ("claimed", "kind", "title"),
    [
        pytest.param(
            claim(4), AdviceKind.LOWER, "Lower count of request gpu in ResourceClaim two from 4 to 2", id="too many"
        ),
        pytest.param(
            claim(1, "gpuu"),
            AdviceKind.CORRECT,
            'Correct deviceClassName of request gpu in ResourceClaim two from "gpuu" to "gpu"',
            id="a class that is misspelt",
        ),
        pytest.param(
            claim(1, "gpu", MODEL % "a10O"),
            AdviceKind.CORRECT,
            'Correct model in the selector of request gpu in ResourceClaim two from "a10O" to "a100"',
            id="a value that is misspelt",
        ),
        pytest.param(
            claim(1, "gpu", MEMORY % "80Gi"),
            AdviceKind.LOWER,
            "Lower memory in the selector of request gpu in ResourceClaim two from 80Gi to 40Gi",
            id="more memory than any device has",
        ),
        pytest.param(
            claim(1, "gpu", MODEL % "tpu-v5"),
            AdviceKind.DROP,
            f"Drop the selector {MODEL % 'tpu-v5'} of request gpu in ResourceClaim two",
            id="a value that no device has",
        ),
    ],
)
def test_a_claim_is_changed_so_that_there_are_devices_for_it(claimed: Object, kind: AdviceKind, title: str) -> None:
    first = found(claimed)[0]
    assert (first.kind, first.title, first.nodes) == (kind, title, ("fast",))
    # What a claim asks for cannot be changed once it is there.
    assert first.command is None
    assert first.edits[0].target == "resourceclaim/default/two"


def test_the_claims_are_as_they_were_after_the_search() -> None:
    cases = scene(claim(4))
    before = dict(cases.cluster.devices.claims)
    advised(cases, claiming_pod("web", claim="two"))
    assert cases.cluster.devices.claims == before


def test_a_node_whose_devices_are_taken_is_imitated_with_devices_of_its_own() -> None:
    taken = claim(2)
    taken["metadata"]["name"] = "others"
    results = [{"request": "gpu", "driver": DRIVER, "pool": "fast", "device": each} for each in ("g0", "g1")]
    taken["status"] = {"allocation": {"devices": {"results": results}}}
    (advice,) = [each for each in found(claim(2), taken) if each.kind is AdviceKind.ADD_NODE]
    assert advice.title == "Add one more node like fast, with devices of its own"
    assert [edit.op for edit in advice.edits] == ["addNode", "addSlice"]


def test_a_claim_that_asks_for_nothing_ends_the_search() -> None:
    """The API takes no such claim, and files may have one."""
    nothing = claim(0, "gpu", MODEL % "tpu-v5")
    assert all(advice.kind is not AdviceKind.LOWER for advice in found(nothing))


def test_too_many_devices_and_a_taint_are_one_answer() -> None:
    tainted = cluster(
        node("fast", taints=[GPU_TAINT]), device_class(), offering("fast", "g0", "g1"), claim(4), pod("other")
    )
    first = advised(tainted, claiming_pod("web", claim="two"))[0]
    assert {part.title for part in first.parts} == {
        f"Tolerate taint {GPU_TAINT}",
        "Lower count of request gpu in ResourceClaim two from 4 to 2",
    }
