"""Rolling updates of groups in numbers that are drawn: the next step of each, as recorded, and what holds for all."""

from __future__ import annotations

from random import Random

from mooring.features.groups.rollout import GroupState, LeaderSetState, Limits, next_step
from tests.support.golden import same_as_recorded

CASES = 1500


def test_every_drawn_step_is_taken_as_recorded() -> None:
    found = {}
    for number in range(CASES):
        dice = Random(f"steps/{number}")
        wanted = dice.randint(0, 5)
        limits = Limits(wanted, dice.randint(0, 3), dice.randint(0, wanted), dice.choice((0, 0, 0, 1, 2, 6)))
        there = dice.randint(0, wanted + limits.surge + 1)
        observed = dice.choice((None, wanted, wanted, wanted, dice.randint(0, 5)))
        leaders = LeaderSetState(there, dice.randint(0, there), observed) if dice.random() < 0.95 else None
        likely = dice.choice((0.2, 0.5, 0.9))
        groups = [GroupState(dice.random() < likely, dice.random() < likely) for _ in range(there)]
        changed = dice.random() < 0.1
        step = next_step(limits, leaders, groups, changed=changed)
        assert step.partition >= limits.partition
        assert step.replicas <= wanted + limits.surge
        states = [[*map(int, each)] for each in groups]
        case = f"{number} {[*limits]} {leaders and [*leaders]} {states} {changed}"
        found[case] = f"{[*step]} {limits.max_disruption}"
    same_as_recorded("groups-steps", found)
