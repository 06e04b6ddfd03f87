"""The difference of two texts, line by line, in which lines that are the same under the rules are shown as the same."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Final

__all__ = ["text_diff"]

_SHOWN_LINES: Final = 400
_CONTEXT_LINES: Final = 3


def text_diff(expected: str, actual: str, same: Callable[[str, str], bool]) -> str:
    """With the two header lines of a unified diff."""
    old, new = expected.splitlines(), actual.splitlines()
    body: list[str] = []
    if len(old) == len(new):
        pairs = list(zip(old, new))
        body = _paired(pairs, [same(*pair) for pair in pairs])
    if not body:
        # Lines that both begin with are left out first: matching the rest takes time with the square of it.
        alike = 0
        while alike < min(len(old), len(new)) and old[alike] == new[alike]:
            alike += 1
        start = max(0, alike - _CONTEXT_LINES)
        old, new = old[start : start + _SHOWN_LINES], new[start : start + _SHOWN_LINES]
        body = list(difflib.unified_diff(old, new, lineterm="", n=_CONTEXT_LINES))[2:]
    return "\n".join(["--- expected", "+++ actual", *body[:_SHOWN_LINES]])


def _paired(pairs: list[tuple[str, str]], equal: list[bool]) -> list[str]:
    near = {
        index + offset
        for index, same in enumerate(equal)
        if not same
        for offset in range(-_CONTEXT_LINES, _CONTEXT_LINES + 1)
    }
    lines: list[str] = []
    last = -1
    for index, (old, new) in enumerate(pairs):
        if index not in near:
            continue
        if index != last + 1:
            lines.append(f"@@ line {index + 1} @@")
        lines += [f" {new}"] if equal[index] else [f"-{old}", f"+{new}"]
        last = index
    return lines
