"""How a rolling update goes from group to group: the next partition and replicas of the leaders' StatefulSet.

Groups are replaced from the highest to the lowest. Those above `replicas` are a surge that is given back as the others
become ready. The partition only moves down, at most so far that `max_unavailable` groups are unavailable, and groups
that are unavailable already cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mooring.features.groups.api import LeaderWorkerSetSpec
from mooring.kube.intorpercent import resolve


class GroupState(NamedTuple):
    """A group as a whole: its leader and all of its workers."""

    ready: bool
    updated: bool


class Limits(NamedTuple):
    """What is wanted, in numbers of groups."""

    replicas: int
    unavailable: int
    surge: int
    partition: int = 0

    @property
    def max_disruption(self) -> int:
        """maxUnavailable of the leaders' StatefulSet: how many leaders it may replace at once."""
        return max(1, self.unavailable + self.surge)

    def replicas_during_rollout(self, unready: int) -> int:
        """How many groups to run while `unready` of the wanted ones are not both ready and updated."""
        if unready > self.surge:
            return self.replicas + self.surge
        return self.replicas + max(0, unready - self.unavailable)


class LeaderSetState(NamedTuple):
    """The leaders' StatefulSet: its replicas, its partition, and the set's replicas when it was last applied.

    `observed_replicas` differs from the set's replicas when the set was scaled since; None: the annotation is missing.
    """

    replicas: int
    partition: int
    observed_replicas: int | None


class Step(NamedTuple):
    partition: int
    replicas: int


def limits_of(spec: LeaderWorkerSetSpec) -> Limits:
    rolling = spec.rollout_strategy.rolling_update_configuration
    surge = resolve(rolling.max_surge, spec.replicas, up=True)
    unavailable = resolve(rolling.max_unavailable, spec.replicas, up=False)
    return Limits(spec.replicas, unavailable, min(surge, spec.replicas), rolling.partition)


def next_step(
    limits: Limits, leader_set: LeaderSetState | None, groups: Sequence[GroupState], *, changed: bool
) -> Step:
    """Where to go from here. `groups` are those of the StatefulSet; `changed` says there is a new template."""
    step = _step(limits, leader_set, groups, changed=changed)
    return step._replace(partition=max(step.partition, limits.partition))


def _step(limits: Limits, leader_set: LeaderSetState | None, groups: Sequence[GroupState], *, changed: bool) -> Step:
    wanted = limits.replicas
    # 1. Nothing to update yet.
    if leader_set is None:
        return Step(0, wanted)
    there, partition = leader_set.replicas, leader_set.partition
    # 2. An update begins. Growing comes before it, shrinking goes along with it.
    if changed:
        return Step(min(wanted, there), wanted if there < wanted else limits.replicas_during_rollout(wanted))
    # 3. All is done, or the set has to grow first.
    if partition == 0 and there == wanted:
        return Step(0, wanted)
    if there < wanted:
        return Step(partition, wanted)
    replicas = limits.replicas_during_rollout(_unready(groups, wanted))
    # 4. The set was scaled during the update.
    if leader_set.observed_replicas is not None and leader_set.observed_replicas != wanted:
        return Step(min(partition, wanted + limits.surge), replicas)
    # 5. The update goes on. What was given back of the surge counts as unavailable.
    width = limits.unavailable + limits.surge - (wanted + limits.surge - there)
    return Step(min(partition, _lowest(groups, there, width)), replicas)


def _unready(groups: Sequence[GroupState], wanted: int) -> int:
    return sum(not all(state) for state in groups[:wanted])


def _lowest(groups: Sequence[GroupState], there: int, width: int) -> int:
    """The lowest partition at which not too many groups are unavailable."""
    settled = 0
    for state in reversed(groups):
        if not all(state):
            break
        settled += 1
    base = max(0, there - settled - width)
    partition = base + sum(not state.ready for state in groups[:base])
    # Replacing what is not ready, or is new already, makes no ready group unavailable.
    for index in range(min(partition, there - 1), base - 1, -1):
        if groups[index].ready and not groups[index].updated:
            break
        partition = index
    return partition
