"""Counts, stretches of time and lists of names as English text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

# Names that together are longer than this are too long to be read at a glance.
MAX_WIDTH = 72


def counted(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def share(count: int, total: int, plural: str) -> str:
    """`all 8 pods`, `3 of 8 pods`; of a single one `the pod`, or `0 of 1 pod`."""
    if total == 1:
        singular = plural.removesuffix("s")
        return f"the {singular}" if count else f"0 of 1 {singular}"
    return f"all {total:,} {plural}" if count == total else f"{count:,} of {total:,} {plural}"


def nodes(count: int) -> str:
    return counted(count, "node")


def and_more(names: Sequence[str], shown: int) -> str:
    """`a, b and 5 more`. A single one more is named, as that is no longer; of long names fewer are shown."""
    while shown > 1 and sum(map(len, names[:shown])) > MAX_WIDTH:
        shown -= 1
    if len(names) <= shown + 1:
        return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)
    return f"{', '.join(names[:shown])} and {len(names) - shown:,} more"


def spell(span: timedelta | None) -> str:
    """A stretch of time as people write it: `0s`, `1m30s`, `2h`."""
    if span is None:
        return "-"
    seconds = int(span.total_seconds())
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = [f"{number}{unit}" for number, unit in ((hours, "h"), (minutes, "m"), (seconds, "s")) if number]
    return "".join(parts) or "0s"
