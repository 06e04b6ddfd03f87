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
    crop = _Crop(look)
    empty, empty_whole = _split(deletion.empty, owners)
    drain, drain_whole = _split(deletion.drain, owners)
    crop.take_emptied_groups(empty_whole, drain_whole)
    crop.take_drained_groups({name: nodes for name, nodes in drain_whole.items() if name not in empty_whole})
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
    def __init__(self, look: Look) -> None:
        going = look.objects.deleting
        self._budget = look.settings.max_scale_down_parallelism - len(going)
        self._drain_budget = look.settings.max_drain_parallelism - sum(going.values())
        owners = groups_by_node(look.objects.groups)
        registered = Counter(owners[node.name].name for node in look.nodes if node.name in owners)
        # How many nodes make a whole group: those that it shall have, or those that it has.
        self._whole = {group.name: (group.target, registered[group.name]) for group in look.objects.groups}
        self._may_overflow = True
        self.empty: list[str] = []
        self.drain: list[str] = []

    def take_emptied_groups(self, empty: Buckets, drain: Buckets) -> None:
        """Groups with empty nodes, and what is to be drained of the same groups."""
        for name, emptied in empty.items():
            drained = drain.get(name, [])
            short = self._budget < len(emptied) + len(drained) or self._drain_budget < len(drained)
            spent = self._budget == 0 or (drained and self._drain_budget == 0)
            if short and (spent or not self._may_overflow):
                break
            self._take_group(name, emptied, drained)

    def take_drained_groups(self, drain: Buckets) -> None:
        self._drain_budget = min(self._budget, self._drain_budget)
        for name, drained in drain.items():
            if self._drain_budget < len(drained) and (self._drain_budget == 0 or not self._may_overflow):
                break
            self._take_group(name, [], drained)

    def _take_group(self, name: str, emptied: list[str], drained: list[str]) -> None:
        count = len(emptied) + len(drained)
        if count not in self._whole[name]:
            return
        self.empty += emptied
        self.drain += drained
        self._budget -= count
        self._drain_budget -= len(drained)
        self._may_overflow = False

    def take_nodes(self, empty: Buckets, drain: Buckets) -> None:
        taken = [node for nodes in empty.values() for node in nodes][: max(0, self._budget)]
        self.empty += taken
        self._budget -= len(taken)
        self._drain_budget = min(self._budget, self._drain_budget)
        self.drain += [node for nodes in drain.values() for node in nodes][: max(0, self._drain_budget)]
