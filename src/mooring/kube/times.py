"""Moments as the API writes them: UTC, whole seconds, ending in Z."""

from __future__ import annotations

from datetime import datetime

__all__ = ["moment", "timestamp"]


def timestamp(now: datetime) -> str:
    return f"{now.replace(microsecond=0, tzinfo=None).isoformat()}Z"


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
