"""The changes of one topic in order, so that a stream that was cut goes on where it was: bounded in number and size.

Every change has a number, one sequence for all topics of a mirror. A stream that knows the number of its last change
gets what came after it; when that is gone from the history, it starts from the whole list again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

__all__ = ["NumberedChange", "TopicHistory"]

MAX_CHANGES: Final = 10_000
MAX_BYTES: Final = 8 << 20


class NumberedChange(NamedTuple):
    """`frame` is the change as it goes over the wire, made once for all streams."""

    number: int
    frame: bytes


class TopicHistory:
    """`forgotten` is the number of the newest change that is not kept."""

    def __init__(self, forgotten: int, max_changes: int = MAX_CHANGES, max_bytes: int = MAX_BYTES) -> None:
        self.forgotten = forgotten
        self._max_changes, self._max_bytes = max_changes, max_bytes
        self._changes: deque[NumberedChange] = deque()
        self._bytes = 0

    def add(self, change: NumberedChange) -> None:
        self._changes.append(change)
        self._bytes += len(change.frame)
        while len(self._changes) > self._max_changes or self._bytes > self._max_bytes:
            dropped = self._changes.popleft()
            self._bytes -= len(dropped.frame)
            self.forgotten = dropped.number

    def reaches(self, number: int) -> bool:
        """Whether every change after this one is kept."""
        return number >= self.forgotten

    def after(self, number: int) -> list[NumberedChange]:
        """The changes after this one, oldest first."""
        found = list(self._newest_first(number))
        found.reverse()
        return found

    def _newest_first(self, number: int) -> Iterator[NumberedChange]:
        for change in reversed(self._changes):
            if change.number <= number:
                return
            yield change
