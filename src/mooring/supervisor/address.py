"""Where the API is served: the socket that the parent binds and holds, and the names it is reached by.

The parent holds the socket so that a server that is started again has the same port, and clients that come in between
wait in line instead of being turned away.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from typing import Final, NamedTuple

from mooring.kube.errors import InputError

__all__ = ["DEFAULT_PORT", "Address", "bind", "parse_address"]

# 6443 is taken wherever another Kubernetes runs on the same machine; this one is as easy to remember and rarely taken.
DEFAULT_PORT: Final = 7443
BACKLOG: Final = 1024
# What clients inside a cluster call its API.
_SERVICE_NAMES: Final = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_everywhere(self) -> bool:
        """Whether it stands for all addresses of this machine."""
        return self.host in ("0.0.0.0", "::")

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def url(self) -> str:
        """How a program on this machine reaches it."""
        local = {"0.0.0.0": "127.0.0.1", "::": "::1"}
        return f"https://{Address(local.get(self.host, self.host), self.port)}"

    def names(self) -> list[str]:
        """Every name and address that the certificate vouches for."""
        found = ["localhost", "127.0.0.1", "::1", *_SERVICE_NAMES]
        machine = socket.gethostname()
        if machine.isascii():
            found.append(machine)
        if self.is_everywhere:
            found += _own_addresses()
        else:
            found.append(self.host)
        return list(dict.fromkeys(filter(None, found)))


def parse_address(text: str, option: str = "--bind") -> Address:
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        host = ""
    if not colon or not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        such_as = f"127.0.0.1:{DEFAULT_PORT} or [::1]:{DEFAULT_PORT}"
        raise InputError(f'{option} "{text}" is not HOST:PORT, such as {such_as}')
    return Address(host, int(port))


def bind(address: Address) -> tuple[socket.socket, Address]:
    """A listening socket, and the address with the port it really has: port 0 takes a free one."""
    try:
        family, *_, target = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError):
        raise InputError(f'--bind {address}: there is no host "{address.host}"') from None
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(target)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise InputError(_refusal(address, error)) from None
    return listening, Address(address.host, listening.getsockname()[1])


def _refusal(address: Address, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        another = Address(address.host, address.port % 65535 + 1)
        return f"port {address.port} on {address.host} is in use; choose another one, such as --bind {another}"
    if error.errno == errno.EACCES:
        return f"port {address.port} is for programs with special rights; choose one above 1023 with --bind"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"--bind {address}: {address.host} is not an address of this machine"
    return f"--bind {address}: {error.strerror}"


def _own_addresses() -> list[str]:
    """The addresses by which others most likely reach this machine. Nothing is sent to find them out."""
    found = []
    for family, elsewhere in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((elsewhere, 9))
                found.append(probe.getsockname()[0].partition("%")[0])
        except OSError:
            continue
    return found
