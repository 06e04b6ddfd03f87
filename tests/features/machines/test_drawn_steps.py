"""Rollouts of pools in numbers that are drawn: the next step of each, as recorded, and what holds for all of them."""

from __future__ import annotations

from random import Random

from mooring.features.machines.pools.rollout import PoolLimits, SetSize, on_delete_step, rolling_step
from tests.support.golden import same_as_recorded

CASES = 1500


def drawn_set(dice: Random, name: str) -> SetSize:
    replicas, existing = dice.randint(0, 4), dice.randint(0, 5)
    return SetSize(name, replicas, existing, dice.randint(0, existing), dice.randint(0, existing))


def test_every_drawn_step_is_taken_as_recorded() -> None:
    found = {}
    for number in range(CASES):
        dice = Random(f"steps/{number}")
        limits = PoolLimits(dice.randint(0, 5), dice.randint(0, 2), dice.randint(0, 2))
        new, *old = (drawn_set(dice, name) for name in "nabc"[: dice.randint(1, 4)])
        rolling, on_delete = rolling_step(limits, new, old), on_delete_step(limits, new, old)
        assert all(size >= 0 for size in (*rolling.values(), *on_delete.values()))
        case = f"{number} {[*limits]} {[[*each] for each in (new, *old)]}"
        found[case] = f"rolling {sorted(rolling.items())}, on delete {sorted(on_delete.items())}"
    same_as_recorded("machines-steps", found)
