"""What one node has of each resource and how much of it is free, and the pods that hold its devices."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import SchedulerCache

__all__ = ["DeviceHolder", "NodeRoom", "device_holders", "is_device", "node_rooms"]


class NodeRoom(NamedTuple):
    """One resource of a node, in the scheduler's units. Devices of a driver are counted under its name."""

    name: str
    allocatable: int
    used: int

    @property
    def free(self) -> int:
        return max(self.allocatable - self.used, 0)


class DeviceHolder(NamedTuple):
    """A pod on the node that holds devices: an extended resource, or what its claims were given."""

    resource: str
    amount: int
    pod: PodInfo


def is_device(resource: str) -> bool:
    """Whether a resource is one that people count, such as GPUs."""
    return "/" in resource and not resource.startswith("hugepages-")


def node_rooms(cluster: SchedulerCache, slot: int) -> list[NodeRoom]:
    """cpu, memory and pods first; resources that the node has none of are left out."""
    rooms = [
        NodeRoom("cpu", cluster.alloc_cpu.item(slot), cluster.used_cpu.item(slot)),
        NodeRoom("memory", cluster.alloc_memory.item(slot), cluster.used_memory.item(slot)),
        NodeRoom("pods", cluster.alloc_pods.item(slot), cluster.pod_count.item(slot)),
    ]
    more = [NodeRoom("ephemeral-storage", cluster.alloc_ephemeral.item(slot), cluster.used_ephemeral.item(slot))]
    for name in sorted(cluster.alloc_scalar):
        allocatable, used = cluster.scalar(name)
        more.append(NodeRoom(name, allocatable.item(slot), used.item(slot)))
    return [*rooms, *(room for room in more if room.allocatable), *_drivers(cluster, slot)]


def _drivers(cluster: SchedulerCache, slot: int) -> list[NodeRoom]:
    """The devices that ResourceSlices offer to the node, by driver."""
    node = cluster.nodes[slot]
    if node is None:
        return []
    count, taken = Counter[str](), Counter[str]()
    for pool in cluster.devices.pools(node.metadata.name, node.metadata.labels or {}, cluster.nodes_version):
        for device in pool.devices:
            count[pool.id.driver] += 1
            taken[pool.id.driver] += cluster.devices.is_taken(device.id)
    return [NodeRoom(driver, count[driver], taken[driver]) for driver in sorted(count)]


def device_holders(cluster: SchedulerCache, slot: int) -> list[DeviceHolder]:
    """Who holds devices of the node, by resource and then those with most first."""
    found = []
    for pod in cluster.node_pods[slot].values():
        held = Counter({name: amount for name, amount in pod.template.resources.node.scalars if is_device(name)})
        for reference in pod.claims:
            claim = cluster.devices.claims.get(f"{pod.namespace}/{reference.claim}")
            allocation = None if claim is None else claim.status.allocation
            for result in () if allocation is None else allocation.devices.results or ():
                held[result.driver] += not result.admin_access
        found += [DeviceHolder(name, amount, pod) for name, amount in held.items() if amount]
    return sorted(found, key=lambda holder: (holder.resource, -holder.amount, holder.pod.key))
