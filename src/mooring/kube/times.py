"""Moments as the API writes them: UTC, whole seconds, ending in Z."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

__all__ = ["moment", "timestamp"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH: Final = datetime(1970, 1, 1)
_SECOND: Final = timedelta(seconds=1)


@lru_cache(maxsize=64)
def timestamp(now: datetime) -> str:
    """The second in which a moment lies. Every write asks for it, and a thousand of them for the same one."""
    return _text((now - (_EPOCH if now.tzinfo is not None else _NAIVE_EPOCH)) // _SECOND)


@lru_cache(maxsize=64)
def _text(second: int) -> str:
    return f"{(_NAIVE_EPOCH + second * _SECOND).isoformat()}Z"


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
