"""What the whole cluster may have of cpu and memory, and how many nodes of a group still fit into that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.pods import allocatable_gpus
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.views import AutoscalerNode
from mooring.kube.errors import MooringError
from mooring.kube.quantities import value

__all__ = ["ClusterQuota", "QuotaCheck"]

_NAME: Final = "cluster-wide"


class QuotaCheck(NamedTuple):
    allowed: int
    # The resources of which there is not enough left.
    exceeded: tuple[str, ...]

    @property
    def reason(self) -> str:
        return f'exceeded quota: "{_NAME}", resources: {", ".join(self.exceeded)}'


class ClusterQuota:
    def __init__(
        self, nodes: Iterable[AutoscalerNode], owners: Mapping[str, NodeGroup], settings: AutoscalerSettings
    ) -> None:
        self._label = settings.gpu_label
        self._lenient = settings.skip_malformed_pools
        # The first node that is seen of a group stands for all of them.
        self._groups: dict[str, Mapping[str, int]] = {}
        used = {"cpu": 0, "memory": 0}
        for node in nodes:
            amounts = self._of_group(owners.get(node.name), node)
            for resource in used:
                used[resource] += amounts[resource]
        limits = {"cpu": settings.max_cores, "memory": settings.max_memory}
        self._left = {resource: max(0, limit - used[resource]) for resource, limit in limits.items()}

    def check(self, group: NodeGroup, template: AutoscalerNode, count: int) -> QuotaCheck:
        """How many of so many nodes are allowed."""
        allowed, exceeded = count, []
        for resource, amount in self._of_group(group, template).items():
            left = self._left[resource]
            if amount > 0 and left < amount * count:
                allowed = min(allowed, left // amount)
                exceeded.append(resource)
        return QuotaCheck(allowed, tuple(exceeded))

    def _of_group(self, group: NodeGroup | None, node: AutoscalerNode) -> Mapping[str, int]:
        if group is not None and group.name in self._groups:
            return self._groups[group.name]
        capacity = node.status.capacity or {}
        amounts = {resource: max(0, value(capacity.get(resource, 0))) for resource in ("cpu", "memory")}
        if not self._lenient:
            self._require_gpus(group, node)
        if group is not None:
            self._groups[group.name] = amounts
        return amounts

    def _require_gpus(self, group: NodeGroup | None, node: AutoscalerNode) -> None:
        """Upstream gives up where a node is to have GPUs and nobody can tell how many."""
        if self._label not in (node.metadata.labels or {}) or allocatable_gpus(node)[1]:
            return
        if group is None:
            raise MooringError(
                "could not create quotas tracker: failed to get custom resources: node without with gpu label, without"
                " capacity not belonging to autoscaled node group"
            )
        if group.template is None:
            raise MooringError(f"failed to get custom resources: node group {group.name} has no template")
