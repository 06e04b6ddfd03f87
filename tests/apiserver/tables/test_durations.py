"""Durations read as kubectl's do; the expected words are those of its own function."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mooring.apiserver.tables import human_duration
from mooring.apiserver.tables.durations import since

WORDS = [
    (-3600, "<invalid>"),
    (-2, "<invalid>"),
    (-1.999, "0s"),
    (-1, "0s"),
    (0, "0s"),
    (0.9, "0s"),
    (1, "1s"),
    (60, "60s"),
    (119.9, "119s"),
    (120, "2m"),
    (121, "2m1s"),
    (599, "9m59s"),
    (600, "10m"),
    (601, "10m"),
    (3599, "59m"),
    (10_799, "179m"),
    (10_800, "3h"),
    (10_860, "3h1m"),
    (28_799, "7h59m"),
    (28_800, "8h"),
    (86_399, "23h"),
    (172_799, "47h"),
    (172_800, "2d"),
    (172_801, "2d"),
    (176_400, "2d1h"),
    (691_199, "7d23h"),
    (691_200, "8d"),
    (31_535_999, "364d"),
    (31_536_000, "365d"),
    (63_071_999, "729d"),
    (63_072_000, "2y"),
    (63_158_400, "2y1d"),
    (94_608_000, "3y"),
    (252_287_999, "7y364d"),
    (252_288_000, "8y"),
    (252_374_400, "8y"),
    (1_000_000_000, "31y"),
]


@pytest.mark.parametrize(("seconds", "words"), WORDS)
def test_a_duration_in_words(seconds: float, words: str) -> None:
    assert human_duration(timedelta(seconds=seconds)) == words


def test_a_moment_is_read_in_any_zone_and_precision() -> None:
    now = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
    assert since("2026-01-01T11:59:30Z", now) == "30s"
    assert since("2026-01-01T12:59:30.000001+01:00", now) == "29s"
    assert since(None, now) == "<unknown>"
