"""What a write changed is written back exactly, or not at all."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from mooring.kube.patches.errors import PatchError
from mooring.kube.patches.operations import json_patch
from mooring.placement.writes import Write, WriteVerb
from mooring.runway.inverse_writes import inverse_of
from mooring.runway.possible_writes import refusal_of

NODE = ("v1", "Node", "n1", "")
DEPLOYMENT = ("apps/v1", "Deployment", "web", "shop")
TAINT = {"key": "team", "effect": "NoSchedule"}


def write(place: tuple[str, str, str, str], *body: dict[str, Any], verb: Any = "patch") -> Write:
    return Write(verb, *place, body)


def op(name: str, path: str, value: Any = None) -> dict[str, Any]:
    return {"op": name, "path": path, **({} if name == "remove" else {"value": value})}


def node(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"uid": "u1", "labels": {"zone": "a"}}, "spec": spec}


def deployment(generation: int = 4, **pod: Any) -> dict[str, Any]:
    metadata = {"uid": "u2", "generation": generation}
    return {"metadata": metadata, "spec": {"replicas": 3, "template": {"spec": {"containers": [], **pod}}}}


def as_api_server(obj: dict[str, Any]) -> dict[str, Any]:
    """Without what is false or empty below spec, and of the next generation."""
    found = deepcopy(obj)
    found["spec"] = {name: value for name, value in found["spec"].items() if value}
    if "generation" in found["metadata"]:
        found["metadata"]["generation"] += 1
    return found


SELECTOR = "/spec/template/spec/nodeSelector"
CASES = {
    "a corrected label": (
        write(DEPLOYMENT, op("replace", f"{SELECTOR}/gpu", "h100")),
        deployment(nodeSelector={"gpu": "h10"}),
    ),
    "a dropped label": (write(DEPLOYMENT, op("remove", f"{SELECTOR}/gpu")), deployment(nodeSelector={"gpu": "h10"})),
    "a first toleration": (write(DEPLOYMENT, op("add", "/spec/template/spec/tolerations", [TAINT])), deployment()),
    "another toleration": (
        write(DEPLOYMENT, op("add", "/spec/template/spec/tolerations/-", TAINT)),
        deployment(tolerations=[{"key": "gpu"}]),
    ),
    "an uncordon": (write(NODE, op("replace", "/spec/unschedulable", False)), node(unschedulable=True)),
    "the only taint": (write(NODE, op("remove", "/spec/taints/0")), node(taints=[TAINT])),
    "one of two taints": (write(NODE, op("remove", "/spec/taints/0")), node(taints=[TAINT, {"key": "gpu"}])),
    "a new label with a slash": (write(NODE, op("add", "/metadata/labels/example.com~1rack", "r7")), node()),
    "a scale": (write(DEPLOYMENT, op("add", "/spec/replicas", 0), verb="scale"), deployment()),
}


@pytest.mark.parametrize("name", CASES)
def test_what_was_there_before_is_there_again(name: str) -> None:
    made, before = CASES[name]
    after = as_api_server(json_patch(before, list(made.body)))
    found = inverse_of(made, before, after)
    assert found is not None
    assert refusal_of(found) == ""
    back = json_patch(after, list(found.body))
    assert (back["spec"], back["metadata"].get("labels")) == (before["spec"], before["metadata"].get("labels"))


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_written_over_what_changed_since(name: str) -> None:
    made, before = CASES[name]
    after = as_api_server(json_patch(before, list(made.body)))
    found = inverse_of(made, before, after)
    assert found is not None
    anew = deepcopy(after)
    anew["metadata"]["uid"] = "another"
    with pytest.raises(PatchError):
        json_patch(anew, list(found.body))
    with pytest.raises(PatchError):
        # The same once more: it is undone already.
        json_patch(before, list(found.body))


def test_any_other_change_of_the_spec_since_is_a_change() -> None:
    made, before = CASES["a corrected label"]
    after = as_api_server(json_patch(before, list(made.body)))
    found = inverse_of(made, before, after)
    assert found is not None
    later = json_patch(after, [op("replace", "/spec/replicas", 5), op("replace", "/metadata/generation", 6)])
    with pytest.raises(PatchError):
        json_patch(later, list(found.body))


def test_a_change_between_the_read_and_the_write_leaves_no_way_back() -> None:
    made, before = CASES["another toleration"]
    meanwhile = deployment(tolerations=[{"key": "gpu"}, {"key": "late"}])
    assert inverse_of(made, before, as_api_server(json_patch(meanwhile, list(made.body)))) is None


def test_a_write_that_changed_nothing_has_nothing_to_undo() -> None:
    made = write(DEPLOYMENT, op("replace", "/spec/replicas", 3))
    assert inverse_of(made, deployment(), deployment()) is None


@pytest.mark.parametrize("verb", ["evict", "delete"])
def test_a_pod_that_went_does_not_come_back(verb: WriteVerb) -> None:
    assert inverse_of(Write(verb, "v1", "Pod", "web-0", "shop"), {}, {}) is None
