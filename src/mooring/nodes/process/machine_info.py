"""What a kubelet reads of its machine before it registers: name, address, size, operating system."""

from __future__ import annotations

import os
import platform
import re
import socket
from pathlib import Path
from typing import Final, NamedTuple

from mooring.nodes.process.gpus import RESOURCE, Gpu

__all__ = ["MachineInfo", "machine_info", "node_name", "storage_of"]


PODS: Final = "110"
_ALLOCATABLE_STORAGE: Final = 0.9
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
    # The size of the disk with the pods' files in bytes, and the GPUs that were ever seen.
    storage: int = 0
    gpus: tuple[Gpu, ...] = ()
    broken_gpus: int = 0
    # The folder of local PersistentVolumes.
    local_volumes: str = ""

    @property
    def capacity(self) -> dict[str, str]:
        found = {"cpu": str(self.cpus), "memory": f"{self.memory // 1024}Ki", "pods": PODS}
        if self.storage:
            found["ephemeral-storage"] = f"{self.storage // 1024}Ki"
        return found | ({RESOURCE: str(len(self.gpus))} if self.gpus else {})

    @property
    def allocatable(self) -> dict[str, str]:
        """Without the part of the disk that a kubelet keeps free, and without GPUs that have failed."""
        found = self.capacity
        if self.storage:
            found["ephemeral-storage"] = str(int(self.storage * _ALLOCATABLE_STORAGE))
        return found | ({RESOURCE: str(len(self.gpus) - self.broken_gpus)} if self.gpus else {})


def node_name(host: str) -> str:
    """A host name as the name of a node: small letters, and nothing that a DNS name may not have."""
    name = re.sub(r"[^a-z0-9.-]+", "-", host.lower())
    labels = [label.strip("-")[:63] for label in name.split(".")]
    found = ".".join(label.strip("-") for label in labels if label.strip("-"))[:253].strip(".-")
    return found or "this-machine"


def storage_of(folder: Path) -> int:
    """The size of the disk that a folder is on."""
    found = os.statvfs(folder)
    return found.f_blocks * found.f_frsize


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
