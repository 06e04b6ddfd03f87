"""Sizes and costs that are not known exactly: from the least to the most, which are numbers of 64 bits."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Final

__all__ = ["NOTHING", "ONE", "UNKNOWN", "UNLIMITED", "CostRange", "exactly"]

UNLIMITED: Final = 2**64 - 1


@dataclass(frozen=True, slots=True)
class CostRange:
    least: int
    most: int

    def __add__(self, other: CostRange) -> CostRange:
        return CostRange(min(self.least + other.least, UNLIMITED), min(self.most + other.most, UNLIMITED))

    def __mul__(self, other: CostRange) -> CostRange:
        return CostRange(min(self.least * other.least, UNLIMITED), min(self.most * other.most, UNLIMITED))

    def __or__(self, other: CostRange) -> CostRange:
        """The range around both."""
        return CostRange(min(self.least, other.least), max(self.most, other.most))

    def times(self, factor: float) -> CostRange:
        """So many times, rounded up."""
        return CostRange(_times(self.least, factor), _times(self.most, factor))


def exactly(size: int) -> CostRange:
    return CostRange(size, size)


def _times(value: int, factor: float) -> int:
    return min(ceil(float(value) * factor), UNLIMITED)


NOTHING: Final = exactly(0)
ONE: Final = exactly(1)
UNKNOWN: Final = CostRange(0, UNLIMITED)
