"""Points in time and durations: how they are read and written, and their parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mooring.kube.cel.functions.model import Function
from mooring.kube.cel.values import NANOSECONDS, Duration, Timestamp

__all__ = ["TIMES", "duration_seconds", "read_duration", "read_timestamp", "timestamp_text"]

_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": NANOSECONDS,
    "m": 60 * NANOSECONDS,
    "h": 3600 * NANOSECONDS,
}
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_MOMENT: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_OFFSET: Final = re.compile(r"([+-]?)([0-9]{2}):([0-9]{2})")


def read_duration(text: str) -> Duration:
    """A duration as Go writes them."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return Duration(0)
    total, at = 0, 0
    while at < len(rest):
        found = _PART.match(rest, at)
        if found is None or not (found[1] or found[2]):
            break
        unit = _UNITS[found[3]]
        fraction = found[2] or ""
        total += int(found[1] or 0) * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
        at = found.end()
    if not rest or at < len(rest) or total >= 2**63:
        raise ValueError("type conversion error from 'string' to 'google.protobuf.Duration'")
    return Duration(sign * total)


def read_timestamp(text: str) -> Timestamp:
    """A point in time as RFC 3339 writes them."""
    found = _MOMENT.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        year, month, day, hour, minute, second = (int(found[index]) for index in range(1, 7))
        zone = UTC if found[8] in "Zz" else _fixed(found[8])
        moment = datetime(year, month, day, hour, minute, second, tzinfo=zone)
    except ValueError:
        raise ValueError("type conversion error from 'string' to 'google.protobuf.Timestamp'") from None
    seconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    fraction = int((found[7] or "").ljust(9, "0")[:9])
    return Timestamp(seconds * NANOSECONDS + fraction, zone.utcoffset(None))


def duration_seconds(duration: int) -> str:
    """A duration in seconds: `90s`, `0.5s`."""
    sign, total = ("-", -int(duration)) if duration < 0 else ("", int(duration))
    whole, rest = divmod(total, NANOSECONDS)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{sign}{whole}{fraction}s"


def timestamp_text(moment: Timestamp) -> str:
    seconds, rest = divmod(int(moment), NANOSECONDS)
    found = Timestamp(seconds * NANOSECONDS).at(timezone(moment.offset))
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    text = found.replace(microsecond=0, tzinfo=None).isoformat()
    return f"{text}{fraction}{found.isoformat()[-6:] if moment.offset else 'Z'}"


def _fixed(text: str) -> timezone:
    found = _OFFSET.fullmatch(text)
    if found is None:
        raise ValueError(text)
    offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
    return timezone(-offset if found[1] == "-" else offset)


def _zone(name: str) -> tzinfo:
    if _OFFSET.fullmatch(name):
        return _fixed(name)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"unknown time zone {name}") from None


def _part(take: Callable[[datetime], int]) -> Callable[..., int]:
    def call(moment: Timestamp, zone: str | None = None) -> int:
        return take(moment.at(UTC if zone is None else _zone(zone)))

    return call


def _towards_zero(unit: int) -> Callable[[Any], int]:
    return lambda duration: -(-int(duration) // unit) if duration < 0 else int(duration) // unit


_PARTS: Final[dict[str, Callable[[datetime], int]]] = {
    "getFullYear": lambda at: at.year,
    "getMonth": lambda at: at.month - 1,
    "getDayOfYear": lambda at: at.timetuple().tm_yday - 1,
    "getDayOfMonth": lambda at: at.day - 1,
    "getDate": lambda at: at.day,
    "getDayOfWeek": lambda at: at.isoweekday() % 7,
    "getHours": lambda at: at.hour,
    "getMinutes": lambda at: at.minute,
    "getSeconds": lambda at: at.second,
    "getMilliseconds": lambda at: at.microsecond // 1000,
}

TIMES: Final = (
    *(Function(name, ("timestamp",), "int", _part(take), member=True) for name, take in _PARTS.items()),
    *(Function(name, ("timestamp", "string"), "int", _part(take), member=True) for name, take in _PARTS.items()),
    Function("getHours", ("duration",), "int", _towards_zero(3600 * NANOSECONDS), member=True),
    Function("getMinutes", ("duration",), "int", _towards_zero(60 * NANOSECONDS), member=True),
    Function("getSeconds", ("duration",), "int", _towards_zero(NANOSECONDS), member=True),
    Function("getMilliseconds", ("duration",), "int", _towards_zero(10**6), member=True),
)
