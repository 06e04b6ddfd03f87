"""What a node group could do for the pods that wait."""

from __future__ import annotations

from typing import NamedTuple

from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.scale_up.pending_pods import PendingPod
from mooring.features.autoscaler.snapshot import NodeTemplate

__all__ = ["ScaleUpOption"]


class ScaleUpOption(NamedTuple):
    group: NodeGroup
    template: NodeTemplate
    nodes: int
    pods: tuple[PendingPod, ...]
    # Groups that may share the scale-up.
    similar: tuple[NodeGroup, ...]
