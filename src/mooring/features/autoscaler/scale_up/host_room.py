"""How many nodes groups can get from the hosts that are free: a host that fits several groups is given away once."""

from __future__ import annotations

from collections.abc import Sequence

from mooring.features.autoscaler.node_groups import NodeGroup

__all__ = ["HostRoom"]


class HostRoom:
    """What is left when the nodes that groups wait for have their hosts."""

    def __init__(self, groups: Sequence[NodeGroup]) -> None:
        self._hosts = {group.name: sorted(group.hosts) for group in groups if group.hosts is not None}
        # Which group has which host; it may be given another one to make room.
        self._owners: dict[str, str] = {}
        for group in groups:
            if group.name in self._hosts:
                self.take_up_to(group.name, group.target - len(group.nodes))

    def copy(self) -> HostRoom:
        """The same to try things out."""
        twin = HostRoom(())
        twin._hosts, twin._owners = self._hosts, dict(self._owners)
        return twin

    def take(self, group: str) -> bool:
        """One more node for a group, if there is a host for it."""
        return group not in self._hosts or self._give(group, {group})

    def take_up_to(self, group: str, count: int) -> int:
        """As many of so many nodes as there are hosts for."""
        if group not in self._hosts:
            return count
        for taken in range(count):
            if not self.take(group):
                return taken
        return max(0, count)

    def _give(self, group: str, asked: set[str]) -> bool:
        """A free host, or one of a group that can do with another."""
        hosts = self._hosts[group]
        for host in hosts:
            if host not in self._owners:
                self._owners[host] = group
                return True
        for host in hosts:
            owner = self._owners[host]
            if owner not in asked and self._give(owner, asked | {owner}):
                self._owners[host] = group
                return True
        return False
