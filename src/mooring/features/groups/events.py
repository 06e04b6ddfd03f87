"""Events about a LeaderWorkerSet, with the actions that upstream names."""

from __future__ import annotations

from typing import Any, Final, Literal

from mooring.api.kinds import Key, Kind, key_of
from mooring.features.groups.api import LeaderWorkerSet
from mooring.features.groups.kinds import LEADER_WORKER_SET
from mooring.runtime.decision import Event

CREATE: Final = "Create"
UPDATE: Final = "Update"
DELETE: Final = "Delete"


def event_about(
    lws: LeaderWorkerSet,
    kind: Literal["Normal", "Warning"],
    reason: str,
    text: str,
    action: str,
    after: tuple[Kind[Any], Key] | None = None,
) -> Event:
    """`after` is the object whose write the event tells of."""
    return Event(LEADER_WORKER_SET, key_of(lws), kind, reason, text, after, action)
