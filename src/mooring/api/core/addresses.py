"""The rules for IP addresses and blocks of them, read as leniently as the API reads them in its older fields."""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from mooring.kube.errors import FieldError, go_quote, invalid

__all__ = [
    "check_canonical_ip",
    "check_cidr",
    "check_endpoint_ip",
    "check_ip",
    "cidr_warnings",
    "family_of",
    "ip_warnings",
    "is_cidr",
    "is_ip",
    "read_cidr",
    "read_ip",
]

Errors = list[FieldError]

_LEADING_ZEROS: Final = re.compile(r"(?<![0-9a-fA-F])0+(?=[0-9a-fA-F])")
# How many bits of an IPv6 address say that it stands for one of IPv4.
_MAPPED_BITS: Final = 96
_BAD_SOON: Final = "will be considered invalid in a future Kubernetes release"
_LOCAL_GROUPS: Final = (IPv4Network("224.0.0.0/24"), IPv6Network("ff02::/16"))


@lru_cache(maxsize=4096)
def read_ip(text: str) -> IPv4Address | IPv6Address | None:
    """The address, or None. Leading zeros are skipped, as they were when the fields were made."""
    if not text.isascii() or "%" in text:
        return None
    try:
        return ip_address(_LEADING_ZEROS.sub("", text))
    except ValueError:
        return None


def _has_zeros(text: str) -> bool:
    """Whether numbers of an address begin with zeros that none may begin with today."""
    try:
        ip_address(text)
    except ValueError:
        return True
    return False


def is_ip(text: str) -> bool:
    return read_ip(text) is not None


def family_of(text: str) -> str:
    return "IPv6" if ":" in text else "IPv4"


def is_cidr(text: str) -> bool:
    address, slash, length = text.partition("/")
    if not slash or not length.isdecimal() or not is_ip(address):
        return False
    try:
        read_cidr(text)
    except ValueError:
        return False
    return True


def read_cidr(text: str) -> IPv4Network | IPv6Network:
    address, _, length = text.partition("/")
    read, bits = read_ip(address), int(length)
    mapped = read.ipv4_mapped if isinstance(read, IPv6Address) else None
    if mapped is not None and bits >= _MAPPED_BITS:
        read, bits = mapped, bits - _MAPPED_BITS
    return ip_network(f"{read}/{bits}", strict=False)


def check_ip(errors: Errors, text: str, path: str, known: Collection[str] = ()) -> bool:
    """`known` are the values of the field so far, which stay valid whatever they are."""
    if text in known or is_ip(text):
        return True
    errors.append(invalid(path, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"))
    return False


def check_cidr(errors: Errors, text: str, path: str, known: Collection[str] = ()) -> bool:
    if text in known or is_cidr(text):
        return True
    errors.append(invalid(path, text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"))
    return False


def check_canonical_ip(errors: Errors, text: str, path: str) -> bool:
    """For newer fields, that take an address in one spelling only."""
    address = read_ip(text)
    if address is None:
        return check_ip(errors, text, path)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    if _has_zeros(text):
        errors.append(invalid(path, text, "must not have leading 0s"))
    elif mapped is not None:
        errors.append(invalid(path, text, "must not be an IPv4-mapped IPv6 address"))
    elif str(address) != text:
        errors.append(invalid(path, text, f"must be in canonical form ({go_quote(str(address))})"))
    return True


def check_endpoint_ip(errors: Errors, text: str, path: str) -> None:
    """An address that traffic can be sent to."""
    address = read_ip(text)
    if address is None:
        errors.append(invalid(path, text, "must be a valid IP address"))
        return
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_unspecified:
        errors.append(invalid(path, text, f"may not be unspecified ({text})"))
    if address.is_loopback:
        errors.append(invalid(path, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)"))
    if address.is_link_local:
        errors.append(invalid(path, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"))
    if any(address.version == group.version and address in group for group in _LOCAL_GROUPS):
        detail = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
        errors.append(invalid(path, text, detail))


def ip_warnings(text: str, path: str) -> Iterator[str]:
    """What is said of an address that is taken, and that others may read as another one or not at all."""
    address = read_ip(text)
    if address is None or str(address) == text:
        return
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    if isinstance(address, IPv6Address) and mapped is None and not _has_zeros(text):
        yield f"{path}: IPv6 address {go_quote(text)} should be in RFC 5952 canonical format ({go_quote(str(address))})"
    else:
        better = go_quote(str(mapped or address))
        yield f"{path}: non-standard IP address {go_quote(text)} {_BAD_SOON}: use {better}"


def cidr_warnings(text: str, path: str) -> Iterator[str]:
    """The same of a block of addresses."""
    if not is_cidr(text):
        return
    block, shown = read_cidr(text), go_quote(text)
    address, length = text.partition("/")[::2]
    read = read_ip(address)
    mapped = read.ipv4_mapped if isinstance(read, IPv6Address) else None
    inner = mapped or read
    ambiguous = inner != block.network_address
    if ambiguous:
        single = f"{inner}/{128 if ':' in text else 32}"
        why = f"is ambiguous in this context (should be {go_quote(str(block))} or {go_quote(single)}?)"
        yield f"{path}: CIDR value {shown} {why}"
    if mapped is not None or str(int(length)) != length or (block.version == 4 and str(read) != address):
        yield f"{path}: non-standard CIDR value {shown} {_BAD_SOON}: use {go_quote(str(block))}"
    elif not ambiguous and str(block) != text:
        yield f"{path}: IPv6 CIDR value {shown} should be in RFC 5952 canonical format ({go_quote(str(block))})"
