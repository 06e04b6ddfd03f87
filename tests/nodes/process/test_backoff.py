"""How long a container that ends again and again waits before its next start."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from mooring.nodes.process.pods.backoff import due, with_pause
from mooring.nodes.process.pods.model import ContainerRecord, End

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def ended(container: ContainerRecord, at: datetime) -> ContainerRecord:
    return replace(container, process="ended", end=End(1, "Error", "", at, at))


def test_the_pause_doubles_up_to_five_minutes() -> None:
    container, now = ended(ContainerRecord(), NOON), NOON
    assert due(container) == NOON
    pauses = []
    for _ in range(7):
        container = ended(with_pause(container, now), now)
        pauses.append((due(container) - now).total_seconds())
        now = due(container)
    assert pauses == [10, 20, 40, 80, 160, 300, 300]


def test_ten_minutes_of_work_make_up_for_the_failures_before() -> None:
    container = with_pause(ended(replace(ContainerRecord(), pause=80.0, paused=NOON), NOON), NOON)
    assert container.pause == 160
    enough = NOON + timedelta(minutes=10)
    just_short = ended(container, enough)
    assert due(just_short) == enough + timedelta(seconds=160)
    assert with_pause(just_short, enough).pause == 300
    later = enough + timedelta(seconds=1)
    assert due(ended(container, later)) == later
    assert with_pause(ended(container, later), later).pause == 10
