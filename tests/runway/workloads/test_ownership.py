"""Who belongs to whom, whatever arrives first."""

from __future__ import annotations

from mooring.runway.workloads.ownership import Ownership


def test_the_top_is_found_through_all_owners_that_are_there() -> None:
    owners = Ownership()
    owners.put("pod", "set")
    assert owners.top("pod") == "pod"
    assert owners.put("set", "deployment") >= {"pod", "set"}
    assert owners.top("pod") == "set"
    owners.put("deployment", "")
    assert (owners.top("pod"), owners.top("set")) == ("deployment", "deployment")
    assert set(owners.below("deployment")) == {"set", "pod"}


def test_what_lost_its_owner_is_on_its_own_again() -> None:
    owners = Ownership()
    owners.put("set", "")
    owners.put("pod", "set")
    assert "pod" in owners.remove("set")
    assert owners.top("pod") == "pod"
    assert owners.remove("set") == set()


def test_owners_in_a_circle_do_not_hang() -> None:
    owners = Ownership()
    owners.put("a", "b")
    owners.put("b", "a")
    assert owners.top("a") in ("a", "b")
    assert set(owners.below("a")) == {"b"}
