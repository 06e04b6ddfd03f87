"""The nodes that nobody needs: for each node that is tried, that its pods fit elsewhere, or why it stays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from mooring.features.autoscaler.node_groups import NodeGroup, groups_by_node
from mooring.features.autoscaler.observation import Look
from mooring.features.autoscaler.scale_down.disruption_budgets import RemainingBudgets
from mooring.features.autoscaler.scale_down.drain_rules import DrainRules
from mooring.features.autoscaler.scale_down.eligibility import eligibility
from mooring.features.autoscaler.scale_down.memory import ScaleDownMemory
from mooring.features.autoscaler.scale_down.removal import RemovableNode, RemovalSimulator
from mooring.features.autoscaler.scale_down.unremovable import UnremovableNode
from mooring.features.autoscaler.scale_down.utilization import NodeUtilization

__all__ = ["UnneededNodes", "find_unneeded"]

_SHORTEST_INTERVAL: Final = timedelta(microseconds=1)


class UnneededNodes(msgspec.Struct, frozen=True):
    removable: Sequence[RemovableNode]
    unremovable: Sequence[UnremovableNode]
    utilization: Mapping[str, NodeUtilization]
    # For the next time.
    memory: ScaleDownMemory


def find_unneeded(look: Look, candidates: Iterable[str], memory: ScaleDownMemory) -> UnneededNodes:
    """Nodes are taken away one after another, from the snapshot of the look and from the budgets."""
    settings, now = look.settings, look.now
    destinations = {node.name for node in look.nodes} - look.objects.deleting.keys()
    until = {name: end for name, end in memory.unremovable_until.items() if end > now and name in destinations}
    eligible, unremovable, utilization = _eligible(look, candidates, until)
    interval = _interval(look, memory)
    most = _most_unneeded(look, len(memory.unneeded_since), interval)
    owners = groups_by_node(look.objects.groups)
    remaining = RemainingBudgets(look.objects.budgets)
    rules = DrainRules(settings, remaining, look.objects.controllers, now)
    simulator = RemovalSimulator(look.snapshot, memory.hints, now)
    removable: list[RemovableNode] = []
    for name in eligible:
        if _individual(removable, owners) >= most:
            break
        tried = simulator.remove(name, rules, destinations)
        if isinstance(tried, UnremovableNode):
            unremovable.append(tried)
            until[name] = now + settings.unremovable_recheck_timeout
            continue
        removable.append(tried._replace(risky=not remaining.allow_at_once(tried.pods)))
        destinations.discard(name)
        remaining.take(tried.pods)
    since = {each.node: memory.unneeded_since.get(each.node, now) for each in removable}
    return UnneededNodes(
        removable, unremovable, utilization, ScaleDownMemory(since, until, simulator.hints, now, interval)
    )


def _eligible(
    look: Look, candidates: Iterable[str], until: Mapping[str, datetime]
) -> tuple[list[str], list[UnremovableNode], dict[str, NodeUtilization]]:
    """The candidates that are used little enough, why the others stay, and how much each of them is used."""
    owners = groups_by_node(look.objects.groups)
    found: list[str] = []
    staying: list[UnremovableNode] = []
    utilization: dict[str, NodeUtilization] = {}
    for name in candidates:
        if name in until:
            staying.append(UnremovableNode(name, "RecentlyUnremovable"))
            continue
        reason, used = eligibility(look.snapshot.node(name), owners.get(name), look.snapshot, look.now, look.settings)
        if used is not None:
            utilization[name] = used
        if reason is None:
            found.append(name)
        else:
            staying.append(UnremovableNode(name, reason))
    return found, staying, utilization


def _interval(look: Look, memory: ScaleDownMemory) -> timedelta:
    shortest = memory.interval or look.settings.options.scale_down_unneeded_time
    if memory.looked_at is not None:
        shortest = min(shortest, look.now - memory.looked_at)
    return max(shortest, _SHORTEST_INTERVAL)


def _most_unneeded(look: Look, known: int, interval: timedelta) -> int:
    """How many nodes it makes sense to find: no more than can be deleted before it is time to look again."""
    parallel = look.settings.max_scale_down_parallelism
    rounds = max(look.settings.options.scale_down_unneeded_time, interval) // interval
    return min(parallel * rounds + parallel, known + 2 * parallel)


def _individual(removable: Iterable[RemovableNode], owners: Mapping[str, NodeGroup]) -> int:
    """Groups that go as a whole do not count."""
    return sum(not owners[each.node].options.zero_or_max for each in removable)
