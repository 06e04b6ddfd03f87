"""Counts in words."""

from __future__ import annotations

import pytest

from mooring.kube.words import share


@pytest.mark.parametrize(
    ("count", "total", "said"),
    [(8, 8, "all 8 groups"), (3, 8, "3 of 8 groups"), (1, 1, "the group"), (0, 1, "0 of 1 group")],
)
def test_a_single_one_is_not_counted_in_the_plural(count: int, total: int, said: str) -> None:
    assert share(count, total, "groups") == said
