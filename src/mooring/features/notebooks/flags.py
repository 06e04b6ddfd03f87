"""The flag of notebook validation."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from mooring.runtime.settings import duration

__all__ = ["UNSCHEDULABLE_GRACE"]

UNSCHEDULABLE_GRACE: Final = duration(
    "unschedulable-grace",
    timedelta(minutes=5),
    "How long a notebook waits for a node that can take its pod before its job fails (5m).",
)
