"""This machine in the words of the Node API: its name, size and labels."""

from __future__ import annotations

import os
import platform
import re
import socket
from pathlib import Path
from typing import Final, NamedTuple

from mooring.kube.objects import Object

__all__ = ["LABEL", "TAINT", "Machine", "node_name", "node_object", "this_machine"]


LABEL: Final = "mooring.dev/process"
TAINT: Final = {"key": LABEL, "value": "true", "effect": "NoSchedule"}
PODS: Final = "110"
_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm"}


class Machine(NamedTuple):
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


def this_machine() -> Machine:
    return Machine(
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


def node_object(machine: Machine) -> Object:
    """The node as it is registered. What people change of it afterwards stays."""
    labels = {
        "kubernetes.io/arch": machine.architecture,
        "kubernetes.io/hostname": machine.name[:63].rstrip(".-"),
        "kubernetes.io/os": machine.system,
        LABEL: "true",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": machine.name, "labels": labels},
        "spec": {"taints": [TAINT]},
    }


def node_status(machine: Machine, port: int, conditions: list[Object]) -> Object:
    """What the node says of itself. The API server reaches its logs on this machine's own loopback address."""
    return {
        "addresses": [
            {"type": "InternalIP", "address": machine.address},
            {"type": "Hostname", "address": machine.name},
            {"type": "InternalDNS", "address": "localhost"},
        ],
        "capacity": machine.capacity,
        "allocatable": machine.capacity,
        "conditions": conditions,
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        "nodeInfo": {
            "architecture": machine.architecture,
            "bootID": machine.boot_id,
            "containerRuntimeVersion": "process://1.0.0",
            "kernelVersion": machine.kernel,
            "kubeProxyVersion": "",
            "kubeletVersion": "v1.35.0",
            "machineID": machine.machine_id,
            "operatingSystem": machine.system,
            "osImage": machine.image,
            "systemUUID": machine.machine_id,
        },
    }
