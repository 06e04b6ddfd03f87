"""Which of the unneeded nodes may be deleted now, and how many deletions may start at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from mooring.features.autoscaler.cluster_state.node_readiness import node_readiness
from mooring.features.autoscaler.node_groups import NodeGroup, groups_by_node
from mooring.features.autoscaler.observation import Look
from mooring.features.autoscaler.scale_down.eligibility import is_being_deleted, is_scale_down_disabled
from mooring.features.autoscaler.scale_down.planner import UnneededNodes
from mooring.features.autoscaler.scale_down.removal import RemovableNode
from mooring.features.autoscaler.scale_down.unremovable import UnremovableNode, UnremovableReason
from mooring.features.autoscaler.views import AutoscalerNode
from mooring.kube.quantities import value

__all__ = ["Deletion", "nodes_to_delete"]


class Deletion(msgspec.Struct, frozen=True):
    """`held` are unneeded, but not yet for long enough, or something else does not allow it."""

    empty: Sequence[str]
    drain: Sequence[str]
    held: Sequence[UnremovableNode]


class _Left(NamedTuple):
    """What the cluster has above its minimum; None without one."""

    cores: int | None
    memory: int | None

    def without(self, node: AutoscalerNode) -> _Left | None:
        """None where the node takes more than there is."""
        capacity = node.status.capacity or {}
        cores, memory = (max(0, value(capacity.get(name, 0))) for name in ("cpu", "memory"))
        if (self.cores is not None and cores > self.cores) or (self.memory is not None and memory > self.memory):
            return None
        return _Left(
            None if self.cores is None else self.cores - cores,
            None if self.memory is None else self.memory - memory,
        )


def nodes_to_delete(look: Look, unneeded: UnneededNodes) -> Deletion:
    owners = groups_by_node(look.objects.groups)
    nodes = {node.name: node for node in look.nodes}
    sizes = Counter({group.name: group.target for group in look.objects.groups})
    sizes.subtract(owners[name].name for name in look.objects.deleting if name in owners)
    left = _above_minimum(look)
    allowed: list[RemovableNode] = []
    held: list[UnremovableNode] = []
    # Empty ones first, and last those whose pods cannot all go at the same time.
    for each in sorted(unneeded.removable, key=lambda each: (bool(each.pods), each.risky)):
        group = owners[each.node]
        since = unneeded.memory.unneeded_since[each.node]
        verdict = _judge(nodes[each.node], group, since, sizes[group.name], left, look.now)
        if isinstance(verdict, str):
            held.append(UnremovableNode(each.node, verdict))
            continue
        left = verdict
        sizes[group.name] -= 1
        allowed.append(each)
    allowed, failed = _whole_groups(look, allowed, owners)
    return Deletion(
        [each.node for each in allowed if not each.pods], [each.node for each in allowed if each.pods], [*held, *failed]
    )


def _judge(
    node: AutoscalerNode, group: NodeGroup, since: datetime, size: int, left: _Left, now: datetime
) -> UnremovableReason | _Left:
    """Why a node must wait, or what is left without it."""
    if is_scale_down_disabled(node):
        return "ScaleDownDisabledAnnotation"
    ready = node_readiness(node).ready
    time = group.options.scale_down_unneeded_time if ready else group.options.scale_down_unready_time
    if time and since + time >= now:
        return "NotUnneededLongEnough" if ready else "NotUnreadyLongEnough"
    if size <= group.min:
        return "NodeGroupMinSizeReached"
    return left.without(node) or "MinimalResourceLimitExceeded"


def _above_minimum(look: Look) -> _Left:
    staying = [node.status.capacity or {} for node in look.nodes if not is_being_deleted(node, look.now)]
    cores, memory = (sum(max(0, value(each.get(name, 0))) for each in staying) for name in ("cpu", "memory"))
    settings = look.settings
    return _Left(
        max(0, cores - settings.min_cores) if settings.min_cores > 0 else None,
        max(0, memory - settings.min_memory) if settings.min_memory > 0 else None,
    )


def _whole_groups(
    look: Look, allowed: Iterable[RemovableNode], owners: Mapping[str, NodeGroup]
) -> tuple[list[RemovableNode], list[UnremovableNode]]:
    """Groups that have all nodes or none give up all of them or none."""
    registered = Counter(owners[node.name].name for node in look.nodes if node.name in owners)
    found: list[RemovableNode] = []
    together: dict[str, list[RemovableNode]] = {}
    for each in allowed:
        group = owners[each.node]
        (together.setdefault(group.name, []) if group.options.zero_or_max else found).append(each)
    failed: list[UnremovableNode] = []
    for name, nodes in together.items():
        if len(nodes) in (owners[nodes[0].node].target, registered[name]):
            found += nodes
        else:
            failed += (UnremovableNode(each.node, "AtomicScaleDownFailed") for each in nodes)
    return found, failed
