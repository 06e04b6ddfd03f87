"""Why nodes are rejected for a pod's volumes, in words that name the claim, the volume, the driver or the pod."""

from __future__ import annotations

from collections.abc import Iterator

from mooring.api.core.types import Labels
from mooring.api.core.views import PersistentVolumeClaim
from mooring.placement.filters import Filters
from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.verdicts import ERROR, Reason
from mooring.placement.volumes.binding import NO_SPACE, NO_VOLUME, OUT_OF_REACH, VOLUME_GONE, why_not_provisioned
from mooring.placement.volumes.in_tree import BETA_REGION, BETA_ZONE, REGION, ZONE
from mooring.placement.volumes.limits import TOO_MANY_VOLUMES
from mooring.placement.volumes.restrictions import CLAIM_TAKEN, DISK_TAKEN
from mooring.placement.volumes.storage_cache import StorageCache, StoredVolume, reaches
from mooring.placement.volumes.zones import OTHER_ZONE

# How many nodes or pods are named.
MAX_NAMED = 3


def volume_causes(filters: Filters, reason: Reason, slot: int) -> list[str]:
    """The causes on a node that stands for others like it; the scheduler's own words where there are no better."""
    match reason:
        case _ if reason == OUT_OF_REACH:
            return [_reach_text(claim, stored) for claim, stored in _out_of_reach(filters, slot)]
        case _ if reason == VOLUME_GONE:
            gone = [c for c in _claims(filters) if c.spec.volume_name and _volume(filters, c) is None]
            return [f"PersistentVolume {c.spec.volume_name} of claim {c.metadata.name} does not exist" for c in gone]
        case _ if reason in (NO_VOLUME, NO_SPACE):
            return list(_unbound_texts(filters, reason, slot))
        case _ if reason == OTHER_ZONE:
            return list(_zone_texts(filters))
        case _ if reason == CLAIM_TAKEN:
            return list(_holder_texts(filters))
        case _ if reason == DISK_TAKEN:
            return ["a pod here uses the same disk, which is not shared"]
        case _ if reason == TOO_MANY_VOLUMES:
            return [_limit_text(filters, slot)]
        case _ if reason.code == ERROR:
            return ["the scheduler fails on this node over a claim of another pod"]
    return [reason.text]


def awaited_claims(cluster: SchedulerCache, pod: PodInfo) -> list[str]:
    """What a pod waits for that is turned away over its claims before any node is looked at, a sentence for each."""
    storage = cluster.storage
    found = []
    for name in dict.fromkeys(volume.claim for volume in pod.volumes if volume.claim):
        claim = storage.claims.get(f"{pod.namespace}/{name}")
        if claim is not None and (claim.spec.volume_name == "" or claim.metadata.annotations.bind_completed is None):
            found.append(f"Claim {name} {_awaited(storage, claim)}.")
    return found


def _awaited(storage: StorageCache, claim: PersistentVolumeClaim) -> str:
    wanted, there = claim.class_name, sorted(storage.classes)
    if claim.spec.volume_name:
        return f"is yet to be bound to PersistentVolume {claim.spec.volume_name}"
    if wanted in storage.classes:
        return f"is yet to be given a volume, which StorageClass {wanted} does without waiting for a pod"
    known = f"there is {', '.join(there[:MAX_NAMED])}" if there else "there is none at all"
    if not wanted:
        return f"names no StorageClass, none is the default, and no volume was given to it; {known}"
    return f"asks for StorageClass {wanted}, which does not exist; {known}"


def _claims(filters: Filters) -> list[PersistentVolumeClaim]:
    pod, claims = filters.pod, filters.cluster.storage.claims
    keys = dict.fromkeys(f"{pod.namespace}/{volume.claim}" for volume in pod.volumes if volume.claim)
    return [claims[key] for key in keys if key in claims]


def _volume(filters: Filters, claim: PersistentVolumeClaim) -> StoredVolume | None:
    return filters.cluster.storage.volumes.get(claim.spec.volume_name)


def _labels(filters: Filters, slot: int) -> Labels:
    node = filters.cluster.nodes[slot]
    return (node.metadata.labels if node else None) or {}


def _out_of_reach(filters: Filters, slot: int) -> Iterator[tuple[PersistentVolumeClaim, StoredVolume]]:
    labels = _labels(filters, slot)
    for claim in _claims(filters):
        stored = _volume(filters, claim)
        if stored is not None and not reaches(stored.affinity, labels):
            yield claim, stored


def _reach_text(claim: PersistentVolumeClaim, stored: StoredVolume) -> str:
    terms = [" and ".join(str(r) for r in term.labels.requirements) or "no node" for term in stored.affinity or ()]
    where = " or ".join(terms) or "no node"
    return f"PersistentVolume {stored.view.metadata.name} of claim {claim.metadata.name} is reached from {where} only"


def _unbound_texts(filters: Filters, reason: Reason, slot: int) -> Iterator[str]:
    storage, labels = filters.cluster.storage, _labels(filters, slot)
    here = filters.cluster.names[slot]
    for claim in _claims(filters):
        found = storage.classes.get(claim.class_name)
        if claim.spec.volume_name or found is None or not found.delays:
            continue
        name, selected = claim.metadata.name, claim.metadata.annotations.selected_node
        if reason == NO_VOLUME and selected not in (None, here):
            yield f"the volume of claim {name} is being made for node {selected}"
        elif why_not_provisioned(claim, storage, labels) == reason:
            if reason == NO_SPACE:
                size = claim.spec.resources.requests.get("storage", "0")
                yield f"{found.provisioner} has no {size} left here for claim {name}"
            else:
                yield f"no free PersistentVolume of class {claim.class_name} suits claim {name}, and none is made here"


def _zone_texts(filters: Filters) -> Iterator[str]:
    for claim in _claims(filters):
        stored = _volume(filters, claim)
        labels = stored.view.metadata.labels if stored is not None else {}
        places = [labels[key] for key in (ZONE, BETA_ZONE, REGION, BETA_REGION) if key in labels]
        if places:
            yield f"PersistentVolume {claim.spec.volume_name} of claim {claim.metadata.name} is in {', '.join(places)}"


def _holder_texts(filters: Filters) -> Iterator[str]:
    pod, cluster = filters.pod, filters.cluster
    for claim in _claims(filters):
        name = claim.metadata.name
        if "ReadWriteOncePod" not in claim.spec.access_modes:
            continue
        holders = [
            f"{other.key} on {other.node_name}"
            for pods in cluster.mounting.values()
            for other in pods.values()
            if other.namespace == pod.namespace and any(v.claim == name and not v.ephemeral for v in other.volumes)
        ]
        if holders:
            yield f"claim {name} is for one pod (ReadWriteOncePod) and in use by {', '.join(holders[:MAX_NAMED])}"


def _limit_text(filters: Filters, slot: int) -> str:
    node = filters.cluster.storage.csi_nodes.get(filters.cluster.names[slot])
    limits = [
        f"{driver.name} attaches {driver.allocatable.count} at most"
        for driver in (node.spec.drivers if node else ())
        if driver.allocatable is not None and driver.allocatable.count is not None
    ]
    return f"too many volumes: {', '.join(limits)}"
