"""The ranges that Services get their addresses from: the cluster's own, and those that ServiceCIDRs add to it.

The lowest free address is taken, of the cluster's own range first: the same requests then give the same cluster.
"""

from collections.abc import Iterator, Set
from ipaddress import IPv4Network, ip_network
from typing import Final

from mooring.api.core.addresses import read_ip
from mooring.kube.status import InternalError
from mooring.registry.admission.chain import ClusterView

__all__ = ["ADDRESS_RANGE", "OWN_RANGE", "address_ranges", "free_addresses", "offers"]

# The cluster's own, and the name of its ServiceCIDR.
ADDRESS_RANGE: Final = IPv4Network("10.96.0.0/12")
OWN_RANGE: Final = "kubernetes"
# The lowest ones are for services that ask for an address by name: the API server itself, the cluster's DNS.
_RESERVED: Final = 256
# As a real server has it: a sixteenth of a range, but not less than this and not more than the above.
_RESERVED_AT_LEAST: Final = 16


def address_ranges(view: ClusterView) -> list[IPv4Network]:
    """The cluster's own range, and after it the others by the names of their ServiceCIDRs."""
    found = [ADDRESS_RANGE]
    for each in sorted(view.all("networking.k8s.io/v1", "ServiceCIDR"), key=lambda each: str(each["metadata"]["name"])):
        if each["metadata"]["name"] == OWN_RANGE or "deletionTimestamp" in each["metadata"]:
            continue
        networks = [ip_network(text, strict=False) for text in each["spec"]["cidrs"]]
        found += [network for network in networks if isinstance(network, IPv4Network)]
    return found


def offers(ranges: list[IPv4Network], wanted: str) -> bool:
    """Whether a Service may have this address; the first and the last of a range are nobody's."""
    address = read_ip(wanted)
    return address is not None and any(
        address in each and address not in (each.network_address, each.broadcast_address) for each in ranges
    )


def free_addresses(ranges: list[IPv4Network], taken: Set[str | None]) -> Iterator[str]:
    for each in ranges:
        for index in range(_first(each), each.num_addresses - 1):
            text = str(each[index])
            if text not in taken:
                yield text
    raise InternalError.of("failed to allocate a serviceIP: range is full")


def _first(network: IPv4Network) -> int:
    """The first address that is given unasked; in a small range, any after the first."""
    if network.num_addresses <= _RESERVED_AT_LEAST:
        return 1
    return min(max(_RESERVED_AT_LEAST, network.num_addresses // 16), _RESERVED)
