"""What is refused: each with a Status, a code and a sentence, and never with anything of the server's inside."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mooring.apiserver.sqlite import SqliteStorage
from mooring.registry import MemoryStorage, Registry
from mooring.registry.storage import LimitedStorage
from tests.apiserver.world import CONFIGMAPS, DEFINITIONS, PODS, WIDGETS, Api, failed
from tests.registry.world import config, definition, pod

LIMIT = 3 * 1024 * 1024


def nested(depth: int) -> bytes:
    return b'{"metadata":{"name":"c"},"data":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"


def test_a_body_over_three_mebibytes_is_too_large(api: Api) -> None:
    answer = api.post(CONFIGMAPS, {"metadata": {"name": "c"}, "data": {"a": "x" * LIMIT}})
    assert failed(answer) == (413, "RequestEntityTooLarge")
    assert answer.body["message"] == f"Request entity too large: limit is {LIMIT}"
    assert api.get(CONFIGMAPS).body["items"] == []


def test_a_body_that_does_not_say_its_size_is_limited_too(api: Api) -> None:
    def pieces() -> object:
        for _ in range(8):
            yield b"x" * 500_000

    answer = api.client.post(CONFIGMAPS, content=pieces(), headers={"Content-Type": "application/json"})  # type: ignore[arg-type]
    assert answer.status_code == 413


@pytest.mark.parametrize("depth", [300, 5_000, 20_000, 500_000])
def test_what_is_nested_without_reason_is_refused(api: Api, depth: int) -> None:
    answer = api.post(CONFIGMAPS, nested(depth))
    assert failed(answer) == (400, "BadRequest")
    assert "exceeded max depth" in answer.body["message"]
    assert failed(api.merge(f"{CONFIGMAPS}/c", nested(depth))) == (400, "BadRequest")
    assert api.get("/readyz").code == 200


def test_what_is_nested_deep_with_reason_is_kept(api: Api) -> None:
    open_schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    api.made(DEFINITIONS, definition(schema=open_schema))
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    api.made(WIDGETS, widget | {"spec": json.loads(nested(150))["data"]})
    assert api.get(f"{WIDGETS}/w").code == 200
    applied = widget | {"status": json.loads(nested(150))["data"]}
    assert api.apply(f"{WIDGETS}/w?fieldManager=me", applied).code == 200


def test_a_patch_may_not_make_deep_or_huge_objects_of_small_ones(api: Api) -> None:
    open_schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    api.made(DEFINITIONS, definition(schema=open_schema))
    api.made(WIDGETS, {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"a": {}}})
    doubling = [{"op": "copy", "from": "/spec/a", "path": f"/spec/a/{number}"} for number in range(40)]
    answer = api.send("PATCH", f"{WIDGETS}/w", doubling, content_type="application/json-patch+json")
    assert failed(answer) == (422, "Invalid")
    deeper = json.loads(nested(150))["data"]
    digging = [{"op": "add", "path": "/spec/a" + "/a" * 150 * number, "value": deeper} for number in range(10)]
    answer = api.send("PATCH", f"{WIDGETS}/w", digging, content_type="application/json-patch+json")
    assert failed(answer) == (400, "BadRequest")
    assert api.get(f"{WIDGETS}/w").body["spec"] == {"a": {}}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"{CONFIGMAPS}?fieldSelector=a%0a%1b[2J=b", None),
        ("GET", f"{CONFIGMAPS}?fieldSelector=a%0a%1b[2J", None),
        ("GET", f"{CONFIGMAPS}?labelSelector=a%0a%1b[2J%0ab", None),
        ("GET", f"{CONFIGMAPS}?resourceVersion=a%0a%1b[2J", None),
        ("GET", f"{CONFIGMAPS}?limit=a%0a%1b[2J", None),
        ("GET", f"{CONFIGMAPS}/a%0a%1b[2J", None),
        ("POST", CONFIGMAPS, b'{"kind": "ConfigMap",\n \x1b[2J'),
        ("POST", CONFIGMAPS, {"kind": "ConfigMap\n\x1b[2J", "apiVersion": "v1", "metadata": {"name": "c"}}),
        ("POST", CONFIGMAPS, {"kind": "ConfigMap", "apiVersion": "v1\n\x1b[2J", "metadata": {"name": "c"}}),
        ("POST", CONFIGMAPS, {"metadata": {"name": "c\n\x1b[2J", "labels": {"a\n\x1b[2J": "b\n\x1b[2J"}}}),
        ("POST", CONFIGMAPS, {"metadata": {"name": "c"}, "data": {"a\n\x1b[2J": "b"}}),
        ("POST", f"{CONFIGMAPS}?fieldManager=a%0a%1b[2J", {"metadata": {"name": "c"}}),
        ("POST", f"{CONFIGMAPS}?fieldValidation=a%0a%1b[2J", {"metadata": {"name": "c"}}),
        ("POST", f"{CONFIGMAPS}?fieldValidation=Strict", {"metadata": {"name": "c"}, "a\n\x1b[2J": 1}),
        ("PUT", f"{CONFIGMAPS}/d%0a%1b[2J", {"metadata": {"name": "c\n\x1b[2J"}}),
    ],
)
def test_no_control_character_of_a_request_comes_back_in_the_message(
    api: Api, method: str, path: str, body: object
) -> None:
    answer = api.send(method, path, body, content_type="application/json")
    assert 400 <= answer.code < 500
    causes = answer.body.get("details", {}).get("causes", [])
    for text in (answer.body["message"], *(each["message"] for each in causes)):
        assert "\n" not in text
        assert "\x1b" not in text


def test_a_warning_is_one_header_whatever_it_names(api: Api) -> None:
    answer = api.post(CONFIGMAPS, {"metadata": {"name": "c"}, "a\r\nX-Other: 1\x1b[2J": 1})
    assert answer.warnings == [r'299 - "unknown field \"a\\r\\nX-Other: 1\\x1b[2J\""']
    assert "x-other" not in answer.headers


def test_yaml_bombs_are_refused(api: Api) -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    bomb = ("apiVersion: v1\nkind: ConfigMap\n" + "\n".join(rows)).encode()
    for answer in (
        api.post(CONFIGMAPS, bomb, content_type="application/yaml"),
        api.apply(f"{CONFIGMAPS}/c?fieldManager=me", bomb),
    ):
        assert failed(answer) == (400, "BadRequest")
        assert "aliases expand" in answer.body["message"]


def test_aliases_are_counted_by_what_they_stand_for(api: Api) -> None:
    rows = "".join(f"  k{n}: *a\n" for n in range(400))
    bomb = f"apiVersion: v1\nkind: ConfigMap\ndata:\n  a: &a {'x' * 10_000}\n{rows}".encode()
    answer = api.post(CONFIGMAPS, bomb, content_type="application/yaml")
    assert failed(answer) == (400, "BadRequest")
    assert "aliases expand to more than 3,145,728 bytes" in answer.body["message"]


@pytest.mark.parametrize("kept", [LimitedStorage, SqliteStorage])
def test_an_object_that_is_too_large_to_be_stored_is_refused_as_etcd_does(
    make_api: Callable[..., Api], kept: type[MemoryStorage], tmp_path: Path
) -> None:
    api = make_api(storage=SqliteStorage(tmp_path) if kept is SqliteStorage else kept())

    def sized(name: str, length: int) -> dict[str, Any]:
        main = {"name": "main", "image": "i", "env": [{"name": "X", "value": "x" * length}]}
        return {"metadata": {"name": name}, "spec": {"containers": [main]}}

    api.made(PODS, sized("large", 1_500_000))
    grown = {"metadata": {"annotations": {"a": "x" * 100_000}}}
    for answer in (api.post(PODS, sized("larger", 1_600_000)), api.merge(f"{PODS}/large", grown)):
        assert answer.code == 500
        assert answer.body["message"] == "etcdserver: request is too large"
        assert "reason" not in answer.body
    assert api.get(f"{PODS}/larger").code == 404
    assert "annotations" not in api.get(f"{PODS}/large").body["metadata"]


def test_deep_yaml_is_refused(api: Api) -> None:
    answer = api.apply(f"{CONFIGMAPS}/c?fieldManager=me", b"a: " + b"[" * 100_000)
    assert failed(answer) == (400, "BadRequest")


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"7", b'"x"', b'{"metadata":[]}', b'{"metadata":{"name":7}}', b"\xff\xfe", b"{}"],
)
def test_bodies_that_are_no_objects_are_refused(api: Api, body: bytes) -> None:
    for answer in (api.post(CONFIGMAPS, body), api.put(f"{CONFIGMAPS}/c", body)):
        assert answer.code in (400, 422), answer.body
        failed(answer)


@pytest.mark.parametrize("body", [b"", b"{", b"[", b"7", b'[{"op":"shrug"}]', b"[7]", b"\xff"])
@pytest.mark.parametrize(
    "kind", ["json-patch+json", "merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"]
)
def test_patches_that_are_none_are_refused(api: Api, kind: str, body: bytes) -> None:
    api.made(PODS, pod("p"))
    answer = api.send("PATCH", f"{PODS}/p?fieldManager=me", body, content_type=f"application/{kind}")
    assert answer.code in (400, 422), (answer.code, answer.body)
    failed(answer)


def test_an_object_of_another_kind_is_refused(api: Api) -> None:
    answer = api.post(CONFIGMAPS, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}})
    assert failed(answer) == (400, "BadRequest")
    answer = api.post(CONFIGMAPS, {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "s"}})
    assert failed(answer) == (400, "BadRequest")


def test_wrong_fields_are_named_with_their_paths(api: Api) -> None:
    answer = api.post(PODS, pod("p", containers=[{"name": "Main", "image": "i"}]))
    assert failed(answer) == (422, "Invalid")
    assert answer.body["details"]["kind"] == "Pod"
    assert answer.body["details"]["causes"][0]["field"] == "spec.containers[0].name"


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "application/cbor"])
def test_other_formats_are_not_supported(api: Api, content_type: str) -> None:
    answer = api.post(CONFIGMAPS, b"x", content_type=content_type)
    assert failed(answer) == (415, "UnsupportedMediaType")
    assert "accepted media types include: application/json" in answer.body["message"]


@pytest.mark.parametrize("kind", ["application/json", "application/apply-patch+cbor", "text/plain"])
def test_patches_of_other_types_are_not_supported(api: Api, kind: str) -> None:
    api.made(CONFIGMAPS, config("c"))
    answer = api.send("PATCH", f"{CONFIGMAPS}/c", b"{}", content_type=kind)
    assert failed(answer) == (415, "UnsupportedMediaType")


def test_who_accepts_no_json_gets_none(api: Api) -> None:
    assert failed(api.get(CONFIGMAPS, accept="image/png")) == (406, "NotAcceptable")
    alone = api.get(CONFIGMAPS, accept="application/vnd.kubernetes.protobuf")
    assert alone.headers["content-type"] == "application/vnd.kubernetes.protobuf"
    both = "application/vnd.kubernetes.protobuf,application/json"
    assert api.get(CONFIGMAPS, accept=both).headers["content-type"] == "application/json"
    assert api.get(CONFIGMAPS, accept="*/*").code == 200


def test_protobuf_that_is_none_is_refused(api: Api) -> None:
    for body in (b"k8s\x00\xff\xff", b"", b"{}"):
        answer = api.post(CONFIGMAPS, body, content_type="application/vnd.kubernetes.protobuf")
        assert failed(answer) == (400, "BadRequest")


def test_a_compressed_body_is_not_json(api: Api) -> None:
    body = gzip.compress(json.dumps(config("c")).encode())
    assert failed(api.post(CONFIGMAPS, body, content_encoding="gzip")) == (400, "BadRequest")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/pods"),
        ("DELETE", "/api/v1/pods"),
        ("PUT", CONFIGMAPS),
        ("PATCH", CONFIGMAPS),
        ("POST", f"{CONFIGMAPS}/c"),
        ("OPTIONS", CONFIGMAPS),
        ("POST", "/version"),
        ("POST", "/apis/apps"),
        ("GET", f"{PODS}/p/eviction"),
        ("PUT", f"{PODS}/p/binding"),
        ("POST", f"{PODS}/p/status"),
        ("GET", "/api/v1/namespaces/default/finalize"),
        ("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
    ],
)
def test_methods_that_make_no_sense_are_not_allowed(api: Api, method: str, path: str) -> None:
    api.made(PODS, pod("p"))
    assert failed(api.send(method, path, {} if method != "GET" else None)) == (405, "MethodNotAllowed")


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/gadgets",
        "/api/v2/pods",
        "/apis/apps/v9/deployments",
        "/apis/apps/v1/namespaces/default/pods",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/pods/p",
        "/api/v1/nodes/n",
        f"{PODS}/p",
        f"{CONFIGMAPS}/c/status",
        f"{CONFIGMAPS}/c/a/b/c",
    ],
)
def test_what_is_not_there_is_not_found(api: Api, path: str) -> None:
    assert failed(api.get(path)) == (404, "NotFound")


def test_paths_outside_the_api_are_not_found_in_plain_text(api: Api) -> None:
    for path in ("/favicon.ico", "/ui/", "/openapi/v4", "/apis/nothing", "/apis/nothing/v1/widgets"):
        answer = api.get(path)
        assert (answer.code, answer.body) == (404, "404 page not found\n")


@pytest.mark.parametrize("subresource", ["log", "exec", "attach", "portforward", "proxy"])
def test_what_needs_a_node_is_refused_in_words(api: Api, subresource: str) -> None:
    assert failed(api.get(f"{PODS}/p/{subresource}")) == (404, "NotFound")
    api.made(PODS, pod("p"))
    answer = api.get(f"{PODS}/p/{subresource}")
    assert (failed(answer)[0], answer.body["message"]) == (400, "pod p does not have a host assigned")
    api.post(f"{PODS}/p/binding", {"target": {"name": "n"}})
    answer = api.get(f"{PODS}/p/{subresource}")
    assert failed(answer) == (501, "NotImplemented")
    assert answer.body["message"] == f"pods/{subresource} is not served by this API server yet"


def test_an_upgrade_to_a_websocket_is_refused_in_words(api: Api) -> None:
    api.made(PODS, pod("p", nodeName="n"))
    headers = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13", "sec-websocket-key": "x"}
    answer = api.get(f"{PODS}/p/exec?command=sh", **headers)
    assert failed(answer) == (501, "NotImplemented")


def test_a_foreign_token_learns_nothing(api: Api) -> None:
    api.bootstrap_rbac()
    for path in (CONFIGMAPS, "/apis/nothing", "/nowhere", "/metrics", "/healthz"):
        assert failed(api.get(path, authorization="Bearer wrong")) == (401, "Unauthorized")


@pytest.mark.parametrize("authorization", ["", "Bearer", "Basic YTpi", "secret"])
def test_without_a_token_only_what_everybody_may_see_is_shown(api: Api, authorization: str) -> None:
    api.bootstrap_rbac()
    for path in (CONFIGMAPS, "/apis/nothing", "/nowhere", "/metrics"):
        assert failed(api.get(path, authorization=authorization)) == (403, "Forbidden")
    assert api.get("/healthz", authorization=authorization).code == 200


def test_a_failure_inside_is_told_without_its_insides(
    api: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise RuntimeError("the flux capacitor is on fire")

    monkeypatch.setattr(Registry, "create", fail)
    with caplog.at_level(logging.ERROR):
        answer = api.post(CONFIGMAPS, config("c"))
    assert failed(answer) == (500, "InternalError")
    assert "flux" not in json.dumps(answer.body)
    assert "Traceback" not in json.dumps(answer.body)
    [record] = [record for record in caplog.records if record.name.startswith("mooring.")]
    assert "POST /api/v1/namespaces/default/configmaps failed" in record.getMessage()
    assert "flux capacitor" in record.getMessage()
    assert record.exc_info is None or not record.exc_info


def test_a_query_of_a_thousand_parameters_is_refused(api: Api) -> None:
    assert failed(api.get(f"{CONFIGMAPS}?{'a=1&' * 1500}")) == (400, "BadRequest")


def test_names_are_taken_as_they_are_meant(api: Api) -> None:
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    api.made(path, {"metadata": {"name": "system:näme"}})
    assert api.get(f"{path}/system%3An%C3%A4me").code == 200
