"""The Node as Machines see it: with its provider's id, its annotations, and no heartbeat."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from mooring.api.conditions import find_condition, is_true
from mooring.api.core.types import View
from mooring.api.core.views import Taint
from mooring.api.kinds import Kind
from mooring.api.meta import AnnotatedMeta, Condition
from mooring.kube.objects import Object

__all__ = ["MACHINE_NODE", "MachineNode"]


class MachineNodeSpec(View, frozen=True):
    provider_id: str = msgspec.field(default="", name="providerID")
    unschedulable: bool = False
    taints: tuple[Taint, ...] | None = None


class MachineNodeStatus(View, frozen=True):
    conditions: tuple[Condition, ...] = ()
    node_info: Object | None = None


class MachineNode(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: MachineNodeSpec = MachineNodeSpec()
    status: MachineNodeStatus = MachineNodeStatus()

    @property
    def ready(self) -> bool:
        return is_true(self.status.conditions, "Ready")

    @property
    def unreachable(self) -> bool:
        """Whether its kubelet is not heard of, so that pods on it cannot say that they have ended."""
        ready = find_condition(self.status.conditions, "Ready")
        return ready is not None and ready.status == "Unknown"


def _by_provider(node: MachineNode) -> Iterable[str]:
    return (node.spec.provider_id,) if node.spec.provider_id else ()


MACHINE_NODE: Final = Kind(
    "v1", "Node", MachineNode, indexes={"provider": _by_provider}, placed_by=("spec",), on_demand=True
)
