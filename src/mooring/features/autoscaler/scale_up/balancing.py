"""New nodes dealt out between groups that are as good as each other: the smallest group first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from mooring.features.autoscaler.node_groups import NodeGroup

__all__ = ["Resize", "balance"]


class Resize(NamedTuple):
    group: str
    size: int
    new_size: int
    max: int

    def __str__(self) -> str:
        return f"{{{self.group} {self.size}->{self.new_size} (max: {self.max})}}"


def balance(groups: Iterable[NodeGroup], new_nodes: int, take: Callable[[str], bool]) -> tuple[Resize, ...]:
    """As many nodes as the groups have room for; groups that stay as they are do not appear.

    `take` says whether a group can get one more node, and counts it.
    """
    found = [Resize(group.name, group.target, group.target, group.max) for group in groups if group.target < group.max]
    found.sort(key=lambda each: each.size)
    first = current = 0
    while new_nodes > 0 and first < len(found):
        each = found[current]
        if each.new_size < each.max and take(each.group):
            new_nodes -= 1
            found[current] = each._replace(new_size=each.new_size + 1)
        else:
            # This one is full: it goes to the front, out of the way.
            found[first], found[current] = each, found[first]
            first += 1
        # Upstream looks at the place, not at the group, after the two have changed places.
        onward = current < len(found) - 1 and found[current].new_size > found[current + 1].new_size
        current = current + 1 if onward else first
    return tuple(each for each in found if each.new_size != each.size)
