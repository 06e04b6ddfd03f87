"""Everything that is no object: health, version, discovery, documents, metrics, questions about access."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from tests.apiserver.world import CONFIGMAPS, DEFINITIONS, TOKEN, Api, failed
from tests.registry.world import config, definition

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_a_server_that_is_well_says_so_to_everybody(api: Api, path: str) -> None:
    api.bootstrap_rbac()
    answer = api.get(path, authorization="")
    assert (answer.code, answer.body) == (200, "ok")
    assert api.get(f"{path}/ping").body == "ok"
    assert api.get(f"{path}/nothing").code == 404


def test_checks_are_shown_one_by_one(api: Api) -> None:
    assert api.get("/readyz?verbose").body.splitlines() == [
        "[+]ping ok",
        "[+]storage ok",
        "[+]shutdown ok",
        "readyz check passed",
    ]
    assert "[+]storage excluded: ok" in api.get("/livez?verbose&exclude=storage").body


def test_a_server_that_stops_is_not_ready_but_lives(api: Api) -> None:
    api.server.call(api.app.stop)
    answer = api.get("/readyz")
    assert (answer.code, answer.body.splitlines()[-1]) == (500, "readyz check failed")
    assert "[-]shutdown failed: the server is stopping" in answer.body
    assert api.get("/livez").code == 200


def test_the_version_is_that_of_the_api(api: Api) -> None:
    api.bootstrap_rbac()
    body = api.get("/version", authorization="").body
    assert (body["major"], body["minor"], body["gitVersion"]) == ("1", "35", "v1.35.8+mooring")


def test_the_root_lists_what_there_is(api: Api) -> None:
    paths = api.get("/").body["paths"]
    assert {"/api/v1", "/apis/apps", "/apis/apps/v1", "/openapi/v3", "/healthz"} <= set(paths)


def test_discovery_comes_in_the_form_that_is_asked_for(api: Api) -> None:
    answer = api.get("/apis", accept=f"{AGGREGATED},application/json")
    assert answer.headers["content-type"] == AGGREGATED
    assert answer.body["kind"] == "APIGroupDiscoveryList"
    older = AGGREGATED.replace("v=v2", "v=v2beta1")
    answer = api.get("/api", accept=f"{older},application/json")
    assert (answer.headers["content-type"], answer.body["apiVersion"]) == (older, "apidiscovery.k8s.io/v2beta1")
    assert api.get("/apis").body["kind"] == "APIGroupList"
    assert api.get("/apis/apps").body["kind"] == "APIGroup"
    assert api.get("/api/v1").body["kind"] == "APIResourceList"
    assert api.get("/apis/apps/v1", accept="application/vnd.kubernetes.protobuf, */*").code == 200


def test_a_new_kind_is_discovered_at_once(api: Api) -> None:
    assert api.get("/apis/example.com/v1").code == 404
    api.made(DEFINITIONS, definition())
    assert [each["name"] for each in api.get("/apis/example.com/v1").body["resources"]] == ["widgets"]
    assert "apis/example.com/v1" in api.get("/openapi/v3").body["paths"]


def test_documents_are_addressed_by_their_content(api: Api) -> None:
    url = api.get("/openapi/v3").body["paths"]["apis/apps/v1"]["serverRelativeURL"]
    answer = api.get(url)
    assert answer.headers["cache-control"] == "public, immutable"
    assert "/apis/apps/v1/namespaces/{namespace}/deployments" in answer.body["paths"]
    assert api.get(url, if_none_match=answer.headers["etag"]).code == 304
    assert api.get("/openapi/v3/api/v1").code == 200
    assert api.get("/openapi/v3/apis/nothing/v1").code == 404
    assert "/apis/apps/v1/namespaces/{namespace}/deployments" in api.get("/openapi/v2").body["paths"]


def test_metrics_count_requests_objects_and_watches(api: Api) -> None:
    api.made(CONFIGMAPS, config("c"))
    api.get(f"{CONFIGMAPS}/nothing")
    api.get("/api/v1/nothing")
    with api.watch(CONFIGMAPS):
        text = api.get("/metrics").body
    labels = 'group="",version="v1",resource="configmaps",subresource=""'
    assert f'apiserver_request_total{{verb="POST",{labels},code="201"}} 1' in text
    assert f'apiserver_request_total{{verb="GET",{labels},code="404"}} 1' in text
    assert f'apiserver_request_duration_seconds_count{{verb="POST",{labels}}} 1' in text
    assert 'apiserver_longrunning_requests{group="",version="v1",resource="configmaps",verb="WATCH"} 1' in text
    assert 'apiserver_resource_objects{group="",resource="configmaps"} 1' in text
    assert "nothing" not in text


def test_who_am_i(api: Api) -> None:
    answer = api.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
    assert answer.code == 201
    assert answer.body["status"]["userInfo"] == {
        "username": "admin",
        "groups": ["system:masters", "system:authenticated"],
    }


def test_may_i(api: Api) -> None:
    api.bootstrap_rbac()
    own: Object = {"spec": {"resourceAttributes": {"verb": "delete", "resource": "pods"}}}
    others: Object = {"spec": {**own["spec"], "groups": ["system:masters"]}}
    for path, asked in (("selfsubjectaccessreviews", own), ("subjectaccessreviews", others)):
        answer = api.post(f"/apis/authorization.k8s.io/v1/{path}", asked)
        assert (answer.code, answer.body["status"]["allowed"]) == (201, True)
        assert answer.body["spec"] == asked["spec"]
    rules = api.post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {"namespace": "default"}})
    assert {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]} in rules.body["status"]["resourceRules"]


def test_whose_is_this_token(api: Api) -> None:
    path = "/apis/authentication.k8s.io/v1/tokenreviews"
    known = api.post(path, {"spec": {"token": TOKEN}}).body["status"]
    assert (known["authenticated"], known["user"]["username"]) == (True, "admin")
    status = api.post(path, {"spec": {"token": "other"}}).body["status"]
    assert status == {"user": {}, "error": "invalid bearer token"}


def test_a_review_of_another_kind_is_refused(api: Api) -> None:
    wrong = {"apiVersion": "v1", "kind": "Pod"}
    assert failed(api.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", wrong)) == (400, "BadRequest")
