"""Addresses: a simulated node gives its pods addresses of its range.

An address follows from the pod and from those that are taken, so that deciding again gives the same one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Network
from typing import Final, NamedTuple

from mooring.api.core.views import Node, Pod

# Where addresses come from that no range has: shared address space, and a private one for nodes.
_SPARE: Final = IPv4Network("100.64.0.0/10")
_NODES: Final = IPv4Network("172.16.0.0/12")


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
