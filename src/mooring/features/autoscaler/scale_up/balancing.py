"""New nodes dealt out between groups that are as good as each other: the smallest group first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from mooring.features.autoscaler.node_groups import NodeGroup

__all__ = ["Resize", "balance"]


class Resize(NamedTuple):
    group: str
    size: int
    new_size: int
    max: int


def balance(groups: Iterable[NodeGroup], new_nodes: int) -> tuple[Resize, ...]:
    """As many nodes as the groups have room for; groups that stay as they are do not appear."""
    open_groups = [group for group in groups if group.target != group.max]
    found = [Resize(group.name, group.target, group.target, group.max) for group in open_groups]
    found.sort(key=lambda each: each.size)
    left = min(new_nodes, sum(max(0, each.max - each.size) for each in found))
    first = current = 0
    while left > 0:
        size = found[current].new_size
        if size < found[current].max:
            size += 1
            left -= 1
            found[current] = found[current]._replace(new_size=size)
        else:
            # This one is full: it goes to the front, out of the way.
            found[first], found[current] = found[current], found[first]
            first += 1
        # Upstream looks at the place, not at the group, after the two have changed places.
        size = found[current].new_size
        onward = current < len(found) - 1 and size > found[current + 1].new_size
        current = current + 1 if onward else first
    return tuple(each for each in found if each.new_size != each.size)
