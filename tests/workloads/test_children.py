"""Wanted children against those that exist."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mooring.api.meta import Bare
from mooring.workloads.children import compare
from tests.workloads.objects import bare

NOON = "2026-01-01T12:00:00Z"


def children(*names: str, going: str = "") -> dict[str, Bare]:
    stamps = {name: NOON if name == going else None for name in names}
    return {name: bare(name, deletion_timestamp=stamp) for name, stamp in stamps.items()}


def test_children_are_missing_kept_or_too_many() -> None:
    existing = children("a", "b")
    found = compare({"c": 3, "a": 1}, existing)
    assert found.missing == {"c": 3}
    assert found.kept == {"a": (existing["a"], 1)}
    assert found.surplus == [existing["b"]]


def test_a_slot_is_not_filled_before_the_child_in_it_is_gone() -> None:
    found = compare({"a": 1}, children("a", going="a"))
    assert found.terminating == {"a": 1}
    assert (found.missing, found.kept, found.surplus) == ({}, {}, [])


def test_what_is_on_its_way_out_is_not_deleted_again() -> None:
    assert compare({}, children("a", going="a")).surplus == []


@given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")))
def test_carrying_out_a_comparison_ends_with_what_is_wanted(wanted: set[str], existing: set[str]) -> None:
    found = compare(dict.fromkeys(wanted, 0), children(*existing))
    left = existing - {child.metadata.name for child in found.surplus} | found.missing.keys()
    assert left == wanted
    again = compare(dict.fromkeys(wanted, 0), children(*left))
    assert (again.missing, again.surplus) == ({}, [])
