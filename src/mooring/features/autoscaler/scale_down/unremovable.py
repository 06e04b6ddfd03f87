"""Why a node stays."""

from __future__ import annotations

from typing import Literal, NamedTuple

from mooring.features.autoscaler.scale_down.drain_rules import BlockingPod

__all__ = ["UnremovableNode", "UnremovableReason"]

UnremovableReason = Literal[
    "ScaleDownDisabledAnnotation",
    "ScaleDownUnreadyDisabled",
    "NotAutoscaled",
    "NotUnneededLongEnough",
    "NotUnreadyLongEnough",
    "NodeGroupMinSizeReached",
    "AtomicScaleDownFailed",
    "MinimalResourceLimitExceeded",
    "CurrentlyBeingDeleted",
    "NotUnderutilized",
    "RecentlyUnremovable",
    "NoPlaceToMovePods",
    "BlockedByPod",
    "UnexpectedError",
]


class UnremovableNode(NamedTuple):
    node: str
    reason: UnremovableReason
    blocking: BlockingPod | None = None
