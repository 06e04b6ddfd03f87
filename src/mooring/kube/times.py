"""Moments as the API writes them: UTC, whole seconds, ending in Z."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

__all__ = ["moment", "timestamp"]


@lru_cache(maxsize=64)
def timestamp(now: datetime) -> str:
    if now.tzinfo is not None and now.tzinfo is not UTC:
        now = now.astimezone(UTC)
    return f"{now.replace(microsecond=0, tzinfo=None).isoformat()}Z"


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
