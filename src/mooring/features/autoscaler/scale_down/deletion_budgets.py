"""How many deletions may start at once: of all nodes, and of nodes whose pods must be moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from mooring.features.autoscaler.node_groups import NodeGroup, groups_by_node
from mooring.features.autoscaler.observation import Look
from mooring.features.autoscaler.scale_down.deletion import Deletion

__all__ = ["within_budgets"]

Buckets = dict[str, list[str]]


def within_budgets(look: Look, deletion: Deletion) -> Deletion:
    """The deletions that start now. Groups that go as a whole come first, and the first of them may be too large."""
    owners = groups_by_node(look.objects.groups)
    registered = Counter(owners[node.name].name for node in look.nodes if node.name in owners)
    crop = _Crop(look.settings.max_scale_down_parallelism, look.settings.max_drain_parallelism, registered)
    empty, empty_whole = _split(deletion.empty, owners)
    drain, drain_whole = _split(deletion.drain, owners)
    groups = {group.name: group for group in look.objects.groups}
    crop.take_whole_groups(empty_whole, drain_whole, groups)
    crop.take_whole_groups({}, {name: drain_whole[name] for name in drain_whole if name not in empty_whole}, groups)
    crop.take_nodes(empty, drain)
    return msgspec.structs.replace(deletion, empty=crop.empty, drain=crop.drain)


def _split(nodes: Iterable[str], owners: Mapping[str, NodeGroup]) -> tuple[Buckets, Buckets]:
    """Nodes by group: those of groups that shrink one by one, and those of groups that go as a whole."""
    individual: Buckets = {}
    whole: Buckets = {}
    for node in nodes:
        group = owners[node]
        (whole if group.options.zero_or_max else individual).setdefault(group.name, []).append(node)
    return individual, whole


class _Crop:
    def __init__(self, budget: int, drain_budget: int, registered: Mapping[str, int]) -> None:
        self._budget = budget
        self._drain_budget = drain_budget
        self._registered = registered
        self._may_overflow = True
        self.empty: list[str] = []
        self.drain: list[str] = []

    def take_whole_groups(self, empty: Buckets, drain: Buckets, groups: Mapping[str, NodeGroup]) -> None:
        """The groups of `empty` with what is to be drained of them, or those of `drain` where there are none."""
        if not empty:
            self._drain_budget = min(self._budget, self._drain_budget)
        for name in empty or drain:
            emptied, drained = empty.get(name, []), drain.get(name, [])
            count = len(emptied) + len(drained)
            short = self._budget < count if empty else False
            if (short or self._drain_budget < len(drained)) and self._is_spent(bool(empty), bool(drained)):
                break
            if count not in (groups[name].target, self._registered.get(name, 0)):
                continue
            self.empty += emptied
            self.drain += drained
            self._budget -= count
            self._drain_budget -= len(drained)
            self._may_overflow = False

    def _is_spent(self, counts_empty: bool, drains: bool) -> bool:
        spent = (counts_empty and self._budget == 0) or (drains and self._drain_budget == 0)
        return spent or not self._may_overflow

    def take_nodes(self, empty: Buckets, drain: Buckets) -> None:
        taken = [node for nodes in empty.values() for node in nodes][: max(0, self._budget)]
        self.empty += taken
        self._budget -= len(taken)
        self._drain_budget = min(self._budget, self._drain_budget)
        self.drain += [node for nodes in drain.values() for node in nodes][: max(0, self._drain_budget)]
