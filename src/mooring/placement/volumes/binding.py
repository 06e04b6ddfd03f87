"""VolumeBinding: whether a node reaches the volumes that claims are bound to, and can be given those they still need.

A claim that waits for its pod takes the smallest free volume that the node reaches; what finds none is made there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from mooring.api.core.types import Labels
from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.storage.views import PersistentVolume, StorageClass
from mooring.kube.errors import SelectorError
from mooring.kube.quantities import parse_quantity, value
from mooring.placement.labels import Mask
from mooring.placement.plugins.node_checks import UNCHANGED, NodeChange, NodeCheck
from mooring.placement.pods import PodInfo, view_selector
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.verdicts import UNRESOLVABLE, Reason
from mooring.placement.volumes.in_tree import listed
from mooring.placement.volumes.storage_cache import StorageCache, StoredVolume, VolumeWrite, reaches, size_of

PLUGIN = "VolumeBinding"
OUT_OF_REACH = Reason(PLUGIN, UNRESOLVABLE, "node(s) didn't match PersistentVolume's node affinity")
NO_VOLUME = Reason(PLUGIN, UNRESOLVABLE, "node(s) didn't find available persistent volumes to bind")
NO_SPACE = Reason(PLUGIN, UNRESOLVABLE, "node(s) did not have enough free storage")
VOLUME_GONE = Reason(PLUGIN, UNRESOLVABLE, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")

NO_PROVISIONER = "kubernetes.io/no-provisioner"
FILESYSTEM = "Filesystem"


class Bindings(NamedTuple):
    """What a node would have written for a pod's claims, and why it cannot be."""

    writes: tuple[VolumeWrite, ...] = ()
    reasons: tuple[Reason, ...] = ()


class VolumeBindings(NodeCheck):
    plugin = PLUGIN
    reasons = (OUT_OF_REACH, NO_VOLUME, NO_SPACE, VOLUME_GONE)
    steady = True

    def __init__(
        self, cluster: SchedulerCache, pod: PodInfo, bound: list[PersistentVolumeClaim], delayed: list[str]
    ) -> None:
        self._cluster = cluster
        self._bound = bound
        # Claims that wait for their pod, by key and as often as they are mounted.
        self._delayed = delayed

    def at(self, slot: int, change: NodeChange = UNCHANGED) -> tuple[Reason, ...]:
        return self.bindings(slot).reasons

    def narrow(self, mask: Mask) -> dict[int, Reason]:
        storage, labels = self._cluster.storage, self._cluster.labels
        volumes = [storage.volumes.get(claim.spec.volume_name) for claim in self._bound]
        translated = any(stored is not None and stored.takeover is not None for stored in volumes)
        if translated or not all(map(self._is_made_anywhere, self._delayed)):
            return super().narrow(mask)
        nowhere = np.zeros(mask.size, dtype=np.bool_)
        for stored in volumes:
            if stored is None:
                mask &= False
            elif stored.affinity is not None:
                mask &= np.logical_or.reduce(
                    [nowhere, *(labels.term(t, lambda name: nowhere) for t in stored.affinity)]
                )
        return {}

    def _is_made_anywhere(self, key: str) -> bool:
        """Whether a volume is made for a claim wherever its pod goes, and none that is there comes into question."""
        storage = self._cluster.storage
        claim = storage.claims[key]
        found = storage.classes[claim.class_name]
        if claim.metadata.annotations.selected_node is not None or storage.by_class.get(claim.class_name):
            return False
        driver = storage.drivers.get(found.provisioner)
        told = driver is not None and driver.spec.storage_capacity
        return not told and not found.allowed_topologies and found.provisioner not in ("", NO_PROVISIONER)

    def bindings(self, slot: int) -> Bindings:
        storage = self._cluster.storage
        node = self._cluster.nodes[slot]
        labels = (node.metadata.labels if node else None) or {}
        reasons = [*self._check_bound(storage, slot, labels)]
        if not self._delayed:
            return Bindings((), tuple(reasons))
        name = self._cluster.names[slot]
        claims = [(key, storage.claims[key]) for key in self._delayed]
        selected = {claim.metadata.annotations.selected_node for _, claim in claims} - {None}
        if selected - {name}:
            return Bindings((), _ordered([*reasons, NO_VOLUME]))
        sent = [(key, claim) for key, claim in claims if claim.metadata.annotations.selected_node is not None]
        free = [(key, claim) for key, claim in claims if claim.metadata.annotations.selected_node is None]
        taken: set[str] = set()
        writes = []
        unmatched = []
        for key, claim in sorted(free, key=lambda entry: size_of(entry[1])):
            volumes = storage.by_class.get(claim.class_name, {})
            volume = smallest_volume(claim, volumes, lambda stored: reaches(stored.affinity, labels), taken)
            if volume is None:
                unmatched.append((key, claim))
            else:
                taken.add(volume)
                writes.append(VolumeWrite(key, volume=volume))
        for key, claim in [*sent, *unmatched]:
            if (reason := why_not_provisioned(claim, storage, labels)) is not None:
                return Bindings((), _ordered([*reasons, reason]))
            writes.append(VolumeWrite(key, node=name))
        return Bindings(tuple(writes), _ordered(reasons))

    def _check_bound(self, storage: StorageCache, slot: int, labels: Labels) -> tuple[Reason, ...]:
        """The first volume that the node does not reach, or that is gone, has the say."""
        csi_node = storage.csi_nodes.get(self._cluster.names[slot])
        for claim in self._bound:
            stored = storage.volumes.get(claim.spec.volume_name)
            if stored is None:
                return (VOLUME_GONE,)
            translated = stored.takeover is not None and listed(csi_node, stored.takeover.plugin)
            if not reaches(stored.terms(translated=translated), labels):
                return (OUT_OF_REACH,)
        return ()


def _ordered(reasons: list[Reason]) -> tuple[Reason, ...]:
    return tuple(reason for reason in VolumeBindings.reasons if reason in reasons)


def smallest_volume(
    claim: PersistentVolumeClaim,
    volumes: Mapping[str, StoredVolume],
    is_reached: Callable[[StoredVolume], bool],
    taken: set[str],
) -> str | None:
    """Which of the volumes of its class a claim gets: its own, or the smallest that suits."""
    wanted = size_of(claim)
    smallest: StoredVolume | None = None
    for name, stored in volumes.items():
        spec = stored.view.spec
        own = is_meant_for(stored.view, claim)
        if name in taken or (spec.claim_ref is not None and not own) or stored.size < wanted:
            continue
        if not _has_same_form(claim, stored) or stored.view.metadata.deletion_timestamp is not None:
            continue
        reached = is_reached(stored)
        if own:
            return name if reached else None
        if not reached or stored.view.status.phase != "Available" or not _suits(claim, stored):
            continue
        if smallest is None or stored.size < smallest.size:
            smallest = stored
    return None if smallest is None else smallest.view.metadata.name


def is_meant_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume names the claim; a name without a uid is a reservation."""
    reference, metadata = volume.spec.claim_ref, claim.metadata
    if reference is None or reference.name != metadata.name or reference.namespace != metadata.namespace:
        return False
    return reference.uid in ("", metadata.uid)


def _has_same_form(claim: PersistentVolumeClaim, stored: StoredVolume) -> bool:
    asked, spec = claim.spec, stored.view.spec
    return (asked.volume_mode or FILESYSTEM) == (spec.volume_mode or FILESYSTEM) and (
        asked.volume_attributes_class_name or ""
    ) == (spec.volume_attributes_class_name or "")


def _suits(claim: PersistentVolumeClaim, stored: StoredVolume) -> bool:
    selector = claim.spec.selector
    if selector is not None and not view_selector(selector).matches(stored.view.metadata.labels):
        return False
    return set(claim.spec.access_modes) <= set(stored.view.spec.access_modes)


def why_not_provisioned(claim: PersistentVolumeClaim, storage: StorageCache, labels: Labels) -> Reason | None:
    """Why no volume can be made for a claim on a node of these labels."""
    found = storage.classes[claim.class_name]
    if found.provisioner in ("", NO_PROVISIONER) or not _allows(found, labels):
        return NO_VOLUME
    return None if _has_space(claim, found, storage, labels) else NO_SPACE


def _allows(found: StorageClass, labels: Labels) -> bool:
    """Whether a class makes volumes for nodes of these labels."""
    if not found.allowed_topologies:
        return True
    return any(
        term.match_label_expressions and all(labels.get(r.key) in r.values for r in term.match_label_expressions)
        for term in found.allowed_topologies
    )


def _has_space(claim: PersistentVolumeClaim, found: StorageClass, storage: StorageCache, labels: Labels) -> bool:
    """Whether the driver has room where the node is; drivers that do not tell are taken to have."""
    asked = claim.spec.resources.requests.get("storage")
    driver = storage.drivers.get(found.provisioner)
    if asked is None or driver is None or not driver.spec.storage_capacity:
        return True
    size = value(asked)
    for capacity in storage.capacities.values():
        limit = capacity.capacity if capacity.maximum_volume_size is None else capacity.maximum_volume_size
        if capacity.storage_class_name != found.metadata.name or limit is None or capacity.node_topology is None:
            continue
        if parse_quantity(limit) < parse_quantity(size):
            continue
        try:
            if view_selector(capacity.node_topology).matches(labels):
                return True
        except SelectorError:
            continue
    return False
