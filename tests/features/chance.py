"""What users do in stories that are drawn: any of some deeds at any time, as far as the API lets them.

What the controllers decide in such a story is compared with what was recorded of it (`tests.features.traces`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random

from mooring.kube.status import ApiError

__all__ = ["Deed", "busy_hours"]

Deed = Callable[[Random], None]


def busy_hours(dice: Random, deeds: Mapping[Deed, int], wait: Callable[[float], object], rounds: int = 14) -> None:
    """`deeds` with how often each is done; after every one some time passes."""
    for _ in range(rounds):
        (deed,) = dice.choices([*deeds], [*deeds.values()])
        # What is not there cannot be changed, and some changes are refused.
        with suppress(ApiError):
            deed(dice)
        wait(dice.choice((0.1, 1, 7, 30, 120)))
