"""Sets of completion indexes in the words of a Job's status: `0,2-4,7`."""

from __future__ import annotations

from collections.abc import Iterable

from mooring.api.core.views import Pod


def parse_indexes(text: str, completions: int) -> set[int]:
    """The indexes below the number of completions; what cannot be read is left out."""
    found: set[int] = set()
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            found.update(range(int(first), min(int(last or first), completions - 1) + 1))
    return found


def format_indexes(indexes: Iterable[int]) -> str:
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(_run(first, last) for first, last in runs)


def _run(first: int, last: int) -> str:
    if first == last:
        return str(first)
    # Two neighbours are listed, three are a range.
    return f"{first},{last}" if last == first + 1 else f"{first}-{last}"


def index_of(pod: Pod) -> int | None:
    """The completion index of a pod; None when it has none that can be read."""
    text = pod.metadata.annotations.completion_index
    return int(text) if text.isdecimal() else None
