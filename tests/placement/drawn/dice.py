"""The same seed draws the same."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice(random.Random):
    def pick(self, values: Sequence[T]) -> T:
        return values[self.randrange(len(values))]

    def chance(self, share: float) -> bool:
        return self.random() < share

    def some(self, values: Sequence[T], least: int, most: int) -> list[T]:
        """A few of the values, in their order."""
        count = min(len(values), self.randint(least, most))
        chosen = sorted(self.sample(range(len(values)), count))
        return [values[index] for index in chosen]
