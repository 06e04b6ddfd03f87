"""JSON patches: what each operation does, what the API says when it cannot, and laws of pairs of operations."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.kube.patches import PatchError, json_patch

POD: dict[str, Any] = {"metadata": {"labels": {"a/b": "1"}}, "spec": {"containers": [{"name": "a"}, {"name": "b"}]}}


def op(kind: str, path: str, **more: Any) -> dict[str, Any]:
    return {"op": kind, "path": path, **more}


@pytest.mark.parametrize(
    ("operations", "path", "value"),
    [
        pytest.param([op("add", "/spec/containers/-", value={"name": "c"})], "containers", "abc", id="add at the end"),
        pytest.param(
            [op("add", "/spec/containers/0", value={"name": "c"})], "containers", "cab", id="add at the start"
        ),
        pytest.param(
            [op("add", "/spec/containers/-1", value={"name": "c"})], "containers", "abc", id="count from the end"
        ),
        pytest.param([op("remove", "/spec/containers/0")], "containers", "b", id="remove"),
        pytest.param([op("replace", "/spec/containers/1", value={"name": "c"})], "containers", "ac", id="replace"),
        pytest.param(
            [op("move", "/spec/containers/0", **{"from": "/spec/containers/1"})], "containers", "ba", id="move"
        ),
        pytest.param(
            [op("copy", "/spec/containers/-", **{"from": "/spec/containers/0"})], "containers", "aba", id="copy"
        ),
    ],
)
def test_lists(operations: list[dict[str, Any]], path: str, value: str) -> None:
    patched = json_patch(POD, operations)
    assert "".join(each["name"] for each in patched["spec"][path]) == value
    assert patched["metadata"] is POD["metadata"]


def test_a_slash_in_a_key_is_escaped() -> None:
    assert json_patch(POD, [op("remove", "/metadata/labels/a~1b")])["metadata"] == {"labels": {}}


def test_replace_sets_a_missing_key_as_the_api_does() -> None:
    assert json_patch(POD, [op("replace", "/spec/nodeName", value="n")])["spec"]["nodeName"] == "n"


def test_a_test_lets_pass_what_is_equal() -> None:
    assert json_patch(POD, [op("test", "/spec/containers/0", value={"name": "a"})]) is POD
    assert json_patch(POD, [op("test", "/spec/nodeName", value=None)]) is POD


@pytest.mark.parametrize(
    ("operation", "complaint"),
    [
        pytest.param(
            op("add", "/status/phase", value=1),
            'add operation does not apply: doc is missing path: "/status/phase": missing value',
            id="nowhere to add",
        ),
        pytest.param(
            op("add", "/spec/containers/5", value=1),
            "error in add for path: '/spec/containers/5': Unable to access invalid index: 5: invalid index referenced",
            id="a position beyond the end",
        ),
        pytest.param(
            op("add", "/spec/containers/x", value=1),
            "error in add for path: '/spec/containers/x': value was not a proper array index: 'x': "
            'strconv.Atoi: parsing "x": invalid syntax',
            id="a position that is none",
        ),
        pytest.param(
            op("remove", "/spec/nodeName"),
            "error in remove for path: '/spec/nodeName': Unable to remove nonexistent key: nodeName: missing value",
            id="nothing to remove",
        ),
        pytest.param(
            op("replace", "/spec/containers/7", value=1),
            "replace operation does not apply: doc is missing key: /spec/containers/7: missing value",
            id="nothing to replace",
        ),
        pytest.param(
            op("test", "/spec/containers/0/name", value="b"),
            "testing value /spec/containers/0/name failed: test failed",
            id="a test that fails",
        ),
        pytest.param(
            op("test", "/metadata/labels/a~1b", value=1),
            "testing value /metadata/labels/a~1b failed: test failed",
            id="types",
        ),
        pytest.param(
            op("move", "/spec/x"),
            "move operation failed to decode from: operation, missing from field: missing value",
            id="move from nowhere",
        ),
        pytest.param(op("jump", "/spec"), "Unexpected kind: jump", id="no such operation"),
        pytest.param({"path": "/spec"}, "Unexpected kind: unknown", id="no operation"),
    ],
)
def test_errors(operation: dict[str, Any], complaint: str) -> None:
    with pytest.raises(PatchError) as raised:
        json_patch(POD, [operation])
    assert (str(raised.value), raised.value.code) == (complaint, 422)


def test_a_failure_leaves_the_document_alone() -> None:
    before = json.dumps(POD)
    with pytest.raises(PatchError):
        json_patch(POD, [op("remove", "/spec/containers/0"), op("test", "/spec", value=1)])
    assert json.dumps(POD) == before


def test_a_patch_has_an_end() -> None:
    with pytest.raises(PatchError, match="The allowed maximum operations in a JSON patch is 10000, got 10001"):
        json_patch(POD, [op("test", "", value=POD)] * 10_001)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from("xy"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c/d", "~"]), inner, max_size=3)
    ),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(st.sampled_from("ab"), VALUES, min_size=1)


def containers(value: Any, path: str = "") -> list[tuple[str, Any]]:
    """Every object and list in a document, with its path."""
    found = [(path, value)] if isinstance(value, dict | list) else []
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        found += containers(item, f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}")
    return found


@given(DOCUMENTS, VALUES, st.data())
def test_removing_what_was_added_restores_the_document(
    document: dict[str, Any], value: Any, data: st.DataObject
) -> None:
    before = json.dumps(document)
    path, where = data.draw(st.sampled_from(containers(document)))
    key = "new" if isinstance(where, dict) else str(data.draw(st.integers(0, len(where))))
    added = json_patch(document, [op("add", f"{path}/{key}", value=value)])
    assert json_patch(added, [op("test", f"{path}/{key}", value=value)]) is added
    assert json.dumps(json_patch(added, [op("remove", f"{path}/{key}")])) == before
    assert json.dumps(document) == before


def test_copies_may_not_multiply_without_end() -> None:
    doubling = [op("copy", f"/a/{number}", **{"from": "/a"}) for number in range(40)]
    with pytest.raises(
        PatchError, match=r"the accumulated size increase of copy is [0-9]+, exceeding the limit 3145728"
    ):
        json_patch({"a": {"b": "c"}}, doubling)
    assert len(json_patch({"a": {"b": "c"}}, doubling[:3])["a"]) == 4


@given(DOCUMENTS)
def test_every_document_is_itself(document: dict[str, Any]) -> None:
    assert json_patch(document, [op("test", "", value=json.loads(json.dumps(document)))]) is document
