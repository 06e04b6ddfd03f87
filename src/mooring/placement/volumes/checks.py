"""What is found out about a pod's volumes before any node is looked at: why it waits, or what nodes are asked."""

from __future__ import annotations

from mooring.api.core.views import PersistentVolumeClaim
from mooring.placement.plugins.node_checks import NodeCheck
from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.verdicts import UNRESOLVABLE, Rejection
from mooring.placement.volumes.binding import VolumeBindings
from mooring.placement.volumes.limits import VolumeLimits
from mooring.placement.volumes.ownership import not_made_for
from mooring.placement.volumes.restrictions import Restrictions
from mooring.placement.volumes.storage_cache import StorageCache
from mooring.placement.volumes.zones import VolumeZones

UNBOUND = "pod has unbound immediate PersistentVolumeClaims"


def volume_checks(cluster: SchedulerCache, pod: PodInfo) -> tuple[NodeCheck, ...] | Rejection:
    """The checks of a pod's volumes in the order of the filters, or why the pod is turned away."""
    storage = cluster.storage
    for volume in pod.volumes:
        if volume.claim and not volume.ephemeral and f"{pod.namespace}/{volume.claim}" not in storage.claims:
            text = f'persistentvolumeclaim "{volume.claim}" not found'
            return Rejection("VolumeRestrictions", UNRESOLVABLE, text)
    binding = _binding(cluster, pod)
    if isinstance(binding, Rejection):
        return binding
    zones = VolumeZones(cluster, pod)
    if zones.rejection is not None:
        return zones.rejection
    restrictions, limits = Restrictions(cluster, pod), VolumeLimits(cluster, pod)
    found: list[NodeCheck] = []
    if restrictions.needed:
        found.append(restrictions)
    if limits.needed:
        found.append(limits)
    if binding is not None:
        found.append(binding)
    if zones.needed:
        found.append(zones)
    return tuple(found)


def _binding(cluster: SchedulerCache, pod: PodInfo) -> VolumeBindings | Rejection | None:
    storage = cluster.storage
    bound: list[PersistentVolumeClaim] = []
    delayed: list[str] = []
    immediate = False
    for volume in pod.volumes:
        if not volume.claim:
            continue
        key = f"{pod.namespace}/{volume.claim}"
        claim = storage.claims.get(key)
        if claim is None:
            text = f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{volume.claim}"'
            return Rejection("VolumeBinding", UNRESOLVABLE, text)
        if why := _unusable(claim) or (not_made_for(claim, pod) if volume.ephemeral else ""):
            return Rejection("VolumeBinding", UNRESOLVABLE, why)
        if claim.spec.volume_name and claim.metadata.annotations.bind_completed is not None:
            bound.append(claim)
        elif not claim.spec.volume_name and _delays(storage, claim):
            delayed.append(key)
        else:
            immediate = True
    if immediate:
        return Rejection("VolumeBinding", UNRESOLVABLE, UNBOUND)
    return VolumeBindings(cluster, pod, bound, delayed) if bound or delayed else None


def _unusable(claim: PersistentVolumeClaim) -> str:
    name = claim.metadata.name
    if claim.status.phase == "Lost":
        gone = claim.spec.volume_name
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{gone}"'
    return f'persistentvolumeclaim "{name}" is being deleted' if claim.metadata.deleting else ""


def _delays(storage: StorageCache, claim: PersistentVolumeClaim) -> bool:
    found = storage.classes.get(claim.class_name)
    return found is not None and found.delays
