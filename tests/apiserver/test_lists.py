"""Lists over HTTP: pages, selectors, versions and forms."""

from __future__ import annotations

import gzip

import pytest

from mooring.apiserver.messages.request import HttpRequest
from tests.apiserver.world import CONFIGMAPS, METADATA_LIST, PODS, TABLE, Api, failed
from tests.registry.world import config, pod


def test_a_list_says_its_version_and_leaves_types_out_of_items(api: Api) -> None:
    made = api.made(CONFIGMAPS, config("c"))
    listed = api.get(CONFIGMAPS).body
    assert (listed["kind"], listed["apiVersion"]) == ("ConfigMapList", "v1")
    assert listed["metadata"] == {"resourceVersion": made["metadata"]["resourceVersion"]}
    assert [sorted(item) for item in listed["items"]] == [["data", "metadata"]]


def test_an_empty_list_has_items(api: Api) -> None:
    assert api.get(PODS).body["items"] == []
    assert api.get("/api/v1/namespaces/nowhere/pods").body["items"] == []


def test_pages_together_are_one_list(api: Api) -> None:
    for number in range(5):
        api.made(CONFIGMAPS, config(f"c{number}"))
    first = api.get(f"{CONFIGMAPS}?limit=2").body
    assert first["metadata"]["remainingItemCount"] == 3
    api.made(CONFIGMAPS, config("c9"))
    names = [item["metadata"]["name"] for item in first["items"]]
    token = first["metadata"]["continue"]
    while token:
        page = api.get(f"{CONFIGMAPS}?limit=2&continue={token}").body
        assert page["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
        names += [item["metadata"]["name"] for item in page["items"]]
        token = page["metadata"].get("continue")
    assert names == [f"c{number}" for number in range(5)]


def test_a_page_of_a_list_that_was_forgotten_is_gone(api: Api) -> None:
    for number in range(3):
        api.made(CONFIGMAPS, config(f"c{number}"))
    token = api.get(f"{CONFIGMAPS}?limit=1").body["metadata"]["continue"]
    api.made(CONFIGMAPS, config("c9"))
    api.server.call(lambda: api.registry.compact(api.registry.revision))
    answer = api.get(f"{CONFIGMAPS}?limit=1&continue={token}")
    assert failed(answer) == (410, "Expired")
    assert api.get(f"{CONFIGMAPS}?limit=1&continue={answer.body['metadata']['continue']}").code == 200


def test_selectors_select_and_a_doubled_one_holds_together(api: Api) -> None:
    api.made(PODS, pod("a", labels={"app": "x"}))
    api.made(PODS, pod("b", labels={"app": "x"}))
    api.made(PODS, pod("c", labels={"app": "y"}))
    assert api.names(f"{PODS}?labelSelector=app%3Dx") == ["a", "b"]
    assert api.names(f"{PODS}?labelSelector=app+in+(y)") == ["c"]
    assert api.names(f"{PODS}?fieldSelector=metadata.name%3Da") == ["a"]
    assert api.names("/api/v1/pods?fieldSelector=metadata.name%3Da&fieldSelector=metadata.namespace%3Ddefault") == ["a"]
    assert api.names(f"{PODS}?fieldSelector=metadata.name%3Da&fieldSelector=metadata.name%3Db") == []


def test_a_list_of_all_namespaces_is_in_order(api: Api) -> None:
    api.made("/api/v1/namespaces", {"metadata": {"name": "team"}})
    api.made("/api/v1/namespaces/team/configmaps", config("a"))
    api.made(CONFIGMAPS, config("b"))
    assert api.names("/api/v1/configmaps") == ["b", "a"]


def test_versions_are_honoured(api: Api) -> None:
    version = api.made(CONFIGMAPS, config("a"))["metadata"]["resourceVersion"]
    api.made(CONFIGMAPS, config("b"))
    assert api.names(f"{CONFIGMAPS}?resourceVersion={version}&resourceVersionMatch=Exact") == ["a"]
    assert api.names(f"{CONFIGMAPS}?resourceVersion={version}&resourceVersionMatch=NotOlderThan") == ["a", "b"]
    assert failed(api.get(f"{CONFIGMAPS}?resourceVersion=99999")) == (504, "Timeout")
    assert failed(api.get(f"{CONFIGMAPS}?resourceVersionMatch=Exact")) == (422, "Invalid")


@pytest.mark.parametrize(
    "query",
    [
        "limit=many",
        "resourceVersion=new",
        "continue=%00",
        "labelSelector=a%3D%3D%3Db",
        "fieldSelector=spec.color%3Dred",
    ],
)
def test_options_that_cannot_be_read_are_refused(api: Api, query: str) -> None:
    assert failed(api.get(f"{PODS}?{query}")) == (400, "BadRequest")


def test_a_long_list_arrives_whole(api: Api) -> None:
    names = api.fill(450)
    assert api.names(CONFIGMAPS) == names
    partial = api.get(CONFIGMAPS, accept=METADATA_LIST).body
    assert (partial["kind"], len(partial["items"])) == ("PartialObjectMetadataList", 450)
    assert {item["kind"] for item in partial["items"]} == {"PartialObjectMetadata"}
    table = api.get(CONFIGMAPS, accept=TABLE).body
    assert [row["cells"][0] for row in table["rows"]] == names
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Data", "Age"]


def test_a_table_has_a_row_for_every_object(api: Api) -> None:
    api.made(PODS, pod("a"))
    api.made(PODS, pod("b"))
    table = api.get(f"{PODS}?limit=500", accept=TABLE).body
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert [row["cells"][0] for row in table["rows"]] == ["a", "b"]
    assert "resourceVersion" in table["metadata"]
    assert api.get("/api/v1/namespaces/nowhere/pods", accept=TABLE).body["rows"] == []
    assert [column["name"] for column in table["columnDefinitions"]][:3] == ["Name", "Ready", "Status"]


def test_large_answers_are_compressed_for_clients_elsewhere(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HttpRequest, "local", property(lambda self: False))
    data = {"a": "x" * 200_000}
    api.made(CONFIGMAPS, {"metadata": {"name": "large"}, "data": data})
    with api.client.stream("GET", f"{CONFIGMAPS}/large", headers={"Accept-Encoding": "gzip"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert len(raw) < 10_000
    assert b"x" * 200_000 in gzip.decompress(raw)
    assert "content-encoding" not in api.get(f"{CONFIGMAPS}/large", accept_encoding="identity").headers


def test_nothing_is_compressed_on_its_way_to_the_same_machine(api: Api) -> None:
    api.made(CONFIGMAPS, {"metadata": {"name": "large"}, "data": {"a": "x" * 200_000}})
    assert "content-encoding" not in api.get(f"{CONFIGMAPS}/large", accept_encoding="gzip").headers
