"""Operating system, size and GPUs of a host, as capacity and as labels.

The labels are for equality in selectors; whoever compares amounts reads the capacity.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from mooring.agents.host.program_output import program_output
from mooring.features.hosts.api.names import (
    CAPACITY_CPU,
    CAPACITY_GPU,
    CAPACITY_MEMORY,
    GPU,
    GPU_COUNT,
    GPU_MODEL,
    GPU_PRESENT,
)
from mooring.nodes.process.gpus import QUERY_SECONDS, find_gpus

__all__ = [
    "Hardware",
    "capacity_of",
    "count_gpu_devices",
    "find_hardware",
    "hardware_labels",
    "os_image",
    "total_memory",
]

UNKNOWN_OS: Final = "Unknown"
_OS_RELEASES: Final = (Path("/etc/os-release"), Path("/usr/lib/os-release"))
_MEMORY: Final = Path("/proc/meminfo")
_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm"}
_MIG_DEVICE: Final = re.compile(r"^\s+MIG\s.*\(UUID:\s*MIG-", re.MULTILINE)
_CARD: Final = re.compile(r"^GPU\s+\d+:", re.MULTILINE)


class Hardware(NamedTuple):
    """`memory` is in KiB. `gpus` counts what containers can ask for: of a card that is cut by MIG, its parts."""

    os_name: str
    os_image: str
    architecture: str
    cpus: int
    memory: int
    gpus: int = 0
    gpu_model: str = ""


def os_image(text: str) -> str:
    """PRETTY_NAME of an os-release file, without the LTS that installers are not listed by."""
    for line in text.splitlines():
        name, _, value = line.strip().partition("=")
        if name == "PRETTY_NAME":
            words = shlex.split(value)
            return words[0].replace(" LTS", "") if words and words[0] else UNKNOWN_OS
    return UNKNOWN_OS


def total_memory(text: str) -> int:
    """MemTotal of /proc/meminfo in KiB; 0 where it is not told."""
    for line in text.splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1])
    return 0


def count_gpu_devices(listing: str) -> int:
    """How many devices the output of nvidia-smi -L has: the parts of a card that is cut by MIG, else the card."""
    cards = re.split(_CARD, listing)[1:]
    return sum(len(_MIG_DEVICE.findall(card)) or 1 for card in cards)


def capacity_of(hardware: Hardware) -> dict[str, str]:
    found = {"cpu": str(hardware.cpus), "memory": f"{hardware.memory}Ki"}
    return found | ({GPU: str(hardware.gpus)} if hardware.gpus else {})


def hardware_labels(hardware: Hardware) -> dict[str, str]:
    """Only what was found is labelled."""
    found = {CAPACITY_CPU: str(hardware.cpus), CAPACITY_MEMORY: f"{hardware.memory}Ki"}
    if not hardware.gpus:
        return found
    model = re.sub(r"[^A-Za-z0-9._-]+", "-", hardware.gpu_model)[:63].strip("-._")
    return {
        **found,
        CAPACITY_GPU: str(hardware.gpus),
        GPU_PRESENT: "true",
        GPU_COUNT: str(hardware.gpus),
        **({GPU_MODEL: model} if model else {}),
    }


async def find_hardware() -> Hardware:
    """Raises OSError where the machine's memory cannot be read. A driver that does not answer counts as no GPU."""
    gpus = await find_gpus() or []
    parts = await _gpu_devices() if gpus else 0
    return Hardware(
        os_name=platform.system().lower(),
        os_image=os_image(_first_text(_OS_RELEASES)),
        architecture=_ARCHITECTURES.get(platform.machine(), platform.machine()),
        cpus=os.cpu_count() or 1,
        memory=total_memory(_MEMORY.read_text()),
        gpus=max(parts, len(gpus)),
        gpu_model=gpus[0].name if gpus else "",
    )


async def _gpu_devices() -> int:
    program = shutil.which("nvidia-smi")
    if program is None:
        return 0
    done = await program_output((program, "-L"), QUERY_SECONDS)
    return count_gpu_devices(done.text)


def _first_text(paths: Sequence[Path]) -> str:
    for path in paths:
        with suppress(OSError):
            return path.read_text()
    return ""
