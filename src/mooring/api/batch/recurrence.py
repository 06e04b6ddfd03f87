"""The moments at which something recurs: at times of the calendar, or again and again after the same delay.

Times of the calendar are read off the clocks of a zone. Where those are put forward, an hour is missing and what was to
happen in it does not; where they are put back, one comes twice and so does what happens in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Protocol

__all__ = ["CalendarTimes", "ConstantDelay", "Recurrence"]

# A schedule that has no moment within these is taken to have none: the 30th of February.
_YEARS_AHEAD: Final = 5
_HOUR: Final = timedelta(hours=1)
_MINUTE: Final = timedelta(minutes=1)
_SECOND: Final = timedelta(seconds=1)


class Recurrence(Protocol):
    def next(self, after: datetime) -> datetime | None:
        """The first moment after another one; None where there is none for years."""


@dataclass(frozen=True, slots=True)
class ConstantDelay:
    """At whole seconds, so many of them after the last time."""

    delay: timedelta

    def next(self, after: datetime) -> datetime | None:
        return after.replace(microsecond=0) + self.delay


@dataclass(frozen=True, slots=True)
class CalendarTimes:
    """`either_day`: a day of the month or one of the week is enough; else it must be both."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool
    zone: tzinfo | None = None

    def next(self, after: datetime) -> datetime | None:
        if not (self.minutes and self.hours and self.months):
            return None
        zone = self.zone or UTC
        found = (after.replace(microsecond=0) + _SECOND).astimezone(zone)
        last_year = found.year + _YEARS_AHEAD
        # Whether it is where an hour begins, from where hours are gone through in real time: one may come twice.
        aligned = False
        while found.year <= last_year:
            if found.month not in self.months:
                found, aligned = _midnight(found.year, found.month + 1, 1, zone), True
            elif not self._is_day(found):
                found, aligned = _midnight(found.year, found.month, found.day + 1, zone), True
            elif found.hour not in self.hours:
                start = found if aligned else _on_the_clock(found.replace(minute=0, second=0), zone)
                found, aligned = _later(start, _HOUR), True
            elif found.minute not in self.minutes or found.second:
                found, aligned = _later(found.replace(second=0), _MINUTE), True
            else:
                return found.astimezone(UTC)
        return None

    def _is_day(self, moment: datetime) -> bool:
        in_month, in_week = moment.day in self.days, moment.isoweekday() % 7 in self.weekdays
        return in_month or in_week if self.either_day else in_month and in_week


def _later(moment: datetime, by: timedelta) -> datetime:
    """So much later in real time, whatever clocks do meanwhile."""
    return (moment.astimezone(UTC) + by).astimezone(moment.tzinfo)


def _on_the_clock(shown: datetime, zone: tzinfo) -> datetime:
    """The moment at which clocks show this. One that they never show becomes another near it."""
    naive = shown.replace(tzinfo=UTC)
    first_guess = naive - (naive.astimezone(zone).utcoffset() or timedelta())
    return (naive - (first_guess.astimezone(zone).utcoffset() or timedelta())).astimezone(zone)


def _midnight(year: int, month: int, day: int, zone: tzinfo) -> datetime:
    """The beginning of a day; a month or day too many is carried over. Where midnight is missing, it is one o'clock."""
    year, month = (year + 1, 1) if month > 12 else (year, month)
    shown = datetime(year, month, 1, tzinfo=UTC) + timedelta(days=day - 1)
    made = _on_the_clock(shown, zone)
    if made.hour > 12:
        made = _later(made, timedelta(hours=24 - made.hour))
    return made
