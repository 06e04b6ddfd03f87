"""Where kinds live."""

from __future__ import annotations

from typing import Any

from mooring.client.rest_mapper import RestMapper, RestMapping
from mooring.registry.resources import builtin_resources


def test_built_in_kinds_are_known_without_asking() -> None:
    served = [r for r in builtin_resources() if r.api_version != "autoscaling/v1"]
    found = [RestMapper().find(r.api_version, r.kind) for r in served]
    assert found == [RestMapping(r.api_version, r.plural, r.namespaced) for r in served]


def test_other_kinds_are_learnt_from_discovery() -> None:
    places = RestMapper()
    assert places.find("example.com/v1", "Ship") is None
    resources: list[dict[str, Any]] = [
        {"name": "fleet", "kind": "Ship", "namespaced": True},
        {"name": "fleet/status", "kind": "Ship"},
    ]
    places.learn("example.com/v1", resources)
    assert places.find("example.com/v1", "Ship") == RestMapping("example.com/v1", "fleet", True)


def test_paths_name_group_namespace_and_sub_resource() -> None:
    assert RestMapping("v1", "nodes", False).object("", "n") == "/api/v1/nodes/n"
    pods = RestMapping("v1", "pods", True)
    assert pods.object("a", "p", "status") == "/api/v1/namespaces/a/pods/p/status"
    assert pods.collection() == "/api/v1/pods"
    assert RestMapping("apps/v1", "deployments", True).collection("a") == "/apis/apps/v1/namespaces/a/deployments"


def test_a_name_cannot_leave_its_place() -> None:
    assert (
        RestMapping("v1", "pods", True).object("a", "../../secrets/s?x")
        == "/api/v1/namespaces/a/pods/..%2F..%2Fsecrets%2Fs%3Fx"
    )
