"""Rolling updates as numbers: partition and replicas of the leaders' StatefulSet, step by step."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.features.groups.rollout import GroupState, LeaderSetState, Limits, Step, next_step

OLD, NEW = GroupState(ready=True, updated=False), GroupState(ready=True, updated=True)
AWAY, COMING = GroupState(ready=False, updated=False), GroupState(ready=False, updated=True)


class Rollout:
    """A StatefulSet of leaders as it behaves: it replaces what is outdated down to the partition, so many at once."""

    def __init__(
        self, replicas: int, unavailable: int, surge: int = 0, partition: int = 0, *, away: tuple[int, ...] = ()
    ) -> None:
        self.limits = Limits(replicas, unavailable, min(surge, replicas), partition)
        self.groups = {index: AWAY if index in away else OLD for index in range(replicas)}
        self.leader_set = LeaderSetState(replicas, 0, replicas)
        self.steps: list[str] = []
        self.fewest = replicas - len(away)
        self.most = replicas

    def begin(self) -> Rollout:
        self.groups = {index: state._replace(updated=False) for index, state in self.groups.items()}
        self._take(next_step(self.limits, self.leader_set, self._states(), changed=True))
        return self

    def resize(self, replicas: int) -> None:
        self.limits = self.limits._replace(replicas=replicas, surge=min(self.limits.surge, replicas))

    def _states(self) -> list[GroupState]:
        return [self.groups.get(index, AWAY) for index in range(self.leader_set.replicas)]

    def _take(self, step: Step) -> None:
        self.leader_set = LeaderSetState(step.replicas, step.partition, self.limits.replicas)
        told = f"{step.partition}/{step.replicas}"
        if not self.steps or self.steps[-1] != told:
            self.steps.append(told)
        # Missing groups come from the new template at or above the partition, and from the old one below it.
        for index in range(step.replicas):
            self.groups.setdefault(index, COMING if index >= step.partition else AWAY)
        for index in [index for index in self.groups if index >= step.replicas]:
            del self.groups[index]
        away = sum(not state.ready for state in self.groups.values())
        for index in sorted(self.groups, reverse=True):
            if index < step.partition or self.groups[index].updated:
                continue
            if self.groups[index].ready and away >= self.limits.max_disruption:
                break
            away += self.groups[index].ready
            self.groups[index] = COMING
        self._count()

    def _count(self) -> None:
        self.fewest = min(self.fewest, sum(state.ready for state in self.groups.values()))
        self.most = max(self.most, len(self.groups))

    def ready(self, *indexes: int) -> Rollout:
        for index in indexes:
            self.groups[index] = self.groups[index]._replace(ready=True)
        return self.settle()

    def settle(self) -> Rollout:
        for _ in range(100):
            before = self.leader_set
            self._take(next_step(self.limits, self.leader_set, self._states(), changed=False))
            if self.leader_set == before:
                return self
        raise AssertionError("it does not come to rest")

    def finish(self, *, all_at_once: bool = False) -> Rollout:
        """One group after another becomes ready, the highest first."""
        self.settle()
        for _ in range(1000):
            waiting = [index for index, state in self.groups.items() if not state.ready]
            if not waiting:
                return self
            self.ready(*(waiting if all_at_once else [max(waiting)]))
        raise AssertionError("it does not end")


def test_one_after_the_other() -> None:
    rollout = Rollout(4, 1).begin().finish()
    assert rollout.steps == ["4/4", "3/4", "2/4", "1/4", "0/4"]
    assert rollout.fewest == 3


def test_two_away_and_two_more() -> None:
    rollout = Rollout(4, 2, 2).begin()
    assert rollout.steps == ["4/6"]
    rollout.settle()
    assert rollout.steps == ["4/6", "2/6"]
    rollout.ready(5)
    assert rollout.steps[-1] == "1/6"
    rollout.ready(4)
    assert rollout.steps[-1] == "0/6"
    rollout.ready(3, 2)
    assert rollout.steps[-1] == "0/4"
    assert rollout.finish().steps == ["4/6", "2/6", "1/6", "0/6", "0/4"]


def test_one_away_and_one_more() -> None:
    rollout = Rollout(4, 1, 1).begin().finish()
    assert rollout.steps == ["4/5", "3/5", "2/5", "1/5", "0/5", "0/4"]


def test_none_away_and_one_more() -> None:
    rollout = Rollout(4, 0, 1).begin()
    rollout.settle()
    assert rollout.steps == ["4/5"], "it waits for the surge"
    rollout.finish()
    assert rollout.steps == ["4/5", "3/5", "2/5", "1/5", "0/5", "0/4"]
    assert rollout.fewest == 4


def test_percentages_of_ten() -> None:
    rollout = Rollout(10, 3, 3).begin().finish()
    assert rollout.steps[:2] == ["10/13", "7/13"]
    assert "0/13" in rollout.steps
    assert rollout.steps[-1] == "0/10"
    assert rollout.fewest >= 7


def test_a_surge_is_not_larger_than_the_set() -> None:
    assert Rollout(2, 1, 4).begin().finish().steps == ["2/3", "1/3", "0/3", "0/2"]
    assert Rollout(4, 1, 4).begin().finish().most == 7


def test_groups_below_the_partition_stay() -> None:
    rollout = Rollout(6, 1, 0, 4).begin().finish()
    assert rollout.steps == ["6/6", "5/6", "4/6"]
    assert sum(state.updated for state in rollout.groups.values()) == 2
    rollout.limits = rollout.limits._replace(partition=2)
    assert rollout.finish().steps[3:] == ["3/6", "2/6"]


def test_with_a_partition_the_surge_stays_until_the_update_goes_on() -> None:
    rollout = Rollout(3, 1, 1, 2).begin().finish()
    assert rollout.steps == ["3/4", "2/4"]
    rollout.limits = rollout.limits._replace(partition=0)
    assert rollout.finish().steps[-1] == "0/3"


def test_a_group_that_is_away_already_counts() -> None:
    rollout = Rollout(4, 2, away=(1,)).begin().settle()
    assert rollout.steps == ["4/4", "3/4"]
    rollout.ready(3)
    assert rollout.steps[-1] == "1/4"


def test_an_update_does_not_get_stuck_where_nothing_is_ready() -> None:
    rollout = Rollout(2, 1, away=(0, 1)).begin().settle()
    assert rollout.steps == ["2/2", "1/2"]
    assert rollout.ready(1).steps[-1] == "0/2"


def test_growing_comes_before_the_update() -> None:
    rollout = Rollout(2, 1)
    rollout.resize(4)
    rollout.begin()
    assert rollout.steps == ["2/4"]
    assert rollout.groups[3].updated, "new groups are of the new template"


def test_shrinking_goes_along_with_the_update() -> None:
    rollout = Rollout(6, 1)
    rollout.resize(3)
    assert rollout.begin().steps == ["3/3"]


def test_growing_on_the_way_keeps_the_partition() -> None:
    rollout = Rollout(4, 1).begin().settle()
    rollout.ready(3)
    rollout.resize(6)
    rollout.settle()
    assert rollout.steps[-1].startswith("2/6")
    assert rollout.finish().steps[-1] == "0/6"


def test_shrinking_on_the_way_ends_at_the_new_size() -> None:
    rollout = Rollout(6, 1).begin().settle()
    rollout.resize(2)
    assert rollout.finish().steps[-1] == "0/2"


def test_without_a_set_all_groups_are_made_at_once() -> None:
    assert next_step(Limits(3, 1, 1), None, (), changed=False) == Step(0, 3)
    assert next_step(Limits(0, 1, 0), LeaderSetState(0, 0, 0), (), changed=True) == Step(0, 0)


@settings(max_examples=300, deadline=None)
@given(
    replicas=st.integers(1, 9),
    unavailable=st.integers(0, 4),
    surge=st.integers(0, 4),
    partition=st.integers(0, 3),
    at_once=st.booleans(),
)
def test_every_rollout_ends_and_never_takes_more_than_it_may(
    replicas: int, unavailable: int, surge: int, partition: int, at_once: bool
) -> None:
    unavailable = unavailable or (0 if surge else 1)
    rollout = Rollout(replicas, unavailable, surge, partition).begin().finish(all_at_once=at_once)
    for index, state in rollout.groups.items():
        assert state == (NEW if index >= partition else OLD)
    assert rollout.fewest >= replicas - unavailable
    assert rollout.most <= replicas + min(surge, replicas)
    if not partition:
        assert rollout.leader_set.replicas == replicas


@pytest.mark.parametrize(("unready", "kept"), [(0, 4), (1, 4), (2, 5), (3, 6), (4, 6)])
def test_the_surge_is_given_back_as_groups_become_ready(unready: int, kept: int) -> None:
    assert Limits(4, 1, 2).replicas_during_rollout(unready) == kept
