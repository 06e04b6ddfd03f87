"""The GPUs of this machine, as nvidia-smi lists them, and what the node says of them.

The driver may hang, and a process that asks it can then not even be killed; so the program is never waited for longer
than its time, and the node keeps to what it knew before.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["RESOURCE", "Gpu", "find_gpus", "gpu_labels", "parse_gpus"]

RESOURCE: Final = "nvidia.com/gpu"
QUERY: Final = "index,uuid,name,memory.total,driver_version,pci.bus_id"
QUERY_SECONDS: Final = 10.0
_KILL_SECONDS: Final = 1.0
_MOST_OUTPUT_BYTES: Final = 1 << 16
_INFORMATION: Final = Path("/proc/driver/nvidia/gpus")
_UUID: Final = re.compile(r"GPU-[0-9a-fA-F-]+").fullmatch


class Gpu(NamedTuple):
    """`number` is nvidia-smi's index, `minor` the number in the name of the device, /dev/nvidia0.

    `memory_mib` is 0 where it is not known.
    """

    number: int
    uuid: str
    name: str
    memory_mib: int
    driver: str
    minor: int


def parse_gpus(text: str, information: Path = _INFORMATION) -> list[Gpu]:
    """The GPUs in the output of nvidia-smi; a line in place of a GPU that has failed is left out."""
    found = []
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != QUERY.count(",") + 1:
            continue
        index, uuid, name, memory, driver, bus = fields
        if not index.isdecimal() or _UUID(uuid) is None:
            continue
        size = int(memory) if memory.isdecimal() else 0
        found.append(Gpu(int(index), uuid, name, size, driver, _minor(information, bus, int(index))))
    return found


def gpu_labels(gpus: Sequence[Gpu]) -> dict[str, str]:
    """The labels that GPU feature discovery gives to a node."""
    if not gpus:
        return {}
    product = re.sub(r"[^A-Za-z0-9._-]+", "-", gpus[0].name).strip("-._")[:63]
    return {
        "nvidia.com/gpu.count": str(len(gpus)),
        "nvidia.com/gpu.memory": str(gpus[0].memory_mib),
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": product,
    }


async def find_gpus() -> list[Gpu] | None:
    """The GPUs of this machine now; none without the driver's program, None where it does not answer."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    process = await asyncio.create_subprocess_exec(
        program,
        f"--query-gpu={QUERY}",
        "--format=csv,noheader,nounits",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(QUERY_SECONDS):
            text = await process.stdout.read(_MOST_OUTPUT_BYTES)
            code = await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(_KILL_SECONDS):
                await process.wait()
        return None
    found = await asyncio.to_thread(parse_gpus, text.decode(errors="replace"))
    # With no GPU at all the program fails too, and says so.
    return found if code == 0 or found or b"No devices were found" in text else None


def _minor(information: Path, bus: str, otherwise: int) -> int:
    """The driver numbers devices on its own, mostly but not always as nvidia-smi does."""
    domain, _, rest = bus.lower().partition(":")
    with suppress(OSError):
        for line in (information / f"{domain[-4:]}:{rest}" / "information").read_text().splitlines():
            name, _, number = line.partition(":")
            if name.strip() == "Device Minor":
                return int(number)
    return otherwise
