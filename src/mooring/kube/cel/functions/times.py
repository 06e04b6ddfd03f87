"""Points in time and durations: how they are read and written, and their parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mooring.kube.cel.functions.model import Function
from mooring.kube.cel.values import NANOSECONDS, Duration, Timestamp

__all__ = ["MOMENTS", "TIMES", "duration_seconds", "read_duration", "read_timestamp", "timestamp_text"]

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
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})",
    re.A,
)
_WHOLE: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_NO_MOMENT: Final = "type conversion error from 'string' to 'google.protobuf.Timestamp'"
# The first and the last nanosecond of the years that RFC 3339 has.
MOMENTS: Final = range(-62135596800 * NANOSECONDS, 253402300800 * NANOSECONDS)


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
    if not rest or at < len(rest) or total >= 2**63 + (sign < 0):
        raise ValueError("type conversion error from 'string' to 'google.protobuf.Duration'")
    return Duration(sign * total)


def read_timestamp(text: str) -> Timestamp:
    """A point in time as RFC 3339 writes them."""
    found = _MOMENT.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        year, month, day, hour, minute, second = (int(found[index]) for index in range(1, 7))
        offset = timedelta(0) if found[8] == "Z" else _offset(found[8])
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        raise ValueError(_NO_MOMENT) from None
    seconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1) - offset // timedelta(seconds=1)
    fraction = int((found[7] or "").ljust(9, "0")[:9])
    if seconds * NANOSECONDS + fraction not in MOMENTS:
        raise ValueError(_NO_MOMENT)
    return Timestamp(seconds * NANOSECONDS + fraction, offset)


def duration_seconds(duration: int) -> str:
    """A duration in seconds: `90s`, `0.5s`."""
    # As a number of 64 bits has it.
    whole, rest = divmod(abs(int(duration)), NANOSECONDS)
    seconds = float(whole) + rest / NANOSECONDS
    shown = f"{Decimal(repr(seconds)):f}"
    return f"{'-' if duration < 0 else ''}{shown.removesuffix('.0')}s"


def timestamp_text(moment: Timestamp) -> str:
    seconds, rest = divmod(int(moment), NANOSECONDS)
    try:
        found = Timestamp(seconds * NANOSECONDS).shifted(moment.offset)
    except OverflowError:
        raise ValueError("timestamp overflow") from None
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    minutes = moment.offset // timedelta(minutes=1)
    hours, left = divmod(abs(minutes), 60)
    zone = f"{'-' if minutes < 0 else '+'}{hours:02d}:{left:02d}" if minutes else "Z"
    return f"{found.replace(microsecond=0, tzinfo=None).isoformat()}{fraction}{zone}"


def _offset(text: str) -> timedelta:
    """Go takes up to 24 hours and 60 minutes."""
    hours, minutes = int(text[1:3]), int(text[4:])
    if hours > 24 or minutes > 60:
        raise ValueError(text)
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if text[0] == "-" else offset


def _in_zone(moment: Timestamp, name: str) -> datetime:
    hours, colon, minutes = name.partition(":")
    if colon:
        for part in (hours, minutes):
            if not _WHOLE.fullmatch(part):
                raise ValueError(f'strconv.Atoi: parsing "{part}": invalid syntax')
        total = int(hours) * 60 + (-int(minutes) if name.startswith("-") else int(minutes))
        return moment.shifted(timedelta(minutes=total))
    if name in ("", "Local"):
        return moment.at(UTC)
    try:
        return moment.at(ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"unknown time zone {name}") from None


def _part(take: Callable[[datetime], int]) -> Callable[..., int]:
    def call(moment: Timestamp, zone: str | None = None) -> int:
        try:
            return take(moment.at(UTC) if zone is None else _in_zone(moment, zone))
        except OverflowError:
            # Years that there are in Go alone: calendars are the same every 400 years.
            away = _CENTURIES if moment < 0 else -_CENTURIES
            near = take(_in_zone(Timestamp(int(moment) + away * _DAYS), zone or ""))
            return near - away if take is _year else near

    return call


def _towards_zero(unit: int) -> Callable[[Any], int]:
    return lambda duration: -(-int(duration) // unit) if duration < 0 else int(duration) // unit


def _year(at: datetime) -> int:
    return at.year


_CENTURIES: Final = 400
# In nanoseconds per year of these.
_DAYS: Final = 146097 * 86400 * NANOSECONDS // _CENTURIES
_PARTS: Final[dict[str, Callable[[datetime], int]]] = {
    "getFullYear": _year,
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
