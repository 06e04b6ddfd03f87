"""Wanted children compared with those that exist: what is missing, what stays, and what is too many.

    found = compare(wanted, {child.metadata.name: child for child in view.owned(SERVICE, owner)})

Children are known by a slot that follows from their owner: a name, a node, an index. Deciding again on the same view
therefore asks for the same children, and an answer that was lost is repeated without a second child.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

from mooring.api.kinds import HasMeta

__all__ = ["Comparison", "compare"]

Slot = TypeVar("Slot")
Wanted = TypeVar("Wanted")
Child = TypeVar("Child", bound=HasMeta)


class Comparison(NamedTuple, Generic[Slot, Wanted, Child]):
    # Slots without a child.
    missing: dict[Slot, Wanted]
    # Slots with the child that holds them and what is wanted there.
    kept: dict[Slot, tuple[Child, Wanted]]
    # Slots whose child is being deleted. The next child takes its place when it is gone, and that wakes the owner.
    terminating: dict[Slot, Wanted]
    # Children in slots that are not wanted, and which are not on their way out already.
    surplus: list[Child]


def compare(wanted: Mapping[Slot, Wanted], existing: Mapping[Slot, Child]) -> Comparison[Slot, Wanted, Child]:
    """What it takes to get from the children that exist to those that are wanted, in the order in which they come."""
    found: Comparison[Slot, Wanted, Child] = Comparison({}, {}, {}, [])
    for slot, want in wanted.items():
        child = existing.get(slot)
        if child is None:
            found.missing[slot] = want
        elif child.metadata.deleting:
            found.terminating[slot] = want
        else:
            found.kept[slot] = child, want
    surplus = (child for slot, child in existing.items() if slot not in wanted)
    found.surplus.extend(child for child in surplus if not child.metadata.deleting)
    return found
