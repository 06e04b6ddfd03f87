"""Nodes that are used so little that it is worth looking for another place for their pods."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from mooring.features.autoscaler.cluster_state.node_readiness import node_readiness
from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.scale_down.unremovable import UnremovableReason
from mooring.features.autoscaler.scale_down.utilization import NodeUtilization, is_gpu_node, node_utilization
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.snapshot import AutoscalerSnapshot
from mooring.features.autoscaler.templates.node_taints import TO_BE_DELETED
from mooring.features.autoscaler.views import AutoscalerNode

__all__ = ["Eligibility", "eligibility", "is_being_deleted", "is_scale_down_disabled"]

_DISABLED: Final = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
# A node that was to be deleted longer ago has outlived it.
_DELETION_TIME: Final = timedelta(minutes=5)


class Eligibility(NamedTuple):
    """`reason` is None where the node may go as far as its use is concerned."""

    reason: UnremovableReason | None
    utilization: NodeUtilization | None = None


def eligibility(
    node: AutoscalerNode,
    group: NodeGroup | None,
    snapshot: AutoscalerSnapshot,
    now: datetime,
    settings: AutoscalerSettings,
) -> Eligibility:
    if is_being_deleted(node, now):
        return Eligibility("CurrentlyBeingDeleted")
    if is_scale_down_disabled(node):
        return Eligibility("ScaleDownDisabledAnnotation")
    if group is None:
        return Eligibility("NotAutoscaled")
    ignore_daemon_sets = group.options.ignore_daemon_sets_utilization
    used = node_utilization(node, snapshot.pods_with_infos_on(node.name), ignore_daemon_sets, now, settings)
    if used is None:
        return Eligibility("UnexpectedError")
    if not settings.scale_down_unready_enabled and not node_readiness(node).ready:
        return Eligibility("ScaleDownUnreadyDisabled")
    threshold = group.options.scale_down_utilization_threshold
    if is_gpu_node(node, settings):
        threshold = group.options.scale_down_gpu_utilization_threshold
    return Eligibility("NotUnderutilized" if used.utilization > threshold else None, used)


def is_scale_down_disabled(node: AutoscalerNode) -> bool:
    return node.metadata.annotations.get(_DISABLED) == "true"


def is_being_deleted(node: AutoscalerNode, now: datetime) -> bool:
    for taint in node.spec.taints or ():
        if taint.key == TO_BE_DELETED and taint.value.isdecimal():
            return now - datetime.fromtimestamp(int(taint.value), UTC) < _DELETION_TIME
    return False
