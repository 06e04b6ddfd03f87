"""Counts and lists of names as English text."""

from __future__ import annotations

from collections.abc import Sequence

# Names that together are longer than this are too long to be read at a glance.
MAX_WIDTH = 72


def counted(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def nodes(count: int) -> str:
    return counted(count, "node")


def and_more(names: Sequence[str], shown: int) -> str:
    """`a, b and 5 more`. A single one more is named, as that is no longer; of long names fewer are shown."""
    while shown > 1 and sum(map(len, names[:shown])) > MAX_WIDTH:
        shown -= 1
    if len(names) <= shown + 1:
        return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)
    return f"{', '.join(names[:shown])} and {len(names) - shown:,} more"
