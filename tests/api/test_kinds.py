"""Kinds say how they are followed, which questions may be asked of them, and what may be added by whom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from mooring.api.core.views import Pod
from mooring.api.kinds import Indexers, Key, Kind, by_name, extended, key_of, key_of_object
from mooring.api.meta import Bare, Meta, OwnerRef


def kind(word: str = "Pod", **fields: Any) -> Kind[Pod]:
    return Kind("v1", word, Pod, **fields)


def by_node(pod: Pod) -> Iterable[str]:
    return (pod.spec.node_name,)


def by_phase(pod: Pod) -> Iterable[str]:
    return (pod.status.phase,)


def one(pod: Pod) -> int:
    return 1


def test_an_object_has_the_same_key_as_a_view_and_as_it_is_written() -> None:
    keys = [Key("ns", "a"), Key("", "b")]
    views = [Bare(Meta(name="a", namespace="ns")), Bare(Meta(name="b"))]
    objects = [{"metadata": {"name": "a", "namespace": "ns"}}, {"metadata": {"name": "b"}}]
    assert [*map(key_of, views)] == [*map(key_of_object, objects)] == keys
    assert [*map(str, keys)] == ["ns/a", "b"]


@pytest.mark.parametrize(
    ("fields", "is_partial", "described"),
    [
        pytest.param({}, False, "v1/Pod", id="all of it"),
        pytest.param({"labels": "app=web"}, True, "v1/Pod (app=web)", id="what a selector finds"),
        pytest.param({"name": "settings"}, True, "v1/Pod (settings)", id="one name"),
        pytest.param({"by_name": True}, True, "v1/Pod (by name)", id="single objects"),
        pytest.param({"metadata_only": True}, False, "v1/Pod (metadata)", id="metadata of all"),
        pytest.param(
            {"labels": "a=b", "name": "c", "metadata_only": True, "by_name": True},
            True,
            "v1/Pod (a=b, c, metadata, by name)",
            id="all at once",
        ),
    ],
)
def test_a_kind_says_how_much_of_it_is_followed(fields: dict[str, Any], is_partial: bool, described: str) -> None:
    found = kind(**fields)
    assert (found.is_partial, found.described, str(found)) == (is_partial, described, "v1/Pod")


def test_every_kind_is_asked_by_owner_and_namespace_and_as_a_whole() -> None:
    indexes = kind(indexes={"node": by_node}).every_index
    owners = tuple(OwnerRef(uid=f"u{number}", controller=number > 0) for number in range(3))
    views: list[Any] = [Pod(), Bare(Meta(namespace="ns", owner_references=owners))]
    assert indexes.keys() == {"owner", "namespace", "all", "node"}
    assert [[*indexes[name](each)] for each in views for name in ("owner", "namespace", "all")] == [
        *([], [""], [""]),
        *(["u1"], ["ns"], [""]),
    ]


def test_an_object_stays_in_its_places_with_the_parts_that_all_indexes_read() -> None:
    cases = {
        "indexes that do not say": (kind(indexes={"node": by_node}), []),
        "no index": (kind(), ["metadata"]),
        "indexes of named parts": (kind(indexes={"node": by_node}, placed_by=("spec",)), ["metadata", "spec"]),
        "no part at all": (kind(indexes={"node": by_node}, placed_by=()), ["metadata"]),
    }
    for name, (found, parts) in cases.items():
        assert [*found.stays_with] == parts, name
    plain = kind()
    added: dict[str, tuple[Kind[Pod], list[tuple[str, ...] | None], list[str]]] = {
        "a part": (plain, [("spec",)], ["metadata", "spec"]),
        "a part twice": (plain, [("spec",), ("status", "spec")], ["metadata", "spec", "status"]),
        "one that does not say": (plain, [("spec",), None], []),
        "to one that does not say": (kind(indexes={"node": by_node}), [("spec",)], []),
        "to named parts": (
            kind(indexes={"node": by_node}, placed_by=("spec",)),
            [("status",)],
            ["metadata", "spec", "status"],
        ),
    }
    for name, (start, all_parts, wanted) in added.items():
        indexers = [
            Indexers(start, {f"phase{index}": by_phase}, placed_by=each) for index, each in enumerate(all_parts)
        ]
        assert [*extended(start, indexers).stays_with] == wanted, name


def test_what_controllers_add_to_a_kind_is_there_once_beside_its_own() -> None:
    start, other = kind(indexes={"node": by_node}, counters={"pods": one}), kind()
    first = Indexers(start, {"phase": by_phase}, {"phases": one})
    strange = Indexers(other, {"strange": by_phase})
    found = extended(start, [first, strange, first])
    assert (found.indexes, found.counters) == ({"node": by_node, "phase": by_phase}, {"pods": one, "phases": one})
    assert (start.indexes, start.counters) == ({"node": by_node}, {"pods": one})
    assert extended(start, [strange]) is start
    for twice in (Indexers(start, {"node": by_phase}), Indexers(start, {}, {"pods": one})):
        with pytest.raises(ValueError, match=r"^v1/Pod has an index or counter '(node|pods)' already; give the one"):
            extended(start, [twice])


def test_of_several_views_of_a_kind_its_name_means_the_one_that_is_always_followed_as_a_whole() -> None:
    whole, wide, some, later = kind(), kind(on_demand=True), kind(labels="a=b"), kind(name="x", on_demand=True)
    node = kind("Node", on_demand=True)
    for order in ([whole, wide, some, later, node], [node, later, some, wide, whole]):
        assert by_name(order) == {("v1", "Pod"): whole, ("v1", "Node"): node}
    assert by_name([some, wide]) == by_name([wide, some]) == {("v1", "Pod"): wide}
