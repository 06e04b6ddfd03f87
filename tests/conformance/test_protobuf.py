"""Bodies in protobuf, as Go clients and newer kubectl send them, written here byte by byte."""

from __future__ import annotations

import secrets
import time

import pytest
import yaml

from mooring.apiserver.protobuf import decode
from mooring.testing.http import Api
from mooring.testing.workloads import deployment

PROTOBUF = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"


@pytest.fixture
def namespace(api: Api) -> str:
    name = "p" + secrets.token_hex(4)
    made = api.post("/api/v1/namespaces", envelope("v1", "Namespace", text(1, text(1, name))), content=PROTOBUF)
    assert (made.code, made.body["metadata"]["name"], made.body["status"]) == (201, name, {"phase": "Active"})
    return name


def test_a_config_map_is_created_and_deleted(api: Api, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    metadata = text(1, text(1, "one") + text(11, text(1, "tier") + text(2, "front")))
    body = envelope("v1", "ConfigMap", metadata + text(2, text(1, "key") + text(2, "value")))
    made = api.post(path, body, content=PROTOBUF)
    assert made.code == 201, made.body
    assert made.body["data"] == {"key": "value"}
    assert made.body["metadata"]["labels"] == {"tier": "front"}

    other = text(2, text(1, "11111111-2222-3333-4444-555555555555"))
    refused = api.request("DELETE", f"{path}/one", envelope("v1", "DeleteOptions", other), content=PROTOBUF)
    assert refused.code == 409
    ours = text(2, text(1, made.body["metadata"]["uid"])) + text(4, "Background")
    gone = api.request("DELETE", f"{path}/one", envelope("v1", "DeleteOptions", ours), content=PROTOBUF)
    assert (gone.code, gone.body["status"]) == (200, "Success")


def test_a_deployment_is_filled_in_and_updated(api: Api, namespace: str) -> None:
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    labels = text(1, text(1, "app") + text(2, "web"))
    container = text(2, text(1, "main") + text(2, "registry.example/app:1"))
    template = text(1, text(11, text(1, "app") + text(2, "web"))) + text(2, container)
    spec = number(1, 3) + text(2, labels) + text(3, template)
    made = api.post(path, envelope("apps/v1", "Deployment", text(1, text(1, "web")) + text(2, spec)), content=PROTOBUF)
    assert made.code == 201, made.body
    assert made.body["spec"]["replicas"] == 3
    assert made.body["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] == "IfNotPresent"

    spec = number(1, 0) + text(2, labels) + text(3, template)
    body = envelope("apps/v1", "Deployment", text(1, text(1, "web") + text(3, namespace)) + text(2, spec))
    updated = api.request("PUT", f"{path}/web", body, content=PROTOBUF)
    assert (updated.code, updated.body["spec"]["replicas"]) == (200, 0)


def test_a_review_is_answered(api: Api) -> None:
    attributes = text(1, "default") + text(2, "get") + text(5, "pods")
    body = envelope("authorization.k8s.io/v1", "SelfSubjectAccessReview", text(2, text(1, attributes)))
    answer = api.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body, content=PROTOBUF)
    assert (answer.code, answer.body["status"]["allowed"]) == (201, True)


@pytest.mark.parametrize(
    "body",
    [b"", b"k8s", b"nonsense", MAGIC + b"\xff\xff\xff", MAGIC + b"\x0a\x05"],
    ids=["empty", "short", "without its magic", "garbage", "cut off"],
)
def test_a_body_that_cannot_be_read_is_refused(api: Api, namespace: str, body: bytes) -> None:
    answer = api.post(f"/api/v1/namespaces/{namespace}/configmaps", body, content=PROTOBUF)
    assert (answer.code, answer.body["reason"]) == (400, "BadRequest")


def test_a_client_that_accepts_nothing_else_is_answered_in_protobuf(api: Api, namespace: str) -> None:
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    made = api.post(path, deployment("web", 2), accept=PROTOBUF)
    assert (made.code, made.headers["content-type"]) == (201, PROTOBUF)
    assert decode(made.body) == api.get(f"{path}/web").body
    listed = decode(api.get(path, accept=PROTOBUF).body)
    assert [each["spec"] for each in listed["items"]] == [decode(made.body)["spec"]]
    missing = api.get(f"{path}/none", accept=PROTOBUF)
    assert (missing.code, decode(missing.body)["reason"]) == (404, "NotFound")
    reduced = api.get(path, accept=f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
    assert [each["metadata"]["name"] for each in decode(reduced.body)["items"]] == ["web"]


def test_a_watch_of_such_a_client_is_frames_of_protobuf(api: Api, namespace: str) -> None:
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    made = api.post(path, deployment("web", 2)).body
    watched = api.get(path, accept=f"{PROTOBUF};stream=watch", watch="true", timeoutSeconds=1)
    assert watched.headers["content-type"] == f"{PROTOBUF};stream=watch"
    length = int.from_bytes(watched.body[:4], "big")
    frame = watched.body[4 : 4 + length]
    assert frame.startswith(text(1, "ADDED"))
    assert decode(frame[frame.index(MAGIC) :]) == made


def test_a_custom_kind_has_no_protobuf(api: Api) -> None:
    names = {"plural": "rafts", "singular": "raft", "kind": "Raft"}
    group = f"p{secrets.token_hex(4)}.example.com"
    versions = [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]
    spec = {"group": group, "names": names, "scope": "Cluster", "versions": versions}
    body = {"metadata": {"name": f"rafts.{group}"}, "spec": spec}
    assert api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body).code == 201
    deadline = time.monotonic() + 20
    while api.get(f"/apis/{group}/v1/rafts").code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert api.get(f"/apis/{group}/v1/rafts", accept=PROTOBUF).code == 406


def test_a_client_that_wants_yaml_gets_it(api: Api, namespace: str) -> None:
    answer = api.get(f"/api/v1/namespaces/{namespace}", accept="application/yaml")
    assert answer.headers["content-type"] == "application/yaml"
    assert yaml.safe_load(answer.body)["metadata"]["name"] == namespace


def envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    return MAGIC + text(1, text(1, api_version) + text(2, kind)) + text(2, raw) + text(3, "") + text(4, "")


def text(field: int, value: str | bytes) -> bytes:
    """A field of bytes: a text, or a message inside a message."""
    content = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(content)) + content


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
