"""Addresses and networks in expressions: `ip("10.0.0.1").family()`, `cidr("10.0.0.0/8").containsIP("10.1.2.3")`."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from math import ceil
from typing import Any, Final

from mooring.kube.cel.functions.address_errors import why_no_address
from mooring.kube.cel.functions.model import NO_SUCH_OVERLOAD, STRING_FACTOR, Function, read_argument, size, traversal
from mooring.kube.cel.values import Cidr, Ip
from mooring.kube.errors import go_quote

IP: Final = "net.IP"
CIDR: Final = "net.CIDR"


def _address(text: str) -> IPv4Address | IPv6Address:
    """Raises ValueError with the words of Go's parser, where they are simple."""
    try:
        found = ip_address(text)
    except ValueError:
        raise ValueError(f"ParseAddr({go_quote(text)}): {why_no_address(text)}") from None
    return found


def _parse_ip(text: str) -> Ip:
    try:
        address = _address(text)
    except ValueError as error:
        raise ValueError(f"IP Address {go_quote(text)} parse error during conversion from string: {error}") from None
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            raise ValueError(f"IP address {go_quote(text)} with zone value is not allowed")
        if address.ipv4_mapped is not None:
            raise ValueError(f"IPv4-mapped IPv6 address {go_quote(text)} is not allowed")
    return Ip(address)


def _parse_cidr(text: str) -> Cidr:
    head = "network address parse error during conversion from string: "
    address, slash, length = text.rpartition("/")
    quoted = go_quote(text)
    if not slash:
        raise ValueError(f"{head}{head}netip.ParsePrefix({quoted}): no '/'")
    try:
        found = _address(address)
    except ValueError as error:
        raise ValueError(f"{head}{head}netip.ParsePrefix({quoted}): {error}") from None
    if isinstance(found, IPv6Address) and found.scope_id is not None:
        raise ValueError(f"{head}{head}netip.ParsePrefix({quoted}): IPv6 zones cannot be present in a prefix")
    if not (length.isascii() and length.isdecimal()) or (len(length) > 1 and length[0] == "0"):
        raise ValueError(f"{head}{head}netip.ParsePrefix({quoted}): bad bits after slash: {go_quote(length)}")
    if int(length) > found.max_prefixlen:
        raise ValueError(f"{head}{head}netip.ParsePrefix({quoted}): prefix length out of range")
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        raise ValueError(f"{head}IPv4-mapped IPv6 address {quoted} is not allowed")
    return Cidr(found, int(length))


def _is_ip(text: str) -> bool:
    try:
        _parse_ip(text)
    except ValueError:
        return False
    return True


def _is_cidr(text: str) -> bool:
    try:
        _parse_cidr(text)
    except ValueError:
        return False
    return True


def _is_canonical(text: str) -> bool:
    return str(_parse_ip(text).address) == text


def _contains_ip(cidr: Cidr, ip: Ip | str) -> bool:
    try:
        found = _parse_ip(ip) if isinstance(ip, str) else ip
    except ValueError:
        # As with Kubernetes.
        raise ValueError(NO_SUCH_OVERLOAD) from None
    return found.address.version == cidr.address.version and found.address in cidr.network


def _contains_cidr(cidr: Cidr, other: Cidr | str) -> bool:
    inner = _parse_cidr(other) if isinstance(other, str) else other
    if inner.address.version != cidr.address.version or inner.length < cidr.length:
        return False
    return inner.network.overlaps(cidr.network)


def _is_global(ip: Ip) -> bool:
    address = ip.address
    limited = isinstance(address, IPv4Address) and address == IPv4Address("255.255.255.255")
    return not (
        limited or address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    )


def _is_link_local_multicast(ip: Ip) -> bool:
    packed = ip.address.packed
    return packed[:3] == b"\xe0\x00\x00" if len(packed) == 4 else packed[0] == 0xFF and packed[1] & 0x0F == 2


def _masked(cidr: Cidr) -> Cidr:
    return Cidr(cidr.network.network_address, cidr.length)


def _inside(arguments: Sequence[Any], _: Any) -> int:
    cost = ceil(2 * size(arguments[0]) * STRING_FACTOR)
    return cost + traversal(arguments[1]) if isinstance(arguments[1], str) else cost


def _within(arguments: Sequence[Any], result: Any) -> int:
    return _inside(arguments, result) + traversal(arguments[0]) + 1


_ONE: Final = read_argument()

ADDRESSES: Final = (
    Function("ip", ("string",), IP, _parse_ip, cost=_ONE),
    Function("isIP", ("string",), "bool", _is_ip, cost=_ONE),
    Function("ip.isCanonical", ("string",), "bool", _is_canonical, cost=read_argument(2)),
    Function("string", (IP,), "string", lambda ip: str(ip.address)),
    Function("family", (IP,), "int", lambda ip: ip.address.version, member=True),
    Function("isUnspecified", (IP,), "bool", lambda ip: ip.address.is_unspecified, member=True),
    Function("isLoopback", (IP,), "bool", lambda ip: ip.address.is_loopback, member=True),
    Function("isLinkLocalMulticast", (IP,), "bool", _is_link_local_multicast, member=True),
    Function("isLinkLocalUnicast", (IP,), "bool", lambda ip: ip.address.is_link_local, member=True),
    Function("isGlobalUnicast", (IP,), "bool", _is_global, member=True),
    Function("cidr", ("string",), CIDR, _parse_cidr, cost=_ONE),
    Function("isCIDR", ("string",), "bool", _is_cidr, cost=_ONE),
    Function("string", (CIDR,), "string", lambda cidr: f"{cidr.address}/{cidr.length}"),
    Function("containsIP", (CIDR, "string"), "bool", _contains_ip, member=True, cost=_inside),
    Function("containsIP", (CIDR, IP), "bool", _contains_ip, member=True, cost=_inside),
    Function("containsCIDR", (CIDR, "string"), "bool", _contains_cidr, member=True, cost=_within),
    Function("containsCIDR", (CIDR, CIDR), "bool", _contains_cidr, member=True, cost=_within),
    Function("ip", (CIDR,), IP, lambda cidr: Ip(cidr.address), member=True),
    Function("masked", (CIDR,), CIDR, _masked, member=True),
    Function("prefixLength", (CIDR,), "int", lambda cidr: cidr.length, member=True),
)
