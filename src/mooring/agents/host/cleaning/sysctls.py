"""Settings of the kernel that a kubelet and network plug-ins change: read before a claim, put back after it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["read_sysctls", "restore_sysctls"]

_FOLDER: Final = Path("/proc/sys")
NAMES: Final = (
    "kernel/keys/root_maxbytes",
    "kernel/keys/root_maxkeys",
    "kernel/panic",
    "kernel/panic_on_oops",
    "net/ipv4/conf/all/route_localnet",
    "net/ipv4/ip_forward",
    "net/ipv6/conf/all/forwarding",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
)


def read_sysctls(folder: Path = _FOLDER) -> dict[str, str]:
    found = {}
    for name in NAMES:
        with suppress(OSError):
            found[name] = (folder / name).read_text().strip()
    return found


def restore_sysctls(values: Mapping[str, str], folder: Path = _FOLDER) -> None:
    """Put back what differs. What may not be written was not changed by a claim either."""
    for name, value in values.items():
        with suppress(OSError):
            if (folder / name).read_text().strip() != value:
                (folder / name).write_text(value)
