"""Machines on one wire: a bridge with the address of the API server, and a network namespace for each host."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

__all__ = ["HostNetwork", "LocalNetwork", "local_network"]


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
def local_network(number: int, names: Sequence[str]) -> Iterator[LocalNetwork]:
    """`number`, 0 to 99, keeps networks of tests that run at once apart: it is in every name and address."""
    prefix, bridge = f"10.{100 + number}.0", f"moor{number}"
    with ExitStack() as stack:
        run("ip", "link", "add", bridge, "type", "bridge")
        stack.callback(run, "ip", "link", "del", bridge)
        run("ip", "addr", "add", f"{prefix}.1/24", "dev", bridge)
        run("ip", "link", "set", bridge, "up")
        hosts = []
        for index, name in enumerate(names, 11):
            namespace, outer = f"moor{number}-{name}", f"moor{number}v{index}"
            host = HostNetwork(namespace, f"{prefix}.{index}", f"10.{100 + number}.{index}.0/24")
            run("ip", "netns", "add", namespace)
            stack.callback(run, "ip", "netns", "del", namespace)
            run("ip", "link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", namespace)
            run("ip", "link", "set", outer, "master", bridge, "up")
            for words in (
                "link set lo up",
                f"addr add {host.address}/24 dev eth0",
                "link set eth0 up",
                f"route add default via {prefix}.1",
            ):
                run(*host.inside("ip", *words.split()))
            run("ip", "route", "add", host.pods, "via", host.address)
            hosts.append(host)
        yield LocalNetwork(f"{prefix}.1", tuple(hosts))
