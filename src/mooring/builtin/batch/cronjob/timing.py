"""Which of its moments a CronJob has not met yet, and when the next one is."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from mooring.api.batch.recurrence import Recurrence
from mooring.api.batch.views import CronJob
from mooring.kube.times import moment

# More moments than this without a Job are a sign of a clock that was wrong, and are told.
MANY_MISSED: Final = 100
_MIN_INTERVAL: Final = timedelta(seconds=1)


class InvalidScheduleError(Exception):
    """A schedule that can be read and that has no two moments."""


class Missed(NamedTuple):
    """The last moment that has come without a Job, if any has, and about how many have."""

    last: datetime | None
    number: int


def missed(cron_job: CronJob, recurrence: Recurrence, now: datetime) -> Missed:
    """Moments before the starting deadline do not count: no Job is made for them."""
    earliest = _since(cron_job)
    deadline = cron_job.spec.starting_deadline_seconds
    if deadline is not None:
        earliest = max(earliest, now - timedelta(seconds=deadline))
    return _missed_since(earliest, recurrence, now)


def next_run(cron_job: CronJob, recurrence: Recurrence, now: datetime) -> datetime | None:
    """When there is something to do again by the schedule."""
    earliest = _since(cron_job)
    try:
        found = _missed_since(earliest, recurrence, now)
    except InvalidScheduleError:
        return recurrence.next(now)
    if found.last is None:
        return recurrence.next(now if found.number else earliest)
    return recurrence.next(found.last)


def _since(cron_job: CronJob) -> datetime:
    last = cron_job.status.last_schedule_time or cron_job.metadata.creation_timestamp
    assert last is not None, "an object that was stored has a time of creation"
    return moment(last)


def _missed_since(earliest: datetime, recurrence: Recurrence, now: datetime) -> Missed:
    first = recurrence.next(earliest)
    if first is not None and now < first:
        return Missed(None, 0)
    second = None if first is None else recurrence.next(first)
    if first is not None and second is not None and now < second:
        return Missed(first, 0)
    if first is None or second is None or second - first < _MIN_INTERVAL:
        raise InvalidScheduleError("time difference between two schedules is less than 1 second")
    # How many fit in is enough to know; only the last stretch is gone through, since intervals need not be even.
    interval = second - first
    count = (now - first) // interval + 1
    found, last = recurrence.next(first + (count - 2) * interval), None
    while found is not None and found <= now:
        found, last = recurrence.next(found), found
    return Missed(last, count)
