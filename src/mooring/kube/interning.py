"""Interning: equal values are held once, found by a key that says what they are.

A cluster holds thousands of pods made from a few templates, so labels, containers and tolerations are equal in most of
them, and to hold each once more than halves what an object weighs. A table is a plain dict, so that a hit costs one
`get`: these tables are on the paths that read every object. It is bounded and starts over when it is full, which costs
sharing for a while, never correctness.
"""

from __future__ import annotations

from typing import TypeVar

__all__ = ["intern"]

K = TypeVar("K")
V = TypeVar("V")


def intern(table: dict[K, V], key: K, value: V, max_entries: int) -> V:
    """Hold a value that the table does not have yet, and return it."""
    if len(table) >= max_entries:
        table.clear()
    table[key] = value
    return value
