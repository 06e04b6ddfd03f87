"""Says how a kernel ended that is no longer there."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Final

__all__ = ["how_it_died", "oom_kills"]

_SHOWN_CHARACTERS: Final = 400


def oom_kills(proc: str = "/proc/self/cgroup", root: str = "/sys/fs/cgroup") -> int:
    """How many processes of this control group were killed for memory; 0 where nobody counts.

    A container may see its own group at the root, whatever its name is outside.
    """
    for path in [*_named(proc, root), f"{root}/memory.events", f"{root}/memory/memory.oom_control"]:
        for name, number in _pairs(path):
            if name == "oom_kill":
                return int(number)
    return 0


def _named(proc: str, root: str) -> list[str]:
    """The files of the groups of this process, in both versions of control groups."""
    found = []
    for line in _lines(proc):
        _, controllers, group = [*line.split(":", 2), "", ""][:3]
        if not controllers:
            found.append(f"{root}{group}/memory.events")
        elif "memory" in controllers.split(","):
            found.append(f"{root}/memory{group}/memory.oom_control")
    return found


def _pairs(path: str) -> list[tuple[str, str]]:
    pairs = [line.partition(" ") for line in _lines(path)]
    return [(name, number) for name, _, number in pairs if number.isdigit()]


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []


def how_it_died(code: int | None, killed_for_memory: bool, log: str) -> str:
    """The end of a sentence. The log is the kernel's own, not that of a cell."""
    if killed_for_memory:
        return "it was killed because the memory limit was reached; raise resources.limits.memory"
    if code == -signal.SIGKILL:
        return "it was killed (SIGKILL), as is done when memory runs out; raise resources.limits.memory if that is why"
    if code is None:
        how = "it no longer answers"
    elif code < 0:
        how = f"signal {-code} ({_signal_name(-code)}) ended it"
    else:
        how = f"it exited with code {code}"
    tail = " ".join(log.split())[-_SHOWN_CHARACTERS:]
    return f"{how}; its last words: {tail}" if tail else how


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
