"""The Linux capabilities of a container: what runtimes give by default, less and more as its security context says."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from mooring.kube.objects import Object
from mooring.nodes.process.containers.environment.variables import ConfigError

__all__ = ["ALL", "DEFAULTS", "bounding_set", "capabilities_of", "mask"]

# By the numbers that the kernel has for them.
ALL: Final = (
    *("CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP"),
    *("LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER"),
    *("SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE"),
    *("SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP"),
    *("MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF"),
    *("CHECKPOINT_RESTORE",),
)
DEFAULTS: Final = frozenset(
    (
        *("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "NET_BIND_SERVICE"),
        *("NET_RAW", "SYS_CHROOT", "MKNOD", "AUDIT_WRITE", "SETFCAP"),
    )
)


def capabilities_of(container: Object) -> tuple[frozenset[str], frozenset[str]]:
    """All that a container may have, and of these the ones that its spec names. Raises ConfigError for unknown names.

    The named ones are passed on to a user who is not root too: there is no image whose files could carry them.
    """
    context = container.get("securityContext") or {}
    if context.get("privileged"):
        return frozenset(ALL), frozenset()
    wanted = context.get("capabilities") or {}
    added, dropped = (_names(container, wanted.get(key) or (), key) for key in ("add", "drop"))
    found = frozenset(ALL) if "ALL" in added else DEFAULTS
    if "ALL" in dropped:
        found = frozenset()
    named = added - {"ALL"} - dropped
    return (found | named) - dropped, named


def bounding_set() -> frozenset[str]:
    """What this process may pass on at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapBnd:"):
            mask = int(line.split()[1], 16)
            return frozenset(name for number, name in enumerate(ALL) if mask >> number & 1)
    return frozenset()


def mask(capabilities: Iterable[str]) -> int:
    """As the kernel has them: one bit for each."""
    return sum(1 << ALL.index(name) for name in set(capabilities))


def _names(container: Object, given: Iterable[str], key: str) -> frozenset[str]:
    names = {str(name).upper().removeprefix("CAP_") for name in given}
    if unknown := sorted(names - {*ALL, "ALL"}):
        raise ConfigError(
            f"container {container['name']}: securityContext.capabilities.{key} has {unknown[0]}, "
            "which is no capability of Linux"
        )
    return frozenset(names)
