"""Which word was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mooring.placement.advise.nearest import distances, meant, meant_key


@pytest.mark.parametrize(
    ("word", "other", "slips"),
    [
        ("training", "training", 0),
        ("training", "trainign", 1),
        ("training", "trainin", 1),
        ("training", "trainning", 1),
        ("training", "trazning", 1),
        ("gpu", "cpu", 1),
        ("kitten", "sitting", 3),
        ("", "abc", 3),
        ("abc", "", 3),
    ],
)
def test_slips_are_counted(word: str, other: str, slips: int) -> None:
    assert distances(word, ["filler", other]).tolist()[1] == slips


@given(st.text("abc", max_size=6), st.lists(st.text("abc", max_size=6), min_size=1, max_size=5))
def test_distances_are_those_of_the_textbook(word: str, others: list[str]) -> None:
    assert distances(word, others).tolist() == [textbook(word, other) for other in others]


def textbook(left: str, right: str) -> int:
    """Optimal string alignment, one cell after another."""
    table = {(i, j): i + j for i in range(len(left) + 1) for j in range(len(right) + 1) if not i or not j}
    for i in range(1, len(left) + 1):
        for j in range(1, len(right) + 1):
            cost = left[i - 1] != right[j - 1]
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
            if i > 1 and j > 1 and left[i - 1] == right[j - 2] and left[i - 2] == right[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(left), len(right)]


def test_the_nearest_word_is_meant() -> None:
    assert meant("trainign", ["training", "inference"]) == "training"
    assert meant("TRAINING", ["training"]) == "training"


def test_another_number_is_another_word_in_whatever_case() -> None:
    assert meant("h100", ["H100", "H200"]) == "H100"
    assert meant("h200", ["H100"]) is None


def test_nothing_is_meant_when_nothing_is_near() -> None:
    assert meant("batch", ["training", "inference"]) is None
    assert meant("a", ["b"]) is None
    assert meant("anything", []) is None


def test_nothing_is_meant_when_several_are_equally_near() -> None:
    assert meant("eu-west-1d", ["eu-west-1a", "eu-west-1b"]) is None


def test_other_digits_make_another_word() -> None:
    assert meant("gen5-large", ["gen4-large"]) is None


def test_a_key_may_lack_its_prefix() -> None:
    assert meant_key("gpu.product", ["nvidia.com/gpu.product", "kubernetes.io/os"]) == "nvidia.com/gpu.product"
    assert meant_key("product", ["a.com/product", "b.com/product"]) is None
