"""Counts in words."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mooring.kube.words import share, spell


@pytest.mark.parametrize(
    ("count", "total", "said"),
    [(8, 8, "all 8 groups"), (3, 8, "3 of 8 groups"), (1, 1, "the group"), (0, 1, "0 of 1 group")],
)
def test_a_single_one_is_not_counted_in_the_plural(count: int, total: int, said: str) -> None:
    assert share(count, total, "groups") == said


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (None, "-"),
        (timedelta(), "0s"),
        (timedelta(seconds=0.9), "0s"),
        (timedelta(seconds=90), "1m30s"),
        (timedelta(hours=2), "2h"),
        (timedelta(days=1, seconds=1), "24h1s"),
    ],
)
def test_times_are_spelled_without_what_is_zero(span: timedelta | None, text: str) -> None:
    assert spell(span) == text
