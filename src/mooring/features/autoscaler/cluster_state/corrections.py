"""What is wrong with node groups and is put right before anything else: targets that are never reached, and instances
that never became nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from mooring.features.autoscaler.cluster_state.observed_state import NO_READINESS, ObservedState
from mooring.features.autoscaler.node_groups import NodeGroup

__all__ = ["instances_to_remove", "lowered_targets"]


def lowered_targets(state: ObservedState, groups: Iterable[NodeGroup]) -> Mapping[str, int]:
    """New targets of groups that have fewer nodes than they were asked for, and have had them for too long.

    A scale-up that timed out is taken back at once where that is set; upstream leaves its target as it is.
    """
    found = {}
    for group in groups:
        registered = len(state.readiness.get(group.name, NO_READINESS).registered)
        target = group.target
        incorrect = state.memory.incorrect.get(group.name)
        if incorrect is not None and _is_over(incorrect.first_seen, group, state):
            target = min(target, incorrect.registered)
        failed = state.timed_out.get(group.name)
        if failed is not None and state.settings.lower_failed_targets:
            target = min(target, max(group.target - failed.increase, registered, group.min))
        if target < group.target:
            found[group.name] = target
    return found


def instances_to_remove(state: ObservedState, groups: Iterable[NodeGroup]) -> Mapping[str, tuple[str, ...]]:
    """Instances that never became nodes, as many of them as the group's minimum allows."""
    found = {}
    for group in groups:
        late = state.readiness.get(group.name, NO_READINESS).long_unregistered
        allowed = late[: max(0, group.target - group.min)]
        if allowed:
            found[group.name] = allowed
    return found


def _is_over(since: datetime, group: NodeGroup, state: ObservedState) -> bool:
    return since + group.options.max_node_provision_time < state.now
