"""What is asked about a pod before any node is looked at, in the order of the plugins."""

from __future__ import annotations

from mooring.placement.plugins.node_checks import NO_CHECKS, NodeChecks
from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.verdicts import Rejection
from mooring.placement.volumes.checks import volume_checks


def node_checks(cluster: SchedulerCache, pod: PodInfo) -> NodeChecks:
    """The checks that nodes are put to one by one for this pod, or why it is turned away."""
    rejection = pod.template.rejection
    if not pod.volumes:
        return NO_CHECKS if rejection is None else NodeChecks(rejection=rejection)
    if rejection is not None and rejection.plugin == "NodeAffinity":
        return NodeChecks(rejection=rejection)
    volumes = volume_checks(cluster, pod)
    if isinstance(volumes, Rejection):
        return NodeChecks(rejection=volumes)
    return NodeChecks(volumes=volumes, rejection=rejection)
