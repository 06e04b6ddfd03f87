"""How long ago, in two or three figures: `45s`, `3m20s`, `27h`, `5d3h`, exactly as kubectl users know it."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from mooring.kube.times import moment

__all__ = ["human_duration", "parsed", "since"]

_MICROSECOND: Final = timedelta(microseconds=1)
_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 24 * _HOUR
_YEAR: Final = 365 * _DAY


def _whole_seconds(span: timedelta) -> int:
    """Cut towards zero, also below zero."""
    micros = span // _MICROSECOND
    return micros // 1_000_000 if micros >= 0 else -(-micros // 1_000_000)


def human_duration(span: timedelta) -> str:
    """A span in words. Clocks differ a little, so up to a second in the future is now; more is `<invalid>`."""
    seconds = _whole_seconds(span)
    if seconds < -1:
        return "<invalid>"
    if seconds < 2 * _MINUTE:
        return f"{max(seconds, 0)}s"
    if seconds < 10 * _MINUTE:
        return _two(seconds, _MINUTE, "m", 1, "s")
    if seconds < 3 * _HOUR:
        return f"{seconds // _MINUTE}m"
    if seconds < 8 * _HOUR:
        return _two(seconds, _HOUR, "h", _MINUTE, "m")
    if seconds < 2 * _DAY:
        return f"{seconds // _HOUR}h"
    if seconds < 8 * _DAY:
        return _two(seconds, _DAY, "d", _HOUR, "h")
    if seconds < 2 * _YEAR:
        return f"{seconds // _DAY}d"
    if seconds < 8 * _YEAR:
        return _two(seconds, _YEAR, "y", _DAY, "d")
    return f"{seconds // _YEAR}y"


def _two(seconds: int, large: int, name: str, small: int, small_name: str) -> str:
    rest = seconds % large // small
    return f"{seconds // large}{name}{rest}{small_name}" if rest else f"{seconds // large}{name}"


@lru_cache(maxsize=4096)
def parsed(text: str) -> datetime:
    """The moment a timestamp of the API names; ValueError when it names none."""
    found = moment(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def since(text: str | None, now: datetime) -> str:
    """How long a timestamp of the API is ago."""
    return human_duration(now - parsed(text)) if text else "<unknown>"
