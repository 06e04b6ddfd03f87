"""Nodes that may be given up at all, in the order in which they are tried: empty ones first, then earlier findings."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from mooring.features.autoscaler.node_groups import groups_by_node
from mooring.features.autoscaler.observation import Look
from mooring.features.autoscaler.scale_down.disruption_budgets import RemainingBudgets
from mooring.features.autoscaler.scale_down.drain_rules import DrainRules

__all__ = ["scale_down_candidates"]


def scale_down_candidates(look: Look, unneeded: Collection[str], now: datetime) -> list[str]:
    """Without nodes that go already, and nodes of groups at their minimum. `unneeded` were found so last time.

    A node counts as empty here whatever has become of the controllers of its pods, and without regard to budgets.
    """
    owners = groups_by_node(look.objects.groups)
    rules = DrainRules(look.settings, RemainingBudgets(), None, now)

    def rank(name: str) -> tuple[bool, bool]:
        return rules.pods_to_move(look.snapshot.pods_on(name)) != [], name not in unneeded

    going = look.objects.deleting
    names = (node.name for node in look.nodes if (group := owners.get(node.name)) and group.target > group.min)
    return sorted((name for name in names if name not in going), key=rank)
