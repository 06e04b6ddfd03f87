"""What people may write to name a pod or a workload."""

from __future__ import annotations

import pytest

from mooring.kube.errors import InputError
from mooring.runway.explain.explain_target import ExplainTarget, parse_target, parse_targets


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("pod/web", ExplainTarget("Pod", "web")),
        ("pods/web", ExplainTarget("Pod", "web")),
        ("po/web", ExplainTarget("Pod", "web")),
        ("deployment/web", ExplainTarget("Deployment", "web")),
        ("deploy/web", ExplainTarget("Deployment", "web")),
        ("deployment.apps/web", ExplainTarget("Deployment", "web")),
        ("deployments.v1.apps/web", ExplainTarget("Deployment", "web")),
        ("sts/db", ExplainTarget("StatefulSet", "db")),
        ("StatefulSet/db", ExplainTarget("StatefulSet", "db")),
        ("rs/web-1", ExplainTarget("ReplicaSet", "web-1")),
        ("job.batch/night", ExplainTarget("Job", "night")),
        ("pods", ExplainTarget("Pod", "")),
        ("node/gpu-1", ExplainTarget("Node", "gpu-1")),
        ("no/gpu-1", ExplainTarget("Node", "gpu-1")),
    ],
)
def test_kinds_are_named_as_kubectl_lets_people_name_them(text: str, target: ExplainTarget) -> None:
    assert parse_target(text) == target


def test_a_kind_and_a_name_may_be_two_words() -> None:
    assert parse_targets(["deploy", "web"]) == ExplainTarget("Deployment", "web")
    assert parse_targets(["deploy/web"]) == ExplainTarget("Deployment", "web")


@pytest.mark.parametrize(
    "text",
    ["web", "nodes", "node.apps/gpu-1", "service/web", "deployments", "deployment.batch/web", "pod/", "/web", ""],
)
def test_anything_else_is_refused_with_what_is_expected(text: str) -> None:
    with pytest.raises(InputError, match="expected pod/NAME"):
        parse_target(text)
