"""The next step from one template to the next: how many Machines each set of a pool should have.

A Machine that is being deleted still has its host, so it counts against maxSurge until it is gone. That is what lets a
pool without a spare host be updated with maxSurge 0: the new Machine is made when the host of the old one is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["PoolLimits", "SetSize", "on_delete_step", "rolling_step"]


class PoolLimits(NamedTuple):
    replicas: int
    surge: int = 1
    unavailable: int = 0


class SetSize(NamedTuple):
    """A set as it is seen. `existing` are its Machines, those that are being deleted included; `staying` are not."""

    name: str
    replicas: int
    existing: int = 0
    available: int = 0
    staying: int = 0

    @property
    def occupied(self) -> int:
        return max(self.replicas, self.existing)


def rolling_step(limits: PoolLimits, new: SetSize, old: Sequence[SetSize]) -> dict[str, int]:
    """New sizes by set: the new set grows while there is room, and only then do the others shrink."""
    wanted = limits.replicas
    if new.replicas > wanted:
        return {new.name: wanted}
    room = wanted + limits.surge - new.occupied - sum(each.occupied for each in old)
    if new.replicas < wanted and room > 0:
        return {new.name: new.replicas + min(room, wanted - new.replicas)}
    return _shrunk(limits, new, [each for each in old if each.replicas > 0])


def _shrunk(limits: PoolLimits, new: SetSize, old: Sequence[SetSize]) -> dict[str, int]:
    least = limits.replicas - limits.unavailable
    total = new.replicas + sum(each.replicas for each in old)
    spare = total - least - max(0, new.replicas - new.available)
    sizes = {each.name: each.replicas for each in old}
    # Machines that are not available are missed by nobody.
    for each in old:
        cut = min(each.replicas - min(each.available, each.replicas), max(0, spare))
        sizes[each.name] -= cut
        spare -= cut
    can = new.available + sum(min(each.available, sizes[each.name]) for each in old) - least
    for each in old:
        cut = min(sizes[each.name], max(0, can), max(0, spare))
        sizes[each.name] -= cut
        can -= cut
        spare -= cut
    return {each.name: sizes[each.name] for each in old if sizes[each.name] != each.replicas}


def on_delete_step(limits: PoolLimits, new: SetSize, old: Sequence[SetSize]) -> dict[str, int]:
    """New sizes where people replace Machines: an old set follows what they delete, and the new one fills up."""
    sizes = {each.name: min(each.replicas, each.staying) for each in old}
    sizes[new.name] = new.replicas
    excess = sum(sizes.values()) - limits.replicas
    for each in (*old, new):
        cut = min(sizes[each.name], max(0, excess))
        sizes[each.name] -= cut
        excess -= cut
    room = limits.replicas - new.occupied - sum(max(sizes[each.name], each.existing) for each in old)
    if room > 0:
        sizes[new.name] += room
    return {each.name: sizes[each.name] for each in (*old, new) if sizes[each.name] != each.replicas}
