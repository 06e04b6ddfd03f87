"""Equal values are held once, in a table that never grows beyond its bound."""

from __future__ import annotations

from mooring.kube.interning import intern


def test_the_first_value_of_a_key_is_found_again() -> None:
    table: dict[str, list[str]] = {}
    first = ["a"]
    assert intern(table, "labels", first, 8) is first
    assert table.get("labels") is first


def test_a_full_table_starts_over_and_still_holds_the_newest_value() -> None:
    table: dict[int, int] = {}
    for number in range(10):
        intern(table, number, number * 2, 3)
        assert len(table) <= 3
        assert table.get(number) == number * 2
