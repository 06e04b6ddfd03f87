"""VolumeRestrictions: a disk is not shared on one node, and a ReadWriteOncePod claim not at all."""

from __future__ import annotations

from mooring.placement.plugins.node_checks import UNCHANGED, NodeChange, NodeCheck
from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.verdicts import UNSCHEDULABLE, Reason

PLUGIN = "VolumeRestrictions"
DISK_TAKEN = Reason(PLUGIN, UNSCHEDULABLE, "node(s) had no available disk")
CLAIM_TAKEN = Reason(
    PLUGIN,
    UNSCHEDULABLE,
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
)


class Restrictions(NodeCheck):
    plugin = PLUGIN
    reasons = (DISK_TAKEN, CLAIM_TAKEN)

    def __init__(self, cluster: SchedulerCache, pod: PodInfo) -> None:
        self._cluster = cluster
        self._disks = [volume.disk for volume in pod.volumes if volume.disk is not None]
        claims = {volume.claim for volume in pod.volumes if volume.claim and not volume.ephemeral}
        self._exclusive = {
            name
            for name in claims
            if "ReadWriteOncePod" in cluster.storage.claims[f"{pod.namespace}/{name}"].spec.access_modes
        }
        self._users = sum(f"{pod.namespace}/{name}" in cluster.claim_users for name in self._exclusive)

    @property
    def needed(self) -> bool:
        return bool(self._disks or self._users)

    def at(self, slot: int, change: NodeChange = UNCHANGED) -> tuple[Reason, ...]:
        if self._disks:
            present = [
                volume.disk
                for pod in change.pods(self._cluster.mounting.get(slot, {}))
                for volume in pod.volumes
                if volume.disk is not None
            ]
            if any(disk.conflicts(other) for disk in self._disks for other in present):
                return (DISK_TAKEN,)
        # Pods that come and go are counted by the name of the claim alone: one of another namespace counts too.
        users = self._users + sum(map(self._used_by, change.added)) - sum(map(self._used_by, change.removed))
        return (CLAIM_TAKEN,) if users > 0 else ()

    def _used_by(self, pod: PodInfo) -> int:
        return sum(not volume.ephemeral and volume.claim in self._exclusive for volume in pod.volumes)
