"""Durations are written as Go writes them."""

from __future__ import annotations

import pytest

from mooring.notebook_runner.durations import go_duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.0004, "0s"),
        (0.25, "250ms"),
        (1, "1s"),
        (1.5, "1.5s"),
        (59.9996, "1m0s"),
        (123.4, "2m3.4s"),
        (3600, "1h0m0s"),
        (90061.001, "25h1m1.001s"),
    ],
)
def test_a_duration_is_written_as_go_writes_it(seconds: float, text: str) -> None:
    assert go_duration(seconds) == text
