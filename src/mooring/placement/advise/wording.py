"""Lists in titles: a few by name, and how many more."""

from __future__ import annotations

from collections.abc import Sequence

MAX_NAMED = 3


def listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_NAMED])
    return shown if len(names) <= MAX_NAMED else f"{shown} and {len(names) - MAX_NAMED} more"
