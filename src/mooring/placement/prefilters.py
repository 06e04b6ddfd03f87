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
    if not pod.volumes and not pod.claims:
        return NO_CHECKS if rejection is None else NodeChecks(rejection=rejection)
    if rejection is not None and rejection.plugin == "NodeAffinity":
        return NodeChecks(rejection=rejection)
    volumes = volume_checks(cluster, pod) if pod.volumes else ()
    if isinstance(volumes, Rejection):
        return NodeChecks(rejection=volumes)
    if rejection is not None or not pod.claims:
        return NodeChecks(volumes=volumes, rejection=rejection)
    # Most pods have no claims, and then there is no need to wait for the import.
    from mooring.placement.devices.dynamic_resources import device_check

    devices = device_check(cluster, pod)
    if isinstance(devices, Rejection):
        return NodeChecks(volumes=volumes, rejection=devices)
    return NodeChecks(volumes=volumes, devices=devices)
