"""Node groups that are left alone for a while after a failure, longer each time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from mooring.features.autoscaler.settings import AutoscalerSettings

__all__ = ["Backoffs", "GroupBackoff", "backed_off", "current_backoffs", "with_failure"]


class GroupBackoff(NamedTuple):
    duration: timedelta
    until: datetime
    failed_at: datetime
    code: str


Backoffs = Mapping[str, GroupBackoff]


def with_failure(backoffs: Backoffs, group: str, code: str, now: datetime, settings: AutoscalerSettings) -> Backoffs:
    """A failure while the group is still left alone prolongs that, but makes it no longer than it was."""
    known = backoffs.get(group)
    duration = settings.initial_backoff
    if known is not None:
        ended = known.until < now
        duration = min(2 * known.duration, settings.max_backoff) if ended else known.duration
    return {**backoffs, group: GroupBackoff(duration, now + duration, now, code)}


def backed_off(backoffs: Backoffs, group: str, now: datetime) -> GroupBackoff | None:
    """Why a group is left alone now; the last instant counts."""
    known = backoffs.get(group)
    return None if known is None or known.until < now else known


def current_backoffs(backoffs: Backoffs, now: datetime, settings: AutoscalerSettings) -> Backoffs:
    """Without failures that are so old that the next one is the first again."""
    return {
        group: backoff
        for group, backoff in backoffs.items()
        if backoff.failed_at + settings.backoff_reset_timeout >= now
    }
