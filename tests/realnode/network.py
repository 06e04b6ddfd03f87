"""Machines on one wire: a bridge with the address of the API server, and a network namespace for each host.

Real hosts on one machine share its folders outside of their own, and what is left in them is looked at. So one test has
real hosts at a time, whichever process runs it.
"""

from __future__ import annotations

import fcntl
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["HostNetwork", "LocalNetwork", "local_network"]

_PREFIX: Final = "10.177"
_BRIDGE: Final = "moortest"
_LOCK: Final = Path(tempfile.gettempdir(), "mooring-real-hosts.lock")


@dataclass(frozen=True)
class HostNetwork:
    """One host: a network namespace, its address on the wire, and the subnet that its pods get."""

    namespace: str
    address: str
    pods: str

    def inside(self, *command: object) -> list[str]:
        """The command, run in the host's network and in nothing else of its own."""
        return ["nsenter", f"--net=/run/netns/{self.namespace}", *map(str, command)]


@dataclass(frozen=True)
class LocalNetwork:
    """The address that hosts reach this machine by, and the hosts."""

    gateway: str
    hosts: tuple[HostNetwork, ...]


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return done.stdout


@contextmanager
def local_network(names: Sequence[str]) -> Iterator[LocalNetwork]:
    gateway = f"{_PREFIX}.0.1"
    with ExitStack() as stack:
        lock = stack.enter_context(_LOCK.open("w"))
        fcntl.flock(lock, fcntl.LOCK_EX)
        _remove_leftovers()
        stack.callback(_remove_leftovers)
        run("ip", "link", "add", _BRIDGE, "type", "bridge")
        run("ip", "addr", "add", f"{gateway}/24", "dev", _BRIDGE)
        run("ip", "link", "set", _BRIDGE, "up")
        hosts = tuple(_host(name, index, gateway) for index, name in enumerate(names, 11))
        yield LocalNetwork(gateway, hosts)


def _host(name: str, index: int, gateway: str) -> HostNetwork:
    host = HostNetwork(f"{_BRIDGE}-{name}", f"{_PREFIX}.0.{index}", f"{_PREFIX}.{index}.0/24")
    outer = f"{_BRIDGE}{index}"
    run("ip", "netns", "add", host.namespace)
    run("ip", "link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", host.namespace)
    run("ip", "link", "set", outer, "master", _BRIDGE, "up")
    for words in (
        "link set lo up",
        f"addr add {host.address}/24 dev eth0",
        "link set eth0 up",
        f"route add default via {gateway}",
    ):
        run(*host.inside("ip", *words.split()))
    run("ip", "route", "add", host.pods, "via", host.address)
    return host


def _remove_leftovers() -> None:
    """Of this test, and of one that was killed."""
    for line in run("ip", "netns", "list").splitlines():
        name = line.split()[0]
        if name.startswith(f"{_BRIDGE}-"):
            run("ip", "netns", "del", name)
    # A link whose other end went with its namespace goes a moment later by itself.
    for link in Path("/sys/class/net").glob(f"{_BRIDGE}*"):
        subprocess.run(["ip", "link", "del", link.name], capture_output=True, check=False)
