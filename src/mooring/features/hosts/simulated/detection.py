"""What an agent would find out about its host and write there: system, network, capacity, and labels that say so."""

from __future__ import annotations

import hashlib
from typing import Final

from mooring.features.hosts.api.hosts import ByoHost
from mooring.features.hosts.api.names import (
    CAPACITY_CPU,
    CAPACITY_GPU,
    CAPACITY_MEMORY,
    GPU,
    GPU_COUNT,
    GPU_PRESENT,
    HOST_LABEL,
)
from mooring.kube.objects import Object
from mooring.kube.quantities import value

__all__ = ["DEFAULT_CAPACITY", "detected_labels", "detected_status"]

# What a host has that was made without a capacity.
DEFAULT_CAPACITY: Final = {"cpu": "8", "memory": "32Gi"}
_SYSTEM: Final = {"osname": "linux", "osimage": "Ubuntu 22.04", "architecture": "amd64"}


def detected_labels(host: ByoHost) -> dict[str, str]:
    """The labels of a host that follow from it; those that people set for themselves are not among them."""
    capacity = host.spec.capacity or DEFAULT_CAPACITY
    labels = {HOST_LABEL: host.metadata.name}
    if "cpu" in capacity:
        labels[CAPACITY_CPU] = str(value(capacity["cpu"]))
    if "memory" in capacity:
        labels[CAPACITY_MEMORY] = f"{value(capacity['memory']) // 1024}Ki"
    if count := value(capacity.get(GPU, 0)):
        labels |= {CAPACITY_GPU: str(count), GPU_PRESENT: "true", GPU_COUNT: str(count)}
    return labels


def detected_status(host: ByoHost) -> Object:
    """System and network, where nothing is said of them; an address that follows from the name."""
    made: Object = {}
    if not host.status.hostinfo.osimage:
        made["hostinfo"] = dict(_SYSTEM)
    if not host.status.network:
        digest = hashlib.sha256(f"{host.metadata.namespace}/{host.metadata.name}".encode()).digest()
        made["network"] = [
            {
                "networkInterfaceName": "eth0",
                "macAddr": ":".join(f"{part:02x}" for part in (2, *digest[:5])),
                "ipAddrs": [f"10.{digest[5]}.{digest[6]}.{digest[7] % 254 + 1}/16"],
                "connected": True,
                "isDefault": True,
            }
        ]
    return made
