"""When a CronJob runs: the five fields of its schedule, the nicknames, and time zones, read as the API reads them."""

import re
from typing import Final

from mooring.kube.errors import go_quote

__all__ = ["schedule_problem", "time_zone_problem"]

_NICKNAMES: Final = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_EVERY: Final = "@every "
_DURATION: Final = re.compile(r"[-+]?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+|0").fullmatch
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


class _ProblemError(Exception):
    """What is wrong with a schedule."""


def schedule_problem(schedule: str) -> str:
    """Why the schedule cannot be read; empty when it can."""
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        schedule = schedule.partition(" ")[2].strip()
    if schedule.startswith("@"):
        return _nickname_problem(schedule)
    fields = schedule.split()
    if len(fields) != 5:
        return f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
    try:
        for text, (low, high, names) in zip(fields, _BOUNDS, strict=True):
            for expression in filter(None, text.split(",")):
                _check_range(expression, low, high, names)
    except _ProblemError as problem:
        return str(problem)
    return ""


def _nickname_problem(text: str) -> str:
    if text in _NICKNAMES:
        return ""
    if not text.startswith(_EVERY):
        return f"unrecognized descriptor: {text}"
    duration = text.removeprefix(_EVERY)
    if _DURATION(duration):
        return ""
    return f"failed to parse duration {text}: time: invalid duration {go_quote(duration)}"


def _check_range(expression: str, low: int, high: int, names: dict[str, int]) -> None:
    span, *steps = expression.split("/")
    first, *rest = span.split("-")
    if first in ("*", "?"):
        start, end = low, high
    else:
        start = _number(first, names)
        if len(rest) > 1:
            raise _ProblemError(f"too many hyphens: {expression}")
        end = _number(rest[0], names) if rest else start
    if len(steps) > 1:
        raise _ProblemError(f"too many slashes: {expression}")
    step = _number(steps[0], {}) if steps else 1
    if steps and not rest:
        end = high
    if start < low:
        raise _ProblemError(f"beginning of range ({start}) below minimum ({low}): {expression}")
    if end > high:
        raise _ProblemError(f"end of range ({end}) above maximum ({high}): {expression}")
    if start > end:
        raise _ProblemError(f"beginning of range ({start}) beyond end of range ({end}): {expression}")
    if step == 0:
        raise _ProblemError(f"step of range should be a positive number: {expression}")


def _number(text: str, names: dict[str, int]) -> int:
    named = names.get(text.lower())
    if named is not None:
        return named
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        why = f"strconv.Atoi: parsing {go_quote(text)}: invalid syntax"
        raise _ProblemError(f"failed to parse int from {text}: {why}")
    number = int(text)
    if number > _LARGEST:
        why = f"strconv.Atoi: parsing {go_quote(text)}: value out of range"
        raise _ProblemError(f"failed to parse int from {text}: {why}")
    if number < 0:
        raise _ProblemError(f"negative number ({number}) not allowed: {text}")
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
    if name in _ZONES_KNOWN_EVERYWHERE or _is_zone(name) or not _is_zone("Europe/Berlin"):
        # A machine without a list of zones cannot tell, and lets pass what looks like one.
        return ""
    return f"unknown time zone {name}"


def _is_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
