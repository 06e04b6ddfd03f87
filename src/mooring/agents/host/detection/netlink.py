"""Network links and addresses, asked of the kernel by rtnetlink: no program has to be installed for it."""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import ip_address
from typing import Final, NamedTuple

__all__ = ["Link", "LinkAddress", "delete_link", "list_addresses", "list_links", "parse_addresses", "parse_links"]

_HEADER: Final = struct.Struct("=IHHII")
_LINK_BODY: Final = struct.Struct("=BxHiII")
_ADDRESS_BODY: Final = struct.Struct("=BBBBI")
_ATTRIBUTE: Final = struct.Struct("=HH")
_NEW_LINK, _DELETE_LINK, _GET_LINK, _NEW_ADDRESS, _GET_ADDRESS = 16, 17, 18, 20, 22
_ERROR, _DONE = 2, 3
_REQUEST, _ACKNOWLEDGE, _DUMP = 0x1, 0x4, 0x300
_LINK_HARDWARE_ADDRESS, _LINK_NAME, _LINK_MASTER = 1, 3, 10
_ADDRESS_ADDRESS, _ADDRESS_LOCAL = 1, 2
_UP_AND_RUNNING: Final = 0x1 | 0x40
_LOOPBACK: Final = 0x8
_RECEIVE_BYTES: Final = 1 << 17


class Link(NamedTuple):
    """`number` is the kernel's; `master` is that of the bridge that the link is a port of, 0 without one."""

    number: int
    name: str
    hardware_address: str
    connected: bool
    loopback: bool
    master: int = 0


class LinkAddress(NamedTuple):
    """An address with its prefix length, as in 10.0.0.7/24."""

    number: int
    cidr: str


def list_links() -> list[Link]:
    return parse_links(_dump(_GET_LINK, _LINK_BODY.pack(socket.AF_UNSPEC, 0, 0, 0, 0)))


def list_addresses() -> list[LinkAddress]:
    return parse_addresses(_dump(_GET_ADDRESS, _ADDRESS_BODY.pack(socket.AF_UNSPEC, 0, 0, 0, 0)))


def delete_link(index: int) -> bool:
    """Delete a link; False where it is gone already. Raises OSError for one that cannot be deleted."""
    answer = _exchange(_DELETE_LINK, _REQUEST | _ACKNOWLEDGE, _LINK_BODY.pack(socket.AF_UNSPEC, 0, index, 0, 0))
    number = -struct.unpack_from("=i", answer, _HEADER.size)[0]
    if number == errno.ENODEV:
        return False
    if number:
        raise OSError(number, os.strerror(number))
    return True


def parse_links(answer: bytes) -> list[Link]:
    found = []
    for kind, body in _messages(answer):
        if kind != _NEW_LINK:
            continue
        _, _, index, flags, _ = _LINK_BODY.unpack_from(body)
        attributes = dict(_attributes(body[_LINK_BODY.size :]))
        name = attributes.get(_LINK_NAME, b"").rstrip(b"\0").decode(errors="replace")
        hardware = ":".join(f"{byte:02x}" for byte in attributes.get(_LINK_HARDWARE_ADDRESS, b""))
        master = int.from_bytes(attributes.get(_LINK_MASTER, b""), "little")
        connected = flags & _UP_AND_RUNNING == _UP_AND_RUNNING
        found.append(Link(index, name, hardware, connected, bool(flags & _LOOPBACK), master))
    return found


def parse_addresses(answer: bytes) -> list[LinkAddress]:
    found = []
    for kind, body in _messages(answer):
        if kind != _NEW_ADDRESS:
            continue
        _, prefix, _, _, index = _ADDRESS_BODY.unpack_from(body)
        attributes = dict(_attributes(body[_ADDRESS_BODY.size :]))
        # On a point-to-point link the other attribute is the address of the other end.
        raw = attributes.get(_ADDRESS_LOCAL) or attributes.get(_ADDRESS_ADDRESS)
        if raw:
            with suppress(ValueError):
                found.append(LinkAddress(index, f"{ip_address(raw)}/{prefix}"))
    return found


def _dump(kind: int, body: bytes) -> bytes:
    return _exchange(kind, _REQUEST | _DUMP, body)


def _exchange(kind: int, flags: int, body: bytes) -> bytes:
    """The kernel's answer to one request, all messages of it."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.bind((0, 0))
        kernel.send(_HEADER.pack(_HEADER.size + len(body), kind, flags, 1, 0) + body)
        answer = b""
        while True:
            part = kernel.recv(_RECEIVE_BYTES)
            answer += part
            if any(each in (_ERROR, _DONE) for each, _ in _messages(part)):
                return answer


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while offset + _HEADER.size <= len(data):
        length, kind, _, _, _ = _HEADER.unpack_from(data, offset)
        if length < _HEADER.size:
            return
        yield kind, data[offset + _HEADER.size : offset + length]
        offset += (length + 3) & ~3


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while offset + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, offset)
        if length < _ATTRIBUTE.size:
            return
        yield kind & 0x3FFF, data[offset + _ATTRIBUTE.size : offset + length]
        offset += (length + 3) & ~3
