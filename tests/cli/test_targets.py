"""What people may write to name a pod or a workload."""

from __future__ import annotations

import pytest

from mooring.cli.targets import Target, parse_target
from mooring.kube.errors import InputError


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("pod/web", Target("Pod", "web")),
        ("pods/web", Target("Pod", "web")),
        ("po/web", Target("Pod", "web")),
        ("deployment/web", Target("Deployment", "web")),
        ("deploy/web", Target("Deployment", "web")),
        ("deployment.apps/web", Target("Deployment", "web")),
        ("deployments.v1.apps/web", Target("Deployment", "web")),
        ("sts/db", Target("StatefulSet", "db")),
        ("StatefulSet/db", Target("StatefulSet", "db")),
        ("rs/web-1", Target("ReplicaSet", "web-1")),
        ("job.batch/night", Target("Job", "night")),
        ("pods", Target("Pod", "")),
    ],
)
def test_kinds_are_named_as_kubectl_lets_people_name_them(text: str, target: Target) -> None:
    assert parse_target(text) == target


@pytest.mark.parametrize("text", ["web", "service/web", "deployments", "deployment.batch/web", "pod/", "/web", ""])
def test_anything_else_is_refused_with_what_is_expected(text: str) -> None:
    with pytest.raises(InputError, match="expected pod/NAME"):
        parse_target(text)
