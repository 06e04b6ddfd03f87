"""No write gets through that no proposal has."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.placement.writes import Write
from mooring.runway.possible_writes import refusal_of

POOL = "cluster.x-k8s.io/v1beta2"


def _problem(verb: str, api_version: str, kind: str, namespace: str, *body: tuple[str, str]) -> str:
    operations = [{"op": op, "path": path, "value": 1} for op, path in body]
    asked: Any = {"verb": verb, "apiVersion": api_version, "kind": kind, "namespace": namespace, "name": "x"}
    return refusal_of(msgspec.convert({**asked, "body": operations}, Write))


@pytest.mark.parametrize(
    "asked",
    [
        ("patch", "v1", "Node", "", ("test", "/spec/unschedulable"), ("add", "/spec/unschedulable")),
        ("patch", "v1", "Node", "", ("remove", "/spec/taints/0")),
        ("patch", "v1", "Node", "", ("add", "/metadata/labels/a")),
        ("patch", "apps/v1", "Deployment", "shop", ("replace", "/spec/template/spec/nodeSelector/a")),
        ("patch", "v1", "Pod", "shop", ("add", "/spec/tolerations/-")),
        ("patch", "batch/v1", "Job", "shop", ("add", "/spec/parallelism")),
        ("scale", "apps/v1", "StatefulSet", "shop", ("add", "/spec/replicas")),
        ("scale", POOL, "MachineDeployment", "shop", ("add", "/spec/replicas")),
        ("evict", "v1", "Pod", "shop"),
        ("delete", "v1", "Pod", "shop"),
    ],
    ids=lambda asked: " ".join(asked[:3]),
)
def test_what_proposals_have_is_possible(asked: Any) -> None:
    assert _problem(*asked) == ""


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (("patch", "v1", "Secret", "shop", ("add", "/spec/a")), "kind: no proposal has a patch of v1 Secret"),
        (("patch", "apps/v2", "Deployment", "shop", ("add", "/spec/a")), "kind: no proposal has a patch of apps/v2"),
        (("patch", POOL, "MachineDeployment", "shop", ("add", "/spec/a")), "kind: no proposal has a patch"),
        (("patch", "v1", "Node", "", ("add", "/spec/providerID")), "body: path must be below /spec/unschedulable or"),
        (("patch", "apps/v1", "Deployment", "shop", ("add", "/metadata/labels")), "body: path must be below /spec/"),
        (("patch", "apps/v1", "Deployment", "shop", ("move", "/spec/a")), "body: op must be one of test, add,"),
        (("patch", "apps/v1", "Deployment", "shop"), "body: patch needs the operations of a JSON patch"),
        (("patch", "apps/v1", "Deployment", "", ("add", "/spec/a")), "namespace: a Deployment must be named with"),
        (("patch", "v1", "Node", "shop", ("add", "/spec/taints/0")), "namespace: a Node has none"),
        (("scale", "apps/v1", "Deployment", "shop", ("add", "/spec/paused")), "body: path must be below /spec/rep"),
        (("scale", "v1", "Node", "", ("add", "/spec/replicas")), "kind: no proposal has a scale of v1 Node"),
        (("delete", "apps/v1", "Deployment", "shop"), "kind: delete is for a v1 Pod, not for apps/v1 Deployment"),
        (("evict", "v1", "Pod", "shop", ("add", "/spec/a")), "body: evict takes none"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:3]),
)
def test_nothing_else_is(asked: Any, problem: str) -> None:
    assert _problem(*asked).startswith(problem)
