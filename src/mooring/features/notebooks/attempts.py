"""Another pod for a job whose pod failed: how often, and when. Times are absolute, so that a restart loses nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from mooring.features.notebooks.api.status import ValidationStatus
from mooring.kube.times import moment

__all__ = ["MAX_ATTEMPTS", "begins_at", "has_another", "next_attempt_at"]

MAX_ATTEMPTS: Final = 3
# How long after a failure the next pod is made: longer each time.
_BACKOFFS: Final = (timedelta(minutes=1), timedelta(minutes=2))


def has_another(status: ValidationStatus) -> bool:
    """Whether an attempt is left after the one that is on."""
    return status.retry_count + 1 < MAX_ATTEMPTS


def next_attempt_at(number: int, failed: datetime) -> datetime:
    """When the attempt of a number, counted from 0, begins after the one before it failed."""
    return failed + _BACKOFFS[min(number, len(_BACKOFFS)) - 1]


def begins_at(status: ValidationStatus) -> datetime | None:
    """When the attempt that is on may begin; None for the first, which waits for nothing."""
    if not status.retry_count or status.last_retry_time is None:
        return None
    return next_attempt_at(status.retry_count, moment(status.last_retry_time))
