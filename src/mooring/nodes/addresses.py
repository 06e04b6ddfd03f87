"""Addresses: every node gets a range for its pods, and a simulated node gives its pods addresses of it.

An address follows from the pod and from those that are taken, so that deciding again gives the same one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from datetime import datetime
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from typing import Any, Final, NamedTuple

from mooring.api.core.views import Node, Pod
from mooring.api.kinds import Key, Kind
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.folds import Fold
from mooring.runtime.store import Changed
from mooring.runtime.view import View
from mooring.workloads.kinds import NODE

# Ranges are 10.244.0.0/24 and up, as most clusters have them; when those run out, the ones from 10.128.0.0 on.
_FIRST: Final = int(IPv4Address("10.244.0.0"))
_LOWEST: Final = int(IPv4Address("10.128.0.0"))
_END: Final = int(IPv4Address("11.0.0.0"))
_RANGES: Final = (*range(_FIRST, _END, 256), *range(_LOWEST, _FIRST, 256))
# Where addresses come from that no range has: shared address space, and a private one for nodes.
_SPARE: Final = IPv4Network("100.64.0.0/10")
_NODES: Final = IPv4Network("172.16.0.0/12")
BURST: Final = 500


class Ranges:
    """Which ranges are taken, and the nodes that have none."""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}
        self.without: dict[str, None] = {}

    def change(self, kind: Kind[Any], change: Changed) -> bool:
        before = None if change.old is None else change.old.spec.pod_cidr
        after = None if change.new is None else change.new.spec.pod_cidr
        if before == after:
            return False
        if before:
            self.taken[before] -= 1
            if not self.taken[before]:
                del self.taken[before]
        if after:
            self.taken[after] = self.taken.get(after, 0) + 1
        if after == "":
            self.without[change.key.name] = None
        else:
            self.without.pop(change.key.name, None)
        return bool(self.without)


RANGES: Final = Fold("ranges", (NODE,), Ranges, Ranges.change)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    """Give ranges to the nodes that have none. One key does it for all: two would give the same one twice."""
    ranges = view.fold(RANGES)
    free = (text for number in _RANGES if (text := f"{IPv4Address(number)}/24") not in ranges.taken)
    waiting = sorted(ranges.without)[:BURST]
    return Decision(
        intent=tuple(
            Patch(NODE, Key("", name), {"spec": {"podCIDR": cidr, "podCIDRs": [cidr]}})
            for name, cidr in zip(waiting, free, strict=False)
        )
    )


NODE_IPAM: Final = Controller("node-ipam", reconcile, reads=(NODE,), writes=(NODE,), folds=(RANGES,))


class Addresses(NamedTuple):
    """The address of a pod and that of its node."""

    pod: str
    host: str


def host_address(node: Node) -> str:
    """A node's own address, made up from its name where it has told none."""
    for address in node.status.addresses:
        if address.type == "InternalIP":
            return address.address
    return str(_NODES[_number(node.metadata.name) % _NODES.num_addresses])


def pod_address(node: Node, pod: Pod, taken: Collection[str]) -> str:
    """A free address of the node's range: the one that follows from the pod's name, or the next after it."""
    if pod.spec.host_network:
        return host_address(node)
    number = _number(f"{pod.metadata.namespace}/{pod.metadata.name}")
    network = _range(node.spec.pod_cidr)
    if network is not None:
        # Neither the network itself, nor what its router and broadcast have.
        size = network.num_addresses - 3
        for step in range(size):
            address = str(network[2 + (number + step) % size])
            if address not in taken:
                return address
    return str(_SPARE[number % _SPARE.num_addresses])


@lru_cache(maxsize=4096)
def _range(text: str) -> IPv4Network | None:
    try:
        network = IPv4Network(text)
    except (AddressValueError, ValueError):
        return None
    return network if network.num_addresses > 3 else None


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
