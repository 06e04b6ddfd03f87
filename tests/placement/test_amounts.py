"""Amounts in words: never more than there is, never less than is asked for, and no further off than a tenth."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from mooring.placement.causes.amounts import amount, scattered, shortage, spread_of

UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def read(text: str) -> tuple[Fraction, Fraction]:
    """A number in words, and what a tenth of its unit is."""
    unit = next((factor for suffix, factor in UNITS.items() if text.endswith(suffix)), 1)
    digits = text[:-2] if unit > 1 else text
    return Fraction(digits) * unit, Fraction(unit, 10) if unit > 1 else Fraction(0)


@pytest.mark.parametrize("resource", ["memory", "ephemeral-storage", "hugepages-2Mi"])
def test_bytes_are_told_in_the_largest_unit_to_a_tenth_of_it(resource: str) -> None:
    drawn = random.Random(1)
    numbers = [factor + more for factor in (1, *UNITS.values()) for more in (-1, 0, 1)]
    numbers += [drawn.randrange(2 ** drawn.randrange(1, 45)) for _ in range(300)]
    for number in numbers:
        for up in (False, True):
            told, tenth = read(amount(resource, number, up=up))
            assert (told >= number) if up else (told <= number), number
            assert abs(told - number) < max(tenth, Fraction(1, 2)), number
            largest = max((factor for factor in (1, *UNITS.values()) if number >= factor), default=1)
            assert tenth == (Fraction(largest, 10) if largest > 1 else 0), number


@pytest.mark.parametrize(
    ("resource", "number", "text"),
    [
        ("cpu", 2000, "2"),
        ("cpu", 1500, "1.5"),
        ("cpu", 250, "0.25"),
        ("cpu", 1, "0.001"),
        ("memory", 1536 * 2**20, "1.5Gi"),
        ("memory", 1000, "1000"),
        ("memory", 1025, "1Ki"),
        ("nvidia.com/gpu", 2048, "2048"),
        ("example.com/memory", 2**30, str(2**30)),
    ],
)
def test_an_amount_reads_as_people_write_it(resource: str, number: int, text: str) -> None:
    assert amount(resource, number) == text


def test_what_nodes_have_is_rounded_down_and_what_is_asked_for_up() -> None:
    almost = 2**30 + 1
    assert amount("memory", almost) == "1Gi"
    assert amount("memory", almost, up=True) == "1.1Gi"
    assert spread_of("memory", np.array([almost, 2 * almost])) == "1Gi to 2Gi"
    assert shortage("memory", almost, np.array([2**30]), np.array([5])) == "needs 1.1Gi memory, has only 1Gi"


def test_a_shortage_tells_what_is_free_or_what_there_is_at_all() -> None:
    def told(needed: int, allocatable: list[int], free: list[int]) -> str:
        return shortage("gpu", needed, np.array(allocatable), np.array(free))

    assert told(2, [0, 0], [0, 0]) == "needs 2 gpu, has none"
    assert told(2, [1, 0], [1, 0]) == "needs 2 gpu, has only 0 to 1"
    assert told(2, [2, 4], [-1, 1]) == "needs 2 gpu, 0 to 1 of 2 to 4 free"
    assert told(2, [2], [0]) == "needs 2 gpu, none of 2 free"


def test_what_is_free_in_pieces_is_told_only_where_it_would_do_together() -> None:
    assert scattered("gpu", 4, np.array([2, 3, -1])) == "5 gpu free in all, at most 3 on one node"
    assert scattered("gpu", 5, np.array([2, 3])) == "5 gpu free in all, at most 3 on one node"
    assert scattered("gpu", 6, np.array([2, 3])) == ""
    assert scattered("gpu", 3, np.array([2, 3])) == ""
    assert scattered("gpu", 1, np.array([], dtype=np.int64)) == ""
