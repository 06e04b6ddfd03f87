"""Durations as Go writes them, which is how the status of a job has them."""

from __future__ import annotations

__all__ = ["go_duration"]


def go_duration(seconds: float) -> str:
    """0s, 250ms, 1.5s, 2m3.4s, 1h0m0s; to the millisecond."""
    milliseconds = round(seconds * 1000)
    if milliseconds == 0:
        return "0s"
    if milliseconds < 1000:
        return f"{milliseconds}ms"
    minutes, rest = divmod(milliseconds, 60_000)
    text = f"{rest / 1000:.3f}".rstrip("0").rstrip(".") + "s"
    if minutes == 0:
        return text
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes}m{text}" if hours else f"{minutes}m{text}"
