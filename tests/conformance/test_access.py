"""What does not fit into a table of requests: who may come in, documents, and how a watch behaves in time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from mooring.apiserver.authorization.bootstrap import BOOTSTRAPPING, bootstrap_objects
from mooring.kube.objects import Object
from mooring.testing.homes import EMBEDDED, Home, api_only
from mooring.testing.http import Api


def test_a_wrong_token_is_refused_with_a_status(api_server: Home) -> None:
    with Api(api_server.url, "wrong", api_server.ca) as stranger:
        answer = stranger.get("/api/v1/namespaces")
    assert answer.code == 401
    assert answer.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Unauthorized",
        "reason": "Unauthorized",
        "code": 401,
    }


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version"])
def test_a_stranger_may_ask_how_the_server_is(api_server: Home, path: str) -> None:
    with Api(api_server.url, None, api_server.ca) as stranger:
        assert stranger.get(path, accept="*/*").code == 200


@pytest.mark.parametrize("path", ["/readyz", "/version"])
def test_a_wrong_token_is_refused_where_none_is_needed(api_server: Home, path: str) -> None:
    with Api(api_server.url, "wrong", api_server.ca) as stranger:
        assert stranger.get(path, accept="*/*").code == 401


def test_a_stranger_may_do_nothing_else(api_server: Home) -> None:
    with Api(api_server.url, None, api_server.ca) as stranger:
        answer = stranger.get("/api/v1/namespaces")
    assert answer.code == 403
    assert answer.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'namespaces is forbidden: User "system:anonymous" cannot list resource "namespaces" '
        'in API group "" at the cluster scope',
        "reason": "Forbidden",
        "details": {"kind": "namespaces"},
        "code": 403,
    }


def test_the_roles_and_bindings_of_the_start_are_those_of_the_real_server(api: Api) -> None:
    wanted: dict[str, list[Object]] = {}
    for obj in bootstrap_objects():
        wanted.setdefault(obj["kind"], []).append(_without_times(obj))
    for kind, objects in wanted.items():
        selector = f"{BOOTSTRAPPING}=rbac-defaults"
        found = api.get(f"/apis/rbac.authorization.k8s.io/v1/{kind.lower()}s", labelSelector=selector).body["items"]
        header = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind}
        assert [header | _without_times(obj) for obj in found] == objects


def _without_times(obj: Object) -> Object:
    kept = {
        key: obj["metadata"][key] for key in ("name", "namespace", "labels", "annotations") if key in obj["metadata"]
    }
    # Who aggregates is a controller; the suite stands in for it.
    rules = {"rules": None} if "aggregationRule" in obj else {}
    return {**obj, "metadata": kept, **rules}


def test_the_schema_of_a_group_is_found_by_its_index(api: Api) -> None:
    index = api.get("/openapi/v3").body["paths"]
    url = index["apis/apps/v1"]["serverRelativeURL"]
    assert "?hash=" in url
    document = api.get(url.partition("?")[0], hash=url.partition("hash=")[2]).body
    schemas = document["components"]["schemas"]
    kind = [{"group": "apps", "kind": "Deployment", "version": "v1"}]
    assert schemas["io.k8s.api.apps.v1.Deployment"]["x-kubernetes-group-version-kind"] == kind
    patch = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert "fieldValidation" in {parameter["name"] for parameter in patch["parameters"]}


def test_metrics_are_served_in_the_usual_form(api: Api) -> None:
    answer = api.get("/metrics", accept="text/plain")
    assert answer.code == 200
    assert "# TYPE " in answer.body
    assert "apiserver_" in answer.body


def test_a_watch_ends_when_its_time_is_up(api: Api) -> None:
    started = time.monotonic()
    with api.watch("/api/v1/namespaces/default/configmaps", timeoutSeconds=1, resourceVersion=_now(api)) as watch:
        assert time.monotonic() - started < 1, "The headers came only with the first event."
        assert list(watch) == []
    assert 0.5 < time.monotonic() - started < 5


def test_a_watch_from_a_revision_that_is_gone_says_so(api_server: Home, api: Api, tmp_path: Path) -> None:
    gone = _gone_after_a_restart(tmp_path) if api_server.name == EMBEDDED else _gone_before_the_kind(api)
    assert gone["type"] == "ERROR"
    assert gone["object"].pop("message").startswith("too old resource version: ")
    assert gone["object"] == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "reason": "Expired",
        "code": 410,
    }


def _gone_after_a_restart(folder: Path) -> dict[str, Any]:
    """The embedded server remembers no changes from before its start."""
    with api_only(EMBEDDED, folder) as home, home.api() as api:
        first = _now(api)
        for name in ("one", "two"):
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
            assert api.post("/api/v1/namespaces/default/configmaps", body).code == 201
    with api_only(EMBEDDED, folder) as home, home.api() as api:
        return _first_event(api, "/api/v1/namespaces/default/configmaps", first)


def _gone_before_the_kind(api: Api) -> dict[str, Any]:
    """A real server remembers no changes from before it served the kind."""
    names = {"plural": "wrecks", "kind": "Wreck"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "wrecks.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]},
    }
    assert api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body).code == 201
    while api.get("/apis/example.com/v1/wrecks").code != 200:
        time.sleep(0.05)
    return _first_event(api, "/apis/example.com/v1/wrecks", "1")


def _first_event(api: Api, path: str, version: str) -> dict[str, Any]:
    with api.watch(path, resourceVersion=version) as watch:
        return watch.take(1)[0]


def _now(api: Api) -> str:
    return str(api.get("/api/v1/namespaces/default/configmaps").body["metadata"]["resourceVersion"])
