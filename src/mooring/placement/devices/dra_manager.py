"""What the scheduler remembers of resource.k8s.io: claims, classes, slices, and which devices are taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from mooring.api.resource.views import (
    AllocationResult,
    DeviceClass,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimTemplate,
    ResourceSlice,
)
from mooring.placement.devices.inventory import DeviceID, DeviceInventory, DevicePool

DEVICE_KINDS: Final[dict[str, Any]] = {
    "DeviceClass": DeviceClass,
    "ResourceClaim": ResourceClaim,
    "ResourceClaimTemplate": ResourceClaimTemplate,
    "ResourceSlice": ResourceSlice,
}

DeviceView = DeviceClass | ResourceClaim | ResourceClaimTemplate | ResourceSlice


class ClaimWrite(NamedTuple):
    """What a claim's status becomes before the pod is bound. `allocated` says whether the allocation is new."""

    claim: str
    allocation: AllocationResult
    allocated: bool
    reserved_for: tuple[ResourceClaimConsumerReference, ...]


class DRAManager:
    def __init__(self) -> None:
        self.claims: dict[str, ResourceClaim] = {}
        self.templates: dict[str, ResourceClaimTemplate] = {}
        self.classes: dict[str, DeviceClass] = {}
        self.inventory = DeviceInventory()
        # Devices of allocated claims, by how many claims have them; admin access takes nothing away.
        self._taken: Counter[DeviceID] = Counter()
        # Claims that are held as written, as they were before.
        self._before: dict[str, ResourceClaim] = {}
        self._pools: dict[str, tuple[DevicePool, ...]] = {}
        self._pools_version = (-1, -1)

    def set(self, view: DeviceView) -> None:
        match view:
            case ResourceSlice():
                self.inventory.set_slice(view)
            case ResourceClaim():
                self._put(view)
            case DeviceClass():
                self.classes[view.metadata.name] = view
            case ResourceClaimTemplate(metadata=metadata):
                self.templates[f"{metadata.namespace}/{metadata.name}"] = view

    def remove(self, view: DeviceView) -> None:
        match view:
            case ResourceSlice():
                self.inventory.remove_slice(view.metadata.name)
            case ResourceClaim():
                self._release(self.claims.pop(view.key, None))
            case DeviceClass():
                self.classes.pop(view.metadata.name, None)
            case ResourceClaimTemplate(metadata=metadata):
                self.templates.pop(f"{metadata.namespace}/{metadata.name}", None)

    def is_taken(self, device: DeviceID) -> bool:
        return device in self._taken

    def pools(self, node: str, labels: dict[str, str], nodes_version: int) -> tuple[DevicePool, ...]:
        """The pools with devices for a node, remembered until a slice or a node changes."""
        version = (self.inventory.version, nodes_version)
        if version != self._pools_version:
            self._pools.clear()
            self._pools_version = version
        found = self._pools.get(node)
        if found is None:
            found = self._pools[node] = self.inventory.pools(node, labels)
        return found

    def assume(self, write: ClaimWrite) -> None:
        """Hold a write as carried out."""
        claim = self.claims.get(write.claim)
        if claim is not None:
            self._before.setdefault(write.claim, claim)
            status = msgspec.structs.replace(claim.status, allocation=write.allocation, reserved_for=write.reserved_for)
            self._put(msgspec.structs.replace(claim, status=status))

    def observed(self, key: str) -> ResourceClaim:
        """A claim without what is held as written."""
        return self._before.get(key) or self.claims[key]

    def take_back(self) -> None:
        """Hold every claim as it was observed."""
        for claim in self._before.values():
            self._put(claim)
        self._before.clear()

    def _put(self, claim: ResourceClaim) -> None:
        """Take a claim in, in the place of one of the same name and where that one stood."""
        self._release(self.claims.get(claim.key))
        self.claims[claim.key] = claim
        self._taken.update(_devices(claim))

    def _release(self, claim: ResourceClaim | None) -> None:
        for device in _devices(claim) if claim is not None else ():
            self._taken[device] -= 1
            if not self._taken[device]:
                del self._taken[device]


def _devices(claim: ResourceClaim) -> Iterator[DeviceID]:
    """The devices that a claim keeps from others."""
    allocation = claim.status.allocation
    for result in (allocation.devices.results or ()) if allocation is not None else ():
        if not result.admin_access:
            yield DeviceID(result.driver, result.pool, result.device)
