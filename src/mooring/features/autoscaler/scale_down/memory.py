"""What one look for unneeded nodes leaves for the next."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

__all__ = ["ScaleDownMemory"]


class ScaleDownMemory(msgspec.Struct, frozen=True):
    unneeded_since: Mapping[str, datetime] = msgspec.field(default_factory=dict)
    # Nodes that are not looked at again before a moment.
    unremovable_until: Mapping[str, datetime] = msgspec.field(default_factory=dict)
    # The node on which each pod found room last time: it is tried first.
    hints: Mapping[str, str] = msgspec.field(default_factory=dict)
    looked_at: datetime | None = None
    # The shortest time that there was between two looks.
    interval: timedelta | None = None
