"""Merge patches: the examples of the standard, and its laws."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.kube.patches import PatchError, merge_diff, merge_patch

KEYS = st.sampled_from("abc")
SCALARS = st.booleans() | st.integers(0, 2) | st.sampled_from(["x", "y"]) | st.floats(0, 1, width=16)


def values(*, nulls: bool) -> st.SearchStrategy[Any]:
    leaves = st.none() | SCALARS if nulls else SCALARS
    return st.recursive(
        leaves,
        lambda inner: st.lists(SCALARS, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=8,
    )


DOCUMENTS = st.dictionaries(KEYS, values(nulls=False), max_size=3)
PATCHES = st.dictionaries(KEYS, values(nulls=True), max_size=3)


@pytest.mark.parametrize(
    ("document", "patch", "result"),
    [
        pytest.param({"a": "b"}, {"a": "c"}, {"a": "c"}, id="a value is replaced"),
        pytest.param({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}, id="a value is added"),
        pytest.param({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}, id="null removes"),
        pytest.param({"a": ["b"]}, {"a": "c"}, {"a": "c"}, id="a list gives way"),
        pytest.param({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}, id="objects merge"),
        pytest.param({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}, id="lists do not"),
        pytest.param({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}, id="nulls never arrive"),
        pytest.param({}, {"a": [{"b": None}]}, {"a": [{}]}, id="nor in lists, as the API has it"),
        pytest.param({"a": 1}, {"a": 1.0}, {"a": 1.0}, id="one and one point zero are two values"),
        pytest.param({"a": True}, {"a": 1}, {"a": 1}, id="and true is neither"),
    ],
)
def test_examples(document: dict[str, Any], patch: dict[str, Any], result: dict[str, Any]) -> None:
    merged = merge_patch(document, patch)
    assert json.dumps(merged) == json.dumps(result)


def test_a_patch_is_an_object() -> None:
    with pytest.raises(PatchError, match="Invalid JSON Patch"):
        merge_patch({}, ["a"])


def test_what_a_patch_does_not_touch_is_shared() -> None:
    document = {"metadata": {"name": "a"}, "status": {"phase": "Pending"}}
    merged = merge_patch(document, {"status": {"phase": "Running"}})
    assert merged["metadata"] is document["metadata"]
    assert document["status"] == {"phase": "Pending"}


@given(DOCUMENTS)
def test_an_empty_patch_changes_nothing(document: dict[str, Any]) -> None:
    assert merge_patch(document, {}) is document


@given(DOCUMENTS, PATCHES)
def test_a_patch_applied_twice_is_applied_once(document: dict[str, Any], patch: dict[str, Any]) -> None:
    before = json.dumps([document, patch])
    merged = merge_patch(document, patch)
    assert merge_patch(merged, patch) == merged
    assert json.dumps([document, patch]) == before


@given(DOCUMENTS, DOCUMENTS)
def test_the_difference_leads_from_one_to_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    patched = merge_patch(before, merge_diff(before, after))
    assert json.dumps(patched, sort_keys=True) == json.dumps(after, sort_keys=True)


@given(DOCUMENTS)
def test_there_is_no_difference_from_itself(document: dict[str, Any]) -> None:
    assert merge_diff(document, json.loads(json.dumps(document))) == {}
