"""What the kernel tells of processes: who belongs to whom, how much memory they hold, and who was left behind.

Everything that the node starts carries a mark of its data folder in the environment it is started with. So what a node
that was killed has left can be found by the next one for certain, and nothing else can be taken for it.
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["MARK", "children", "family", "held_by", "kill_marked", "mark_of", "memory_of"]

MARK: Final = "MOORING_SANDBOX"
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def mark_of(folder: Path) -> str:
    return hashlib.sha256(str(folder.absolute()).encode()).hexdigest()[:24]


def children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found = [pid]
    for each in found:
        found += children(each)
    return found


def memory_of(pids: Iterable[int], limit: int) -> int:
    """The bytes that these processes hold; counted exactly only where it may be more than the limit."""
    known = list(pids)
    rough = sum(map(_resident, known))
    return rough if rough <= limit else sum(map(_held, known))


def held_by(pids: Iterable[int]) -> int:
    """The bytes that these processes hold, exactly; all that one has in memory where the kernel tells no more."""
    return sum(_held(pid) or _resident(pid) for pid in pids)


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _held(pid: int) -> int:
    """Its share of what is not backed by files."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))


def kill_marked(mark: str, name: str = MARK) -> int:
    """Kill every process that was started with this mark; how many there were."""
    wanted = f"{name}={mark}".encode()
    killed = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            killed += _kill_if(int(entry.name), wanted)
    return killed


def _kill_if(pid: int, wanted: bytes) -> bool:
    with suppress(OSError):
        # Held by descriptor, so that the number cannot pass to another process between the look and the signal.
        descriptor = os.pidfd_open(pid)
        try:
            if wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                return True
        finally:
            os.close(descriptor)
    return False
