"""Fields that come twice in a body are said, refused or passed over as the client wants."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.apiserver.doubles import doubled_fields
from tests.apiserver.world import Api

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
TWICE = b'{"metadata": {"name": "c", "name": "c"}, "data": {"a": "1", "a": "2"}, "dada": {}}'
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


def doubled(body: bytes) -> tuple[str, ...]:
    return doubled_fields(body, msgspec.json.decode(body))


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        (b'{"a": 1, "a": 2}', ("a",)),
        (b'{"a": {"b": [{"c": 1}, {"c": 1, "d": 2, "c": 3}]}}', ("a.b[1].c",)),
        (b'{"a": {"b": 1, "b": 2}, "a": {"c": 1}}', ("a.b", "a")),
        (b'{"a" : 1, "a"\n:2, "a": 3}', ("a",)),
        (b'{"a": "b:c", "d": "\\":"}', ()),
        (b'{"a": "\\u003a"}', ()),
        (b'[{"a": 1}, {"a": 2}]', ()),
    ],
)
def test_fields_that_come_twice_are_found(body: bytes, paths: tuple[str, ...]) -> None:
    assert doubled(body) == paths


@given(value=JSON, spread=st.booleans())
def test_nothing_is_found_where_nothing_is_doubled(value: Any, spread: bool) -> None:
    assert doubled(json.dumps(value, indent=2 if spread else None).encode()) == ()


def test_a_body_that_nests_without_end_is_left_to_others() -> None:
    assert doubled_fields(b'{"a":' * 100_000, {}) == ()


@pytest.mark.parametrize(("wanted", "code"), [("", 201), ("Warn", 201), ("Ignore", 201), ("Strict", 400)])
def test_doubled_fields_are_said_or_refused_as_the_client_wants(api: Api, wanted: str, code: int) -> None:
    answer = api.send("POST", f"{CONFIGMAPS}?fieldValidation={wanted}", TWICE, content_type="application/json")
    assert answer.code == code
    said = ['duplicate field "metadata.name"', 'duplicate field "data.a"', 'unknown field "dada"']
    if code == 400:
        assert answer.body["message"].endswith(f"strict decoding error: {', '.join(said)}")
        return
    assert answer.body["data"] == {"a": "2"}
    texts = [f'299 - "{each}"' for each in (text.replace('"', '\\"') for text in said)]
    assert answer.warnings == ([] if wanted == "Ignore" else texts)


@pytest.mark.parametrize("kind", ["merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"])
def test_doubled_fields_of_a_patch_are_said_and_refused(api: Api, kind: str) -> None:
    api.made(CONFIGMAPS, {"metadata": {"name": "c"}, "data": {"a": "2"}})
    body = b'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1", "a": "2"}}'
    query = "fieldManager=m&force=true" if kind.startswith("apply") else "fieldManager=m"
    path = f"{CONFIGMAPS}/c?{query}"
    refused = api.send("PATCH", f"{path}&fieldValidation=Strict", body, content_type=f"application/{kind}")
    assert refused.code in (400, 422)
    assert 'duplicate field "data.a"' in refused.body["message"]
    said = api.send("PATCH", path, body, content_type=f"application/{kind}")
    assert said.code == 200
    assert said.warnings == ['299 - "duplicate field \\"data.a\\""']


def test_a_request_for_a_certificate_names_who_asks(api: Api) -> None:
    pem = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K"
    spec = {"request": pem, "signerName": "example.com/s", "usages": ["any"], "username": "other", "groups": ["x"]}
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    made = api.made(path, {"metadata": {"name": "r"}, "spec": spec})
    me = api.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}).body["status"]["userInfo"]
    assert made["spec"]["username"] == me["username"]
    assert made["spec"].get("groups", []) == me.get("groups", [])
