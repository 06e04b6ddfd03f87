"""What a kubelet reads of its machine before it registers: name, address, size, operating system."""

from __future__ import annotations

import os
import platform
import re
import socket
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["MachineInfo", "machine_info", "node_name"]


PODS: Final = "110"
_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm"}


class MachineInfo(NamedTuple):
    name: str
    address: str
    cpus: int
    memory: int
    architecture: str
    system: str
    kernel: str
    image: str
    machine_id: str
    boot_id: str

    @property
    def capacity(self) -> dict[str, str]:
        return {"cpu": str(self.cpus), "memory": f"{self.memory // 1024}Ki", "pods": PODS}


def node_name(host: str) -> str:
    """A host name as the name of a node: small letters, and nothing that a DNS name may not have."""
    name = re.sub(r"[^a-z0-9.-]+", "-", host.lower())
    labels = [label.strip("-")[:63] for label in name.split(".")]
    found = ".".join(label.strip("-") for label in labels if label.strip("-"))[:253].strip(".-")
    return found or "this-machine"


def machine_info() -> MachineInfo:
    return MachineInfo(
        name=node_name(socket.gethostname()),
        address=_address(),
        cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        architecture=_ARCHITECTURES.get(platform.machine(), platform.machine()),
        system=platform.system().lower(),
        kernel=platform.release(),
        image=_image(),
        machine_id=_read("/etc/machine-id"),
        boot_id=_read("/proc/sys/kernel/random/boot_id"),
    )


def _address() -> str:
    """The address that others reach this machine by; its loopback address where it has no other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # No packet is sent: the kernel merely says which address it would send from.
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def _image() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return platform.system()


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
