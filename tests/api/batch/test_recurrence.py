"""When a schedule comes round. The moments are those that the cron library of Kubernetes gives."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mooring.api.batch.schedules import ScheduleError, parse_schedule, time_zone

# A schedule, its zone, a moment, and those that follow.
MOMENTS = {
    "working hours end for the weekend": (
        "*/15 9-17 * * 1-5", "Europe/Berlin", "2026-03-27T16:50", "2026-03-30T07:00 2026-03-30T07:15",
    ),
    "an hour that clocks leave out": (
        "30 2 * * *", "Europe/Berlin", "2026-03-28T00:00", "2026-03-28T01:30 2026-03-30T00:30",
    ),
    "an hour that clocks show twice": (
        "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00", "2026-10-25T00:30 2026-10-25T01:30 2026-10-26T01:30",
    ),
    "half an hour that clocks show twice": (
        "30 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00", "2026-04-04T14:30 2026-04-04T15:00 2026-04-05T15:00",
    ),
    "a midnight that clocks leave out": (
        "0 0 * * *", "America/Sao_Paulo", "2018-11-03T00:00", "2018-11-03T03:00 2018-11-05T02:00",
    ),
    "a day that most years lack": ("0 0 29 2 *", "", "2026-01-01T00:00", "2028-02-29T00:00 2032-02-29T00:00"),
    "a day of the month or of the week": (
        "0 12 1,15 * 5", "", "2026-01-01T00:00", "2026-01-01T12:00 2026-01-02T12:00 2026-01-09T12:00 2026-01-15T12:00",
    ),
    "days of the month": ("0 12 1,15 * *", "", "2026-01-10T00:00", "2026-01-15T12:00 2026-02-01T12:00"),
    "every so many days is no star": (
        "0 12 */14 * 5", "", "2026-01-10T00:00", "2026-01-15T12:00 2026-01-16T12:00 2026-01-23T12:00 2026-01-29T12:00",
    ),
    "from a minute on, in named months": (
        "5/20 * * jan,jul ?", "", "2026-01-31T23:30", "2026-01-31T23:45 2026-07-01T00:05 2026-07-01T00:25",
    ),
    "a nickname in a zone": ("@weekly", "America/New_York", "2026-10-30T00:00", "2026-11-01T04:00 2026-11-08T05:00"),
    "again and again": ("@every 1h30m", "", "2026-01-10T00:00", "2026-01-10T01:30 2026-01-10T03:00"),
}  # fmt: skip


@pytest.mark.parametrize(("schedule", "zone", "start", "following"), MOMENTS.values(), ids=MOMENTS.keys())
def test_it_comes_round(schedule: str, zone: str, start: str, following: str) -> None:
    recurrence = parse_schedule(schedule, time_zone(zone) if zone else None)
    at: datetime | None = datetime.fromisoformat(start).replace(tzinfo=UTC)
    for wanted in following.split():
        assert at is not None
        at = recurrence.next(at)
        assert at == datetime.fromisoformat(wanted).replace(tzinfo=UTC)


@pytest.mark.parametrize("schedule", ["0 0 31 2 *", ", * * * *"])
def test_it_never_comes(schedule: str) -> None:
    assert parse_schedule(schedule).next(datetime(2026, 1, 1, tzinfo=UTC)) is None


def test_less_than_a_second_is_a_second() -> None:
    at = datetime(2026, 1, 1, 0, 0, 7, 250_000, tzinfo=UTC)
    assert parse_schedule("@every 500ms").next(at) == datetime(2026, 1, 1, 0, 0, 8, tzinfo=UTC)


def test_a_run_is_not_lost_where_midnight_is_missing_and_the_library_of_kubernetes_loses_it() -> None:
    recurrence = parse_schedule("0 5 29 3 *", time_zone("Asia/Beirut"))
    assert recurrence.next(datetime(2026, 3, 28, tzinfo=UTC)) == datetime(2026, 3, 29, 2, tzinfo=UTC)


def test_what_cannot_be_read_is_said() -> None:
    with pytest.raises(ScheduleError, match="unrecognized descriptor: @sometimes"):
        parse_schedule("@sometimes")
