"""Fields that come twice in a body are said, refused or passed over as the client wants."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mooring.apiserver.messages.duplicate_fields import find_duplicate_fields
from mooring.kube.errors import one_line
from mooring.kube.schemas.pruning import FieldPath
from tests.apiserver.world import DEFINITIONS, WIDGETS, Answer, Api
from tests.registry.world import definition

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
TWICE = b'{"metadata": {"name": "c", "name": "c"}, "data": {"a": "1", "a": "2"}, "dada": {}}'
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


# A colon as itself and in both spellings of its escape, and an "a" likewise; keys and strings are made of them.
PIECES = [":", r"\u003a", r"\u003A", "a", r"\u0061", r"\\", r"\"", "u003a", " ", r"\n", "é", r"\u00e9"]
SPELT = st.lists(st.sampled_from(PIECES), max_size=3).map(lambda pieces: f'"{"".join(pieces)}"')
SPACE = st.sampled_from(["", " ", "\n"])
NUMBERS = st.sampled_from(["0", "-1", "1e3", "9" * 400])


def members(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(SPELT, SPACE, SPACE, inner).map(lambda each: f"{each[0]}{each[1]}:{each[2]}{each[3]}")
    return st.lists(pair, max_size=4).map(lambda pairs: f"{{{','.join(pairs)}}}")


WRITTEN = st.recursive(
    SPELT | NUMBERS | st.sampled_from(["null", "true"]),
    lambda inner: members(inner) | st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]"),
    max_leaves=15,
)


def duplicate_fields(body: bytes) -> tuple[FieldPath, ...]:
    return tuple(each.path for each in find_duplicate_fields(body, msgspec.json.decode(body)))


def counted(text: str) -> int:
    """How many fields were lost to a later one of their name: a plain reader, to compare with."""
    lost = 0

    def hook(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal lost
        lost += len(pairs) - len(dict(pairs))
        return dict(pairs)

    json.loads(text, object_pairs_hook=hook)
    return lost


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        (b'{"a": 1, "a": 2}', [("a",)]),
        (b'{"a": {"b": [{"c": 1}, {"c": 1, "d": 2, "c": 3}]}}', [("a", "b", 1, "c")]),
        (b'{"a": {"b": 1, "b": 2}, "a": {"c": 1}}', [("a", "b"), ("a",)]),
        (b'{"a" : 1, "a"\n:2, "a": 3}', [("a",)]),
        (b'{"a":1,"a":"\\u003a"}', [("a",)]),
        (b'{"a":1,"a":"\\u003A"}', [("a",)]),
        (b'{"a": 1, "\\u0061": 2}', [("a",)]),
        (b'{"a:": 1, "a\\u003a": 2}', [("a:",)]),
        (b'{"a": 1, "A": 2}', []),
        (b'{"a": "b:c", "d": "\\":"}', []),
        (b'{"a": "\\u003a"}', []),
        (b'[{"a": 1}, {"a": 2}]', []),
        (b'{"a": ' + b"9" * 4_000 + b', "a": 1}', [("a",)]),
    ],
)
def test_fields_that_come_twice_are_found(body: bytes, paths: list[FieldPath]) -> None:
    assert duplicate_fields(body) == tuple(paths)


@given(value=JSON, spread=st.booleans())
def test_nothing_is_found_where_nothing_is_duplicate(value: Any, spread: bool) -> None:
    assert duplicate_fields(json.dumps(value, indent=2 if spread else None).encode()) == ()


@given(members(WRITTEN))
@example('{"a":1,"a":"\\u003a"}')
def test_fields_are_found_however_they_are_spelt(text: str) -> None:
    assert bool(duplicate_fields(text.encode())) == bool(counted(text))


def test_a_body_that_nests_without_end_is_left_to_others() -> None:
    assert find_duplicate_fields(b'{"a":' * 100_000, {}) == ()


@pytest.mark.parametrize(("wanted", "code"), [("", 201), ("Warn", 201), ("Ignore", 201), ("Strict", 400)])
def test_duplicate_fields_are_said_or_refused_as_the_client_wants(api: Api, wanted: str, code: int) -> None:
    answer = api.send("POST", f"{CONFIGMAPS}?fieldValidation={wanted}", TWICE, content_type="application/json")
    assert answer.code == code
    said = ['duplicate field "metadata.name"', 'duplicate field "data.a"', 'unknown field "dada"']
    if code == 400:
        assert answer.body["message"].endswith(f"strict decoding error: {', '.join(said)}")
        return
    assert answer.body["data"] == {"a": "2"}
    texts = [f'299 - "{each}"' for each in (text.replace('"', '\\"') for text in said)]
    assert answer.warnings == ([] if wanted == "Ignore" else texts)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("merge-patch+json", 'duplicate field "data.a"'),
        ("strategic-merge-patch+json", 'duplicate field "data.a"'),
        # Read as YAML, whatever it is written in.
        ("apply-patch+yaml", 'line 1: key "a" already set in map'),
    ],
)
def test_duplicate_fields_of_a_patch_are_said_and_refused(api: Api, kind: str, told: str) -> None:
    api.made(CONFIGMAPS, {"metadata": {"name": "c"}, "data": {"a": "2"}})
    body = b'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1", "a": "2"}}'
    query = "fieldManager=m&force=true" if kind.startswith("apply") else "fieldManager=m"
    path = f"{CONFIGMAPS}/c?{query}"
    refused = api.send("PATCH", f"{path}&fieldValidation=Strict", body, content_type=f"application/{kind}")
    assert refused.code in (400, 422)
    assert told in refused.body["message"]
    (warning,) = api.send("PATCH", path, body, content_type=f"application/{kind}").warnings
    assert told.replace('"', '\\"') in warning


LINE = "\n  "
IN_YAML = b"""
apiVersion: v1
kind: ConfigMap
kind: ConfigMap
metadata:
  name: c
  labels: {a: b, a: c}
foo: {x: 1, x: 2}
data:
  a: "1"
  a: "2"
"""


def test_duplicate_keys_of_yaml_are_said_by_their_line_as_the_real_server_does(api: Api) -> None:
    found = (4, "kind"), (7, "a"), (8, "x"), (11, "a")
    said = [f'line {line}: key "{key}" already set in map' for line, key in found]
    unknown = 'unknown field "foo"'

    def create(wanted: str) -> Answer:
        return api.send(
            "POST", f"{CONFIGMAPS}?dryRun=All&fieldValidation={wanted}", IN_YAML, content_type="application/yaml"
        )

    assert create("Strict").body["message"] == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
        + one_line(f"yaml: unmarshal errors:\n  {LINE.join(said)}, {unknown}")
    )
    warned = create("Warn")
    assert warned.warnings == [f'299 - "{each}"' for each in (text.replace('"', '\\"') for text in (*said, unknown))]
    assert warned.body["data"] == {"a": "2"}
    assert create("Ignore").warnings == []


def test_duplicate_keys_of_an_applied_yaml_are_said_by_their_line(api: Api) -> None:
    path = f"{CONFIGMAPS}/c?fieldManager=m&dryRun=All&fieldValidation="
    body = IN_YAML.replace(b"foo: {x: 1, x: 2}\n", b"")
    said = [f'line {line}: key "{key}" already set in map' for line, key in ((4, "kind"), (7, "a"), (10, "a"))]
    refused = api.apply(f"{path}Strict", body)
    assert refused.code == 400
    assert refused.body["message"] == one_line(
        f"error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  {LINE.join(said)}"
    )
    warned = api.apply(f"{path}Warn", body)
    assert warned.warnings == [f'299 - "{each}"' for each in (text.replace('"', '\\"') for text in said)]


def test_duplicate_keys_of_an_applied_yaml_are_told_before_an_object_that_is_not_there(api: Api) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, uid: u-1}\ndata: {a: '1', a: '2'}\n"
    path = f"{CONFIGMAPS}/c?fieldManager=m&fieldValidation="
    refused = api.apply(f"{path}Strict", body)
    assert (refused.code, refused.body["message"].partition(":")[0]) == (400, "error strict decoding YAML")
    warned = api.apply(f"{path}Warn", body)
    assert (warned.code, warned.warnings) == (409, ['299 - "line 4: key \\"a\\" already set in map"'])
    assert "uid mismatch: the provided object specified uid u-1" in warned.body["message"]


# As a real kube-apiserver answers: it looks at what it reads into its types, and nowhere else.
@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        (CONFIGMAPS, b'{"metadata":{"name":"c"},"x":1,"x":2}', 'unknown field "x"'),
        (CONFIGMAPS, b'{"metadata":{"name":"c"},"x":{"a":1,"a":2}}', 'unknown field "x"'),
        (
            CONFIGMAPS,
            b'{"x":1,"data":{"a":"1","a":"2"},"metadata":{"name":"c","y":1,"name":"c","z":2}}',
            'unknown field "x", duplicate field "data.a", unknown field "metadata.y", duplicate field "metadata.name",'
            ' unknown field "metadata.z"',
        ),
        (
            CONFIGMAPS,
            b'{"data":{"a":"1","b":"1","a":"2"},"x":1,"data":{"b":"3"},"metadata":{"name":"c"}}',
            'duplicate field "data.a", unknown field "x", duplicate field "data"',
        ),
        (CONFIGMAPS, b'{"metadata":{"name":"c"},"data":{"a":"1","\\u0061":"\\u003a"}}', 'duplicate field "data.a"'),
        (
            CONFIGMAPS,
            b'{"metadata":{"name":"c","annotations":{"a.b/c\\n":"1","a.b/c\\n":"2"}}}',
            r'duplicate field "metadata.annotations.a.b/c\n"',
        ),
        (
            "/apis/apps/v1/namespaces/default/controllerrevisions",
            b'{"metadata":{"name":"c"},"revision":1,"data":{"a":1,"a":2}}',
            "",
        ),
        (
            CONFIGMAPS,
            b'{"metadata":{"name":"c","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1",'
            b'"fieldsType":"FieldsV1","fieldsV1":{"f:a":{},"f:a":{}}}]}}',
            "",
        ),
        (
            WIDGETS,
            b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"c"},"x":{"a":1,"a":2}}',
            'duplicate field "x.a", unknown field "x"',
        ),
    ],
)
def test_duplicate_fields_are_told_where_the_real_server_tells_of_them(
    api: Api, path: str, body: bytes, said: str
) -> None:
    api.made(DEFINITIONS, definition())
    answer = api.send("POST", f"{path}?fieldValidation=Strict", body, content_type="application/json")
    if not said:
        assert answer.code == 201
        return
    assert answer.code == 400
    assert answer.body["message"].endswith(f"strict decoding error: {said}")


def test_a_request_for_a_certificate_names_who_asks(api: Api) -> None:
    pem = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K"
    spec = {"request": pem, "signerName": "example.com/s", "usages": ["any"], "username": "other", "groups": ["x"]}
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    made = api.made(path, {"metadata": {"name": "r"}, "spec": spec})
    me = api.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}).body["status"]["userInfo"]
    assert made["spec"]["username"] == me["username"]
    assert made["spec"].get("groups", []) == me.get("groups", [])
