"""The devices that drivers offer, by pool, as a node sees them.

A pool is what one driver tells of one node, or of many, in slices that carry a generation. Of two generations the newer
one counts. A pool with a slice missing is incomplete; one that names a device twice is invalid.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from mooring.api.core.types import NodeSelector as NodeSelectorView
from mooring.api.resource.views import Device, DeviceAttribute, DeviceCapacity, ResourceSlice
from mooring.kube.nodeselectors import NodeSelector, node_selector


class PoolID(NamedTuple):
    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceID(NamedTuple):
    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class DeviceInfo:
    """One device, with what is worked out of it once."""

    __slots__ = ("answers", "attributes", "capacity", "id", "offer", "variables")

    def __init__(self, device: Device, offer: SliceInfo) -> None:
        self.id = DeviceID(offer.pool.driver, offer.pool.pool, device.name)
        self.attributes: dict[str, DeviceAttribute] = device.attributes
        self.capacity: dict[str, DeviceCapacity] = device.capacity
        self.offer = offer
        # What expressions are given of the device, and what each of them said: `selectors.py`.
        self.variables: dict[str, Any] | None = None
        self.answers: dict[str, bool | str] = {}


class SliceInfo:
    """A ResourceSlice with its node selector compiled."""

    __slots__ = (
        "_selector",
        "all_nodes",
        "count",
        "devices",
        "generation",
        "name",
        "node_name",
        "node_selector",
        "pool",
    )

    def __init__(self, view: ResourceSlice) -> None:
        spec = view.spec
        self.name = view.metadata.name
        self.pool = PoolID(spec.driver, spec.pool.name)
        self.generation = spec.pool.generation
        self.count = spec.pool.resource_slice_count
        self.node_name = spec.node_name or ""
        self.all_nodes = bool(spec.all_nodes)
        self.node_selector = spec.node_selector
        self._selector = compiled(spec.node_selector)
        self.devices = tuple(DeviceInfo(device, self) for device in spec.devices or ())

    def reaches(self, node: str, labels: dict[str, str]) -> bool:
        """Whether the devices can be used from a node."""
        if self.node_name:
            return self.node_name == node
        return self.all_nodes or (self._selector is not None and self._selector.matches(labels, node))


class DevicePool(NamedTuple):
    """The slices of a pool that reach a node. Nothing is taken from a pool that is incomplete or invalid."""

    id: PoolID
    slices: tuple[SliceInfo, ...] = ()
    incomplete: bool = False
    invalid: bool = False

    @property
    def devices(self) -> Iterable[DeviceInfo]:
        return (device for found in self.slices for device in found.devices)


class DeviceInventory:
    """All slices. `version` grows with every change."""

    def __init__(self) -> None:
        self.version = 0
        self._slices: dict[str, SliceInfo] = {}
        # Slices of one node are by far the most; each node would otherwise look at those of all the others.
        self._local: dict[str, dict[str, SliceInfo]] = {}
        self._shared: dict[str, SliceInfo] = {}
        self._by_pool: dict[PoolID, dict[str, SliceInfo]] = {}

    def set_slice(self, view: ResourceSlice) -> None:
        self.remove_slice(view.metadata.name)
        found = SliceInfo(view)
        self._slices[found.name] = found
        (self._local.setdefault(found.node_name, {}) if found.node_name else self._shared)[found.name] = found
        self._by_pool.setdefault(found.pool, {})[found.name] = found
        self.version += 1

    def remove_slice(self, name: str) -> None:
        found = self._slices.pop(name, None)
        if found is None:
            return
        (self._local[found.node_name] if found.node_name else self._shared).pop(name)
        self._by_pool[found.pool].pop(name)
        self.version += 1

    def slices(self) -> Iterable[SliceInfo]:
        return self._slices.values()

    def of_node(self, name: str) -> Iterable[SliceInfo]:
        """The slices of one node alone."""
        return self._local.get(name, {}).values()

    def __len__(self) -> int:
        return len(self._slices)

    def pools(self, node: str, labels: dict[str, str]) -> tuple[DevicePool, ...]:
        """The pools with devices for a node. The scheduler walks them in no defined order."""
        seen: dict[PoolID, list[SliceInfo]] = {}
        shared = [found for found in self._shared.values() if found.reaches(node, labels)]
        for found in (*self._local.get(node, {}).values(), *shared):
            group = seen.setdefault(found.pool, [])
            if group and found.generation > group[0].generation:
                group.clear()
            if not group or found.generation == group[0].generation:
                group.append(found)
        pools = (self._pool(pool, group) for pool, group in seen.items())
        return tuple(pool for pool in pools if pool is not None)

    def _pool(self, pool: PoolID, reaching: list[SliceInfo]) -> DevicePool | None:
        """The pool as a node sees it; None where a newer generation, out of the node's sight, replaces it."""
        wanted = reaching[0].count
        if len(reaching) != wanted:
            everywhere = self._by_pool[pool].values()
            if any(found.generation > reaching[0].generation for found in everywhere):
                return None
            if sum(found.generation == reaching[0].generation for found in everywhere) != wanted:
                return DevicePool(pool, incomplete=True)
        names = [device.id for found in reaching for device in found.devices]
        if len(set(names)) != len(names):
            return DevicePool(pool, invalid=True)
        return DevicePool(pool, tuple(reaching))


def compiled(view: NodeSelectorView | None) -> NodeSelector | None:
    return None if view is None else node_selector(msgspec.to_builtins(view))
