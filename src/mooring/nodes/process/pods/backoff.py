"""How long a container that keeps ending waits for its next start: 10 s, doubled each time, at most 5 minutes.

The first restart is immediate. A container that ran for ten minutes begins anew.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from mooring.nodes.process.pods.model import ContainerRecord

__all__ = ["due", "in_words", "with_pause"]

FIRST_SECONDS: Final = 10.0
LONGEST_SECONDS: Final = 300.0
_FORGOTTEN: Final = timedelta(seconds=2 * LONGEST_SECONDS)


def due(container: ContainerRecord) -> datetime:
    """When a container that has ended may start again."""
    assert container.end is not None
    finished = container.end.finished
    if container.paused is None or _forgotten(container, finished):
        return finished
    return finished + timedelta(seconds=container.pause)


def with_pause(container: ContainerRecord, now: datetime) -> ContainerRecord:
    """The container about to be restarted, with the pause that its next end will bring."""
    assert container.end is not None
    fresh = container.paused is None or _forgotten(container, container.end.finished)
    return replace(container, pause=FIRST_SECONDS if fresh else min(container.pause * 2, LONGEST_SECONDS), paused=now)


def in_words(seconds: float) -> str:
    """As Go writes durations: 10s, 1m20s, 5m0s."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _forgotten(container: ContainerRecord, finished: datetime) -> bool:
    assert container.paused is not None
    return finished - container.paused > _FORGOTTEN
