"""The names that somebody may have meant who wrote another one."""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["did_you_mean"]

_MOST_NAMES = 3


def did_you_mean(name: str, names: Collection[str]) -> str:
    """What follows a complaint about an unknown name; nothing where no name is near."""
    # Asked for rarely, so it does not slow down every start.
    from difflib import get_close_matches

    near = sorted(each for each in names if name and each.startswith(name))[:_MOST_NAMES]
    near = near or get_close_matches(name, names, _MOST_NAMES)
    return f"; did you mean {' or '.join(near)}?" if near else ""
