"""What a JSON patch may cost, and that changing in place changes nothing that belongs to others."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.kube.nesting import DEPTH_LIMIT
from mooring.kube.patches import PatchError, draft, json_patch
from tests.kube.patches.test_operations import op

OPERATIONS = 10_000


def nested(levels: int, inner: Any = 1) -> Any:
    for _ in range(levels):
        inner = {"d": inner}
    return inner


@pytest.mark.parametrize(
    "operations",
    [
        pytest.param([op("replace", "/keys/k1", value=1)] * OPERATIONS, id="replace"),
        pytest.param([op("add", "/list/-", value=1)] * OPERATIONS, id="append"),
        pytest.param([op("move", "/keys/k1", **{"from": "/keys/k1"})] * OPERATIONS, id="move"),
        pytest.param([op("copy", "/keys/k1", **{"from": "/keys/k2"})] * OPERATIONS, id="copy"),
    ],
)
def test_many_operations_copy_a_large_document_once(operations: list[dict[str, Any]]) -> None:
    document: Any = {"keys": {f"k{number}": 0 for number in range(50_000)}, "list": [0] * 50_000}
    started = time.process_time()
    json_patch(document, operations)
    # Copied for each operation it takes several seconds.
    assert time.process_time() - started < 1.0
    assert (document["keys"]["k1"], len(document["list"])) == (0, 50_000)


@pytest.mark.parametrize(
    "operation",
    [
        pytest.param(op("add", "/list/0", value=1), id="insert"),
        pytest.param(op("remove", "/list/0"), id="remove"),
        pytest.param(op("move", "/list/-", **{"from": "/list/0"}), id="move"),
    ],
)
def test_operations_that_move_long_lists_have_an_end(operation: dict[str, Any], monkeypatch: Any) -> None:
    monkeypatch.setattr(draft, "_MAX_MOVED_ELEMENTS", 10_000)
    document = {"list": list(range(1_000))}
    json_patch(document, [operation] * 5)
    with pytest.raises(PatchError, match="move more than 10000 elements of lists; replace the list") as found:
        json_patch(document, [operation] * 100)
    assert found.value.code == 413
    json_patch(document, [op("add", "/list/-", value=1)] * 100)


def test_operations_may_not_nest_deeper_than_a_body() -> None:
    ladder = [op("add", "/a", value={})]
    ladder += [op("add", "/a" + "/d" * level, value={}) for level in range(1, DEPTH_LIMIT)]
    with pytest.raises(PatchError, match="exceeded max depth: objects and lists may be nested 200 deep") as found:
        json_patch({"a": 1}, ladder)
    assert found.value.code == 400
    assert json_patch({"a": 1}, ladder[:-1])["a"]["d"]["d"] != {}


def test_copies_and_moves_may_not_nest_deeper_either() -> None:
    document = {"a": nested(DEPTH_LIMIT - 2, {}), "b": {}}
    with pytest.raises(PatchError, match="exceeded max depth"):
        json_patch(document, [op("copy", "/b/c", **{"from": "/a"})])
    with pytest.raises(PatchError, match="exceeded max depth"):
        json_patch(document, [op("move", "/b/c", **{"from": "/a"})])
    assert json_patch(document, [op("remove", "/b")]) == {"a": document["a"]}


def test_a_copy_is_another_object_than_its_source() -> None:
    operations = [
        op("add", "/a/x", value=1),
        op("copy", "/b", **{"from": "/a"}),
        op("add", "/a/y", value=2),
        op("add", "/b/z", value=3),
    ]
    assert json_patch({"a": {}}, operations) == {"a": {"x": 1, "y": 2}, "b": {"x": 1, "z": 3}}


def test_the_values_of_a_patch_stay_as_they_were_sent() -> None:
    value: dict[str, Any] = {"inner": []}
    operations = [op("add", "/a", value=value), op("add", "/a/inner/-", value=1), op("remove", "/a/inner/0")]
    for _ in range(2):
        assert json_patch({}, operations) == {"a": {"inner": []}}
    assert value == {"inner": []}


def test_a_path_that_is_longer_than_any_object_is_deep_is_refused_at_once() -> None:
    with pytest.raises(PatchError, match="exceeded max depth"):
        json_patch({"a": 1}, [op("test", "/a" * 1_000_000, value=None)])


def test_a_position_of_many_digits_is_none() -> None:
    with pytest.raises(PatchError, match="value out of range"):
        json_patch({"list": [1]}, [op("remove", f"/list/{'9' * 5_000}")])


PATHS = st.sampled_from(["/a", "/b", "/a/b", "/a/c", "/b/0", "/b/-", "/b/0/a", "/a/b/c"])
CHANGES = st.one_of(
    st.builds(lambda path, value: op("add", path, value=value), PATHS, st.sampled_from([1, {}, [], {"b": [1]}])),
    st.builds(lambda path: op("remove", path), PATHS),
    st.builds(lambda path, source: op("copy", path, **{"from": source}), PATHS, PATHS),
    st.builds(lambda path, source: op("move", path, **{"from": source}), PATHS, PATHS),
)


@given(st.lists(CHANGES, max_size=8))
def test_operations_together_make_what_they_make_one_by_one(operations: list[dict[str, Any]]) -> None:
    document: Any = {"a": {"b": {"c": 1}}, "b": [{"a": 1}]}
    before = json.dumps(document)

    def one_by_one() -> Any:
        made = document
        for operation in operations:
            made = json_patch(made, [operation])
        return made

    assert outcome(lambda: json_patch(document, operations)) == outcome(one_by_one)
    assert json.dumps(document) == before


def outcome(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except PatchError as error:
        return str(error)
