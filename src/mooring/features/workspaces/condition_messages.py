"""Messages of conditions and refusals, kept short: what containers and clouds say can be pages, nodes be thousands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["listed", "shortened"]

_LONGEST_MESSAGE_BYTES: Final = 256
_ELLIPSIS: Final = "..."
_MOST_LISTED: Final = 5


def shortened(text: str) -> str:
    data = text.encode()
    if len(data) <= _LONGEST_MESSAGE_BYTES:
        return text
    return data[:_LONGEST_MESSAGE_BYTES].decode(errors="ignore") + _ELLIPSIS


def listed(words: Sequence[str]) -> str:
    """The first few of many."""
    more = len(words) - _MOST_LISTED
    return ", ".join(words[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
