"""The network of a host as its status tells it: every link but loopback, with the one that leads out marked."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from mooring.agents.host.detection.netlink import Link, LinkAddress, list_addresses, list_links
from mooring.kube.objects import Object

__all__ = ["default_link", "find_network", "network_status", "node_address"]

_ROUTES: Final = Path("/proc/net/route")
_ROUTES_V6: Final = Path("/proc/net/ipv6_route")
_ANYWHERE_V6: Final = "0" * 32
_REJECTED: Final = 0x0200


def default_link(routes: str, routes_v6: str = "") -> str:
    """The link of the default route with the least metric, from the kernel's tables; empty without such a route."""
    found = []
    for line in routes.splitlines()[1:]:
        fields = line.split()
        if len(fields) > 7 and fields[1] == fields[7] == "00000000":
            found.append((0, int(fields[6]), fields[0]))
    for line in routes_v6.splitlines():
        fields = line.split()
        if len(fields) == 10 and fields[0] == _ANYWHERE_V6 and fields[1] == "00" and not int(fields[8], 16) & _REJECTED:
            found.append((1, struct.unpack(">I", bytes.fromhex(fields[5]))[0], fields[9]))
    return min(found, default=(0, 0, ""))[2]


def network_status(
    links: Iterable[Link], addresses: Iterable[LinkAddress], default: str, left_out: Iterable[str] = ()
) -> list[Object]:
    """`left_out` are links that pods came with: they are none of the host's."""
    by_index: dict[int, list[str]] = {}
    for address in addresses:
        by_index.setdefault(address.number, []).append(address.cidr)
    unwanted = {*left_out}
    masters = {link.number for link in links if link.name in unwanted}
    return [
        {
            "networkInterfaceName": link.name,
            "macAddr": link.hardware_address,
            "ipAddrs": by_index.get(link.number, []),
            "isDefault": link.name == default,
            "connected": link.connected,
        }
        for link in links
        if not link.loopback and link.name not in unwanted and link.master not in masters
    ]


def node_address(network: Iterable[Object]) -> str:
    """The address that others reach the host by: the first of its default link, without the prefix length."""
    for link in network:
        if link["isDefault"] and link["ipAddrs"]:
            return str(link["ipAddrs"][0]).partition("/")[0]
    return ""


def find_network(left_out: Iterable[str] = ()) -> list[Object]:
    default = default_link(_text(_ROUTES), _text(_ROUTES_V6))
    return network_status(list_links(), list_addresses(), default, left_out)


def _text(path: Path) -> str:
    with suppress(OSError):
        return path.read_text()
    return ""
