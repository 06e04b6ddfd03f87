"""How much memory the histories of all stores may hold together.

A count alone bounds nothing: twenty thousand changes of an object of a megabyte are twenty gigabytes. What a history
costs are the objects that only it still holds, those that were replaced or removed. When they are too much, the store
that holds most forgets its oldest changes, so that a flood of one kind costs the watchers of no other.
"""

from typing import Protocol

import msgspec

from mooring.kube.objects import Object

__all__ = ["HistoryBudget", "memory_bytes"]

# What Python needs beside the text: for an object or a list, and for each value in one.
_CONTAINER_BYTES = 64
_VALUE_BYTES = 24

_encode = msgspec.json.Encoder().encode


def memory_bytes(obj: Object) -> int:
    """About how many bytes of memory an object takes: a list of empty objects takes twenty times its text."""
    text = _encode(obj)
    containers = text.count(b"{") + text.count(b"[")
    return len(text) + _CONTAINER_BYTES * containers + _VALUE_BYTES * text.count(b",")


class BoundedHistory(Protocol):
    """What the budget needs of a history: the bytes it holds, and how its oldest change is forgotten."""

    held_bytes: int

    def forget_oldest(self) -> bool:
        """Whether there was a change to forget beside the last."""


class HistoryBudget:
    """`most_bytes` is for all histories together."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._histories: list[BoundedHistory] = []
        self.held_bytes = 0

    def join(self, history: BoundedHistory) -> None:
        self._histories.append(history)

    def enforce(self) -> None:
        """Forget the oldest changes of the largest history until all of them fit."""
        while self.held_bytes > self._most_bytes:
            largest = max(self._histories, key=lambda each: each.held_bytes)
            if not largest.forget_oldest():
                return
