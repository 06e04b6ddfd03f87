"""A pool as the autoscaler sees it: bounds, the size that was asked for, and the instances that are there."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from mooring.features.autoscaler.settings import NodeGroupOptions
from mooring.features.autoscaler.views import AutoscalerNode

__all__ = ["NodeGroup", "groups_by_node"]


class NodeGroup(msgspec.Struct, frozen=True):
    name: str
    min: int
    max: int
    target: int
    # The instances that the provider has, by the names that their nodes have or will have.
    nodes: tuple[str, ...] = ()
    # What a new node would be, where the group knows that without having a node.
    template: AutoscalerNode | None = None
    options: NodeGroupOptions = NodeGroupOptions()
    # The hosts that are free for it, by name; None where hosts are no limit to the group.
    hosts: frozenset[str] | None = None


def groups_by_node(groups: Iterable[NodeGroup]) -> dict[str, NodeGroup]:
    return {node: group for group in groups for node in group.nodes}
