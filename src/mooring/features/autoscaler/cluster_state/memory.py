"""What one look at the cluster leaves for the next: nothing else is remembered between two loops."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from mooring.features.autoscaler.backoff import Backoffs, with_failure
from mooring.features.autoscaler.settings import AutoscalerSettings

__all__ = ["IncorrectSize", "Memory", "ScaleUpRequest", "with_failed_scale_up", "with_scale_up"]


class ScaleUpRequest(NamedTuple):
    """A group was asked to grow and has not finished."""

    increase: int
    requested_at: datetime
    expected_by: datetime


class IncorrectSize(NamedTuple):
    """A group has had another number of nodes than it was asked for since a moment."""

    registered: int
    target: int
    first_seen: datetime


class Memory(msgspec.Struct, frozen=True):
    requests: Mapping[str, ScaleUpRequest] = msgspec.field(default_factory=dict)
    backoffs: Backoffs = msgspec.field(default_factory=dict)
    unregistered_since: Mapping[str, datetime] = msgspec.field(default_factory=dict)
    incorrect: Mapping[str, IncorrectSize] = msgspec.field(default_factory=dict)


def with_scale_up(memory: Memory, group: str, delta: int, now: datetime, provision_time: timedelta) -> Memory:
    """A group was asked for so many nodes more; a request that runs already grows and gets more time."""
    known = memory.requests.get(group)
    increase = delta if known is None else known.increase + delta
    others = {name: request for name, request in memory.requests.items() if name != group}
    if increase <= 0:
        return msgspec.structs.replace(memory, requests=others)
    if known is not None and delta <= 0:
        request = known._replace(increase=increase)
    else:
        request = ScaleUpRequest(increase, now, now + provision_time)
    return msgspec.structs.replace(memory, requests={**others, group: request})


def with_failed_scale_up(memory: Memory, group: str, code: str, now: datetime, settings: AutoscalerSettings) -> Memory:
    """The request stays until it ends by itself; the group is left alone for a while."""
    backoffs = with_failure(memory.backoffs, group, code, now, settings)
    return msgspec.structs.replace(memory, backoffs=backoffs)
