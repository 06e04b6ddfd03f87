"""Strategic merge patches: lists by key, the directives of kubectl, and that without lists they are merge patches."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.kube.patches import PatchError, merge_patch, strategic_merge_patch
from mooring.kube.schemas import builtin_schema

POD = builtin_schema("v1", "Pod")
DEPLOYMENT = builtin_schema("apps/v1", "Deployment")


def pod(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": list(containers), **spec}}


def names(value: dict[str, Any], field: str = "containers") -> str:
    return "".join(each["name"] for each in value["spec"][field])


A, B, C = ({"name": name, "image": "old"} for name in "abc")


def test_an_item_is_found_by_its_key_and_merged() -> None:
    patched = strategic_merge_patch(pod(A, B), pod({"name": "b", "image": "new"}), POD)
    assert patched == pod(A, {"name": "b", "image": "new"})
    assert patched["spec"]["containers"][0] is A


def test_a_new_item_comes_first_and_others_keep_their_places() -> None:
    assert names(strategic_merge_patch(pod(A, B), pod({"name": "c"}), POD)) == "cab"


def test_an_item_can_be_deleted() -> None:
    assert names(strategic_merge_patch(pod(A, B), pod({"$patch": "delete", "name": "a"}), POD)) == "b"


def test_a_list_can_be_replaced() -> None:
    assert names(strategic_merge_patch(pod(A, B), pod(C, {"$patch": "replace"}), POD)) == "c"


def test_an_object_can_be_replaced_or_deleted() -> None:
    live = {"metadata": {"labels": {"a": "1"}, "annotations": {"b": "2"}}}
    replaced = strategic_merge_patch(live, {"metadata": {"labels": {"$patch": "replace", "c": "3"}}}, POD)
    assert replaced["metadata"] == {"labels": {"c": "3"}, "annotations": {"b": "2"}}
    assert strategic_merge_patch(live, {"metadata": {"labels": {"$patch": "delete"}}}, POD)["metadata"]["labels"] == {}


def test_the_order_of_items_can_be_set() -> None:
    patch = {"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}}
    assert names(strategic_merge_patch(pod(A, B, C), patch, POD)) == "bac"


def test_scalars_are_added_once_and_can_be_deleted() -> None:
    live = {"metadata": {"finalizers": ["a", "b"]}}
    assert strategic_merge_patch(live, {"metadata": {"finalizers": ["b", "c"]}}, POD)["metadata"]["finalizers"] == [
        "a",
        "b",
        "c",
    ]
    patch = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}
    assert strategic_merge_patch(live, patch, POD)["metadata"]["finalizers"] == ["b"]


def test_fields_that_are_not_retained_go() -> None:
    live = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    assert strategic_merge_patch(live, patch, DEPLOYMENT) == {"spec": {"strategy": {"type": "Recreate"}}}


def test_a_list_without_a_strategy_is_replaced() -> None:
    live = pod(A, tolerations=[{"key": "a"}])
    assert strategic_merge_patch(live, {"spec": {"tolerations": [{"key": "b"}]}}, POD)["spec"]["tolerations"] == [
        {"key": "b"}
    ]


def test_a_selector_with_the_strategy_replace_is_replaced() -> None:
    schema = builtin_schema("policy/v1", "PodDisruptionBudget")
    live = {"spec": {"selector": {"matchLabels": {"a": "1"}}}}
    patch: dict[str, Any] = {"spec": {"selector": {"matchExpressions": []}}}
    assert strategic_merge_patch(live, patch, schema) == patch


@pytest.mark.parametrize(
    ("patch", "complaint"),
    [
        pytest.param(pod({"image": "x"}), "map: map[image:x] does not contain declared merge key: name", id="no key"),
        pytest.param(
            pod({"$patch": "merge", "name": "a"}),
            "merging lists cannot yet be specified in the patch",
            id="merge a list",
        ),
        pytest.param(
            {"spec": {"$patch": "explode"}},
            "unknown patch type: explode in map: map[$patch:explode]",
            id="no such directive",
        ),
        pytest.param({"spec": {"$retainKeys": "a"}}, "invalid patch format of retainKeys", id="keys that are no list"),
        pytest.param(
            {"spec": {"$retainKeys": [], "hostname": "a"}},
            "invalid patch format of retainKeys",
            id="set but not retained",
        ),
        pytest.param(
            {"spec": {"containers": [A], "$setElementOrder/containers": [{"name": "b"}]}},
            "The order in patch list:\n[map[image:old name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
            id="an order that leaves items out",
        ),
        pytest.param(
            {"spec": {"$setElementOrder/bogus": [], "bogus": []}},
            'unable to find api field in struct PodSpec for the json field "bogus"',
            id="an unknown list",
        ),
        pytest.param([], "invalid JSON document", id="no object"),
    ],
)
def test_errors(patch: Any, complaint: str) -> None:
    live = pod(A, B)
    before = json.dumps([live, patch])
    with pytest.raises(PatchError) as raised:
        strategic_merge_patch(live, patch, POD)
    assert str(raised.value) == complaint
    assert json.dumps([live, patch]) == before


LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz"), max_size=3)
PATCHED = st.dictionaries(st.sampled_from("abc"), st.none() | st.sampled_from("xyz"), max_size=3)


def flat(labels: st.SearchStrategy[Any], texts: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    metadata = st.fixed_dictionaries({}, optional={"labels": labels, "annotations": labels, "name": texts})
    spec = st.fixed_dictionaries({}, optional={"nodeSelector": labels, "hostname": texts, "nodeName": texts})
    return st.fixed_dictionaries({}, optional={"metadata": metadata, "spec": spec})


@given(flat(LABELS, st.sampled_from("ab")), flat(PATCHED, st.none() | st.sampled_from("ab")))
def test_without_lists_it_is_a_merge_patch(live: dict[str, Any], patch: dict[str, Any]) -> None:
    before = json.dumps([live, patch])
    assert strategic_merge_patch(live, patch, POD) == merge_patch(live, patch)
    assert json.dumps([live, patch]) == before


CONTAINERS = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from("abcd")}, optional={"image": st.sampled_from("xy")}),
    max_size=4,
    unique_by=lambda each: each["name"],
)


@given(CONTAINERS, CONTAINERS)
def test_a_patch_of_a_list_applied_twice_is_applied_once(live: list[Any], patch: list[Any]) -> None:
    once = strategic_merge_patch(pod(*live), pod(*patch), POD)
    assert strategic_merge_patch(once, pod(*patch), POD) == once
    assert {each["name"] for each in once["spec"]["containers"]} == {each["name"] for each in [*live, *patch]}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"$setElementOrder/affinity": ["x"]}, "expected slice or array type, but got: struct"),
        ({"$setElementOrder/tolerations": 1}, "expected a []interface {}, but received a int64"),
        ({"$setElementOrder/tolerations": {}}, "expected a []interface {}, but received a map[string]interface {}"),
        ({"$setElementOrder/tolerations": 1.5}, "expected a []interface {}, but received a float64"),
        ({"$setElementOrder/tolerations": None}, "expected a []interface {}, but received a %!s(<nil>)"),
    ],
)
def test_an_order_is_a_list_for_a_list(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(PatchError) as caught:
        strategic_merge_patch(pod(A, affinity={}, tolerations=[]), {"spec": spec}, POD)
    assert message in str(caught.value)
