"""How a CronJob's schedule is written: five fields, nicknames and time zones, read as the API reads them."""

import re
from datetime import timedelta, tzinfo
from typing import Final

from mooring.api.batch.recurrence import CalendarTimes, ConstantDelay, Recurrence
from mooring.kube.errors import go_quote

__all__ = ["ScheduleError", "parse_schedule", "schedule_problem", "time_zone", "time_zone_problem"]

_NICKNAMES: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY: Final = "@every "
_DURATION: Final = re.compile(r"[-+]?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+|0").fullmatch
_DURATION_PART: Final = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_UNIT_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_MONTH_NAMES: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS: Final = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_DAYS: Final = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
# Minute, hour, day of month, month, day of week: from, to, and names.
_BOUNDS: Final[tuple[tuple[int, int, dict[str, int]], ...]] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)
_ZONE_PART: Final = re.compile(r"[A-Za-z._\-+0-9]{1,30}").fullmatch
_ZONES_KNOWN_EVERYWHERE: Final = frozenset({"UTC", "Etc/UTC", "GMT"})
_LARGEST: Final = 2**63 - 1


class ScheduleError(Exception):
    """What is wrong with a schedule."""


def schedule_problem(schedule: str) -> str:
    """Why the schedule cannot be read; empty when it can."""
    try:
        parse_schedule(schedule)
    except ScheduleError as problem:
        return str(problem)
    return ""


def parse_schedule(schedule: str, zone: tzinfo | None = None) -> Recurrence:
    """The moments of a schedule, told by the clocks of a zone or else by UTC. Raises ScheduleError."""
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        # The API takes this from nobody any more; it may stand in what was stored long ago.
        named, _, schedule = schedule.partition(" ")
        zone, schedule = time_zone(named.partition("=")[2]), schedule.strip()
    if schedule.startswith("@") and schedule not in _NICKNAMES:
        return _constant_delay(schedule)
    fields = _NICKNAMES.get(schedule, schedule).split()
    if len(fields) != 5:
        raise ScheduleError(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    found: list[frozenset[int]] = []
    stars: list[bool] = []
    for text, (low, high, names) in zip(fields, _BOUNDS, strict=True):
        spans = [_span(expression, low, high, names) for expression in text.split(",") if expression]
        found.append(frozenset(value for values, _ in spans for value in values))
        stars.append(any(starred for _, starred in spans))
    minutes, hours, days, months, weekdays = found
    return CalendarTimes(minutes, hours, days, months, weekdays, either_day=not (stars[2] or stars[4]), zone=zone)


def _constant_delay(text: str) -> ConstantDelay:
    if not text.startswith(_EVERY):
        raise ScheduleError(f"unrecognized descriptor: {text}")
    duration = text.removeprefix(_EVERY)
    if not _DURATION(duration):
        raise ScheduleError(f"failed to parse duration {text}: time: invalid duration {go_quote(duration)}")
    total = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _DURATION_PART.findall(duration))
    seconds = -total if duration.startswith("-") else total
    return ConstantDelay(timedelta(seconds=max(int(seconds), 1)))


def _span(expression: str, low: int, high: int, names: dict[str, int]) -> tuple[range, bool]:
    """The values of one expression, and whether it stands for all of them."""
    span, *steps = expression.split("/")
    first, *rest = span.split("-")
    if first in ("*", "?"):
        start, end = low, high
    else:
        start = _number(first, names)
        if len(rest) > 1:
            raise ScheduleError(f"too many hyphens: {expression}")
        end = _number(rest[0], names) if rest else start
    if len(steps) > 1:
        raise ScheduleError(f"too many slashes: {expression}")
    step = _number(steps[0], {}) if steps else 1
    if steps and not rest:
        end = high
    if start < low:
        raise ScheduleError(f"beginning of range ({start}) below minimum ({low}): {expression}")
    if end > high:
        raise ScheduleError(f"end of range ({end}) above maximum ({high}): {expression}")
    if start > end:
        raise ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {expression}")
    if step == 0:
        raise ScheduleError(f"step of range should be a positive number: {expression}")
    return range(start, end + 1, step), first in ("*", "?") and step == 1


def _number(text: str, names: dict[str, int]) -> int:
    named = names.get(text.lower())
    if named is not None:
        return named
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        why = f"strconv.Atoi: parsing {go_quote(text)}: invalid syntax"
        raise ScheduleError(f"failed to parse int from {text}: {why}")
    number = int(text)
    if number > _LARGEST:
        why = f"strconv.Atoi: parsing {go_quote(text)}: value out of range"
        raise ScheduleError(f"failed to parse int from {text}: {why}")
    if number < 0:
        raise ScheduleError(f"negative number ({number}) not allowed: {text}")
    return number


def time_zone_problem(name: str) -> str:
    """Why a name is not that of a time zone; empty when it is."""
    if not name:
        return "timeZone must be nil or non-empty string"
    for part in name.split("/"):
        if part in (".", "..") or part.startswith("-") or not _ZONE_PART(part):
            return f"unknown time zone {name}"
    if name.lower() == "local":
        return "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
    if name in _ZONES_KNOWN_EVERYWHERE or time_zone(name) or not time_zone("Europe/Berlin"):
        # A machine without a list of zones cannot tell, and lets pass what looks like one.
        return ""
    return f"unknown time zone {name}"


def time_zone(name: str) -> tzinfo | None:
    """The zone of a name; None where this machine does not know it."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None
