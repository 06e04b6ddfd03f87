"""NodeVolumeLimits: a driver attaches only so many volumes to a node."""

from __future__ import annotations

from collections import Counter

import numpy as np

from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.storage.views import CSINode
from mooring.kube.errors import MooringError
from mooring.placement.labels import Mask
from mooring.placement.plugins.node_checks import UNCHANGED, NodeChange, NodeCheck
from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.verdicts import ERROR, UNSCHEDULABLE, Reason
from mooring.placement.volumes.in_tree import BY_PLUGIN, UNCOUNTED, counts
from mooring.placement.volumes.ownership import not_made_for

PLUGIN = "NodeVolumeLimits"
TOO_MANY_VOLUMES = Reason(PLUGIN, UNSCHEDULABLE, "node(s) exceed max volume count")

# A volume by its driver and the driver's name for it.
Attached = set[tuple[str, str]]


class VolumeLimits(NodeCheck):
    plugin = PLUGIN
    reasons = (TOO_MANY_VOLUMES,)

    def __init__(self, cluster: SchedulerCache, pod: PodInfo) -> None:
        self._cluster = cluster
        self._pod = pod

    @property
    def needed(self) -> bool:
        return any(volume.claim or volume.inline for volume in self._pod.volumes)

    def narrow(self, mask: Mask) -> dict[int, Reason]:
        cluster, storage = self._cluster, self._cluster.storage
        if not storage.limits:
            # Without a word of any driver there is no limit anywhere.
            return {}
        wanted = self._wanted()
        if wanted is None:
            return super().narrow(mask)
        errors: dict[int, Reason] = {}
        for slot in np.flatnonzero(mask).tolist() if wanted else ():
            limits = storage.limits.get(cluster.names[slot])
            if not limits or self._has_room(slot, limits, wanted):
                continue
            if found := self.at(slot):
                mask[slot] = False
                if found[0].code == ERROR:
                    errors[slot] = found[0]
        return errors

    def _wanted(self) -> Counter[str] | None:
        """How many volumes of each driver the pod brings; None where that is another number on each node."""
        storage = self._cluster.storage
        for volume in self._pod.volumes:
            claim = storage.claims.get(f"{self._pod.namespace}/{volume.claim}")
            if claim is None:
                return None
            stored, found = storage.volumes.get(claim.spec.volume_name), storage.classes.get(claim.class_name)
            if (
                stored.takeover is not None
                if stored is not None
                else found is not None and found.provisioner in BY_PLUGIN
            ):
                return None
        return Counter(driver for driver, _ in self._volumes(self._pod, None))

    def _has_room(self, slot: int, limits: dict[str, int], wanted: Counter[str]) -> bool:
        """Whether there is room even if every volume on the node were of one driver; False where it must be asked."""
        held = len(self._cluster.storage.attached_to.get(self._cluster.names[slot], ()))
        for pod in self._cluster.mounting.get(slot, {}).values():
            if any(volume.ephemeral for volume in pod.volumes):
                return False
            held += len(pod.volumes)
        return all(count + held <= limits[driver] for driver, count in wanted.items() if driver in limits)

    def at(self, slot: int, change: NodeChange = UNCHANGED) -> tuple[Reason, ...]:
        storage = self._cluster.storage
        node = storage.csi_nodes.get(self._cluster.names[slot])
        limits = storage.limits.get(self._cluster.names[slot])
        if not limits:
            # Claims that are not there were told before any node was looked at.
            return ()
        try:
            new = self._volumes(self._pod, node)
            if not new:
                return ()
            attached: Attached = set()
            for pod in change.pods(self._cluster.mounting.get(slot, {})):
                attached |= self._volumes(pod, node)
        except MooringError as error:
            return (self.error(str(error)),)
        used = Counter(driver for driver, _ in attached | self._attachments(self._cluster.names[slot]))
        wanted = Counter(driver for driver, _ in new - attached)
        exceeded = any(count + used[driver] > limits[driver] for driver, count in wanted.items() if driver in limits)
        return (TOO_MANY_VOLUMES,) if exceeded else ()

    def _volumes(self, pod: PodInfo, node: CSINode | None) -> Attached:
        """What is attached for a pod. Raises MooringError for a claim that was made for another pod."""
        found: Attached = set()
        for volume in pod.volumes:
            if not volume.claim:
                if volume.inline is not None and counts(node, volume.inline.plugin):
                    found.add((volume.inline.driver, volume.inline.handle))
                continue
            claim = self._cluster.storage.claims.get(f"{pod.namespace}/{volume.claim}")
            if claim is None:
                continue
            if volume.ephemeral and (why := not_made_for(claim, pod)):
                raise MooringError(why)
            driver, handle = self._driver(claim, node)
            if driver and handle:
                found.add((driver, handle))
        return found

    def _driver(self, claim: PersistentVolumeClaim, node: CSINode | None) -> tuple[str, str]:
        """The driver that attaches a claim's volume, and its name for it; empty where no driver does."""
        stored = self._cluster.storage.volumes.get(claim.spec.volume_name)
        if stored is None:
            return self._driver_of_class(claim, node)
        source, takeover = stored.view.spec.csi, stored.takeover
        if source is not None:
            return source.driver, source.volume_handle
        if takeover is None or not counts(node, takeover.plugin):
            return "", ""
        return takeover.driver, stored.handle

    def _driver_of_class(self, claim: PersistentVolumeClaim, node: CSINode | None) -> tuple[str, str]:
        found = self._cluster.storage.classes.get(claim.class_name)
        if found is None:
            return "", ""
        # No volume has such a name, so it is told from all that exist.
        handle = f"\0{claim.metadata.namespace}/{claim.metadata.name}"
        takeover = BY_PLUGIN.get(found.provisioner)
        if takeover is None:
            return ("", "") if found.provisioner in UNCOUNTED else (found.provisioner, handle)
        return (takeover.driver, handle) if counts(node, takeover.plugin) else ("", "")

    def _attachments(self, node: str) -> Attached:
        storage = self._cluster.storage
        found: Attached = set()
        for attachment in storage.attached_to.get(node, {}).values():
            spec = attachment.spec
            if spec.attacher and spec.source.persistent_volume_name is not None:
                stored = storage.volumes.get(spec.source.persistent_volume_name)
                if stored is not None and stored.view.spec.csi is not None:
                    found.add((spec.attacher, stored.view.spec.csi.volume_handle))
        return found
