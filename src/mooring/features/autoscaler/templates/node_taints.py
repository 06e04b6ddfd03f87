"""Taints of nodes that say something about a moment, and those that a new node would have, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.views import AutoscalerNode, AutoscalerTaint

__all__ = ["DELETION_CANDIDATE", "TO_BE_DELETED", "has_startup_taint", "lasting_taints"]

TO_BE_DELETED: Final = "ToBeDeletedByClusterAutoscaler"
DELETION_CANDIDATE: Final = "DeletionCandidateOfClusterAutoscaler"
_PASSING: Final = frozenset(
    {
        TO_BE_DELETED,
        DELETION_CANDIDATE,
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/unschedulable",
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/network-unavailable",
        "node.kubernetes.io/pid-pressure",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.cloudprovider.kubernetes.io/shutdown",
        "cloud.google.com/impending-node-termination",
        "NodeWithImpairedVolumes",
    }
)
_STARTUP_PREFIXES: Final = (
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
)
_STATUS_PREFIX: Final = "status-taint.cluster-autoscaler.kubernetes.io/"


def _is_startup_taint(key: str, settings: AutoscalerSettings) -> bool:
    return key in settings.startup_taints or key.startswith(_STARTUP_PREFIXES)


def has_startup_taint(node: AutoscalerNode, settings: AutoscalerSettings) -> bool:
    """Whether something on the node has yet to start."""
    return any(_is_startup_taint(taint.key, settings) for taint in node.spec.taints or ())


def lasting_taints(taints: Iterable[AutoscalerTaint], settings: AutoscalerSettings) -> tuple[AutoscalerTaint, ...]:
    return tuple(
        taint
        for taint in taints
        if taint.key not in _PASSING
        and not _is_startup_taint(taint.key, settings)
        and not taint.key.startswith(_STATUS_PREFIX)
    )
