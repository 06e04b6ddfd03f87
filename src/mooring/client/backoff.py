"""Exponential backoff with jitter."""

from __future__ import annotations

import random


class Backoff:
    """Doubles from `first` to `longest` seconds, each with up to half of it on top."""

    def __init__(self, draw: random.Random, first: float = 0.1, longest: float = 15.0) -> None:
        self._draw = draw
        self._first, self._longest = first, longest
        self._next = first

    def next(self) -> float:
        found = self._next
        self._next = min(found * 2, self._longest)
        return found * (1 + self._draw.random() / 2)

    def reset(self) -> None:
        self._next = self._first
