"""Durations as Kubernetes writes them: 90s, 5m, 1h30m."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

__all__ = ["duration_text", "parse_duration"]

_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
# What a duration of Kubernetes holds: 63 bits of nanoseconds, 292 years.
_MAX_SECONDS: Final = 2**63 / 1e9
_WHOLE: Final = re.compile(rf"(?:{_PART.pattern})+")


def parse_duration(text: str) -> timedelta | None:
    """None when it cannot be read, or is longer than Kubernetes knows."""
    if not _WHOLE.fullmatch(text):
        return None
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    return timedelta(seconds=seconds) if seconds < _MAX_SECONDS else None


def duration_text(duration: timedelta) -> str:
    """Whole seconds as Go prints them: 1h0m0s, 15m0s, 30s."""
    seconds = int(duration.total_seconds())
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    hours, minutes = divmod(seconds // 60, 60)
    text = f"{seconds % 60}s"
    if seconds >= 60:
        text = f"{minutes}m{text}"
    return f"{sign}{hours}h{text}" if hours else f"{sign}{text}"
