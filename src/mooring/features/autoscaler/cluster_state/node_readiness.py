"""Whether a node is ready, and since when it is as it is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, NamedTuple

from mooring.features.autoscaler.views import AutoscalerNode
from mooring.kube.times import moment

__all__ = ["NodeReadiness", "is_ready_and_schedulable", "node_readiness"]

_NOT_READY_TAINTS: Final = frozenset(
    {"node.kubernetes.io/not-ready", "node.kubernetes.io/disk-pressure", "node.kubernetes.io/network-unavailable"}
)
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


class NodeReadiness(NamedTuple):
    ready: bool
    since: datetime


def node_readiness(node: AutoscalerNode) -> NodeReadiness:
    """A node that says nothing about itself is not ready."""
    found, ready, since = False, True, _LONG_AGO
    for condition in node.status.conditions or ():
        if condition.type == "Ready":
            found = True
            ready = ready and condition.status not in ("False", "Unknown")
        elif condition.type in ("DiskPressure", "NetworkUnavailable"):
            ready = ready and condition.status != "True"
        else:
            continue
        if condition.last_transition_time:
            since = max(since, moment(condition.last_transition_time))
    for taint in node.spec.taints or ():
        if taint.key in _NOT_READY_TAINTS:
            ready = False
            if taint.time_added:
                since = max(since, moment(taint.time_added))
    return NodeReadiness(ready, since) if found else NodeReadiness(False, _LONG_AGO)


def is_ready_and_schedulable(node: AutoscalerNode) -> bool:
    return not node.spec.unschedulable and node_readiness(node).ready
