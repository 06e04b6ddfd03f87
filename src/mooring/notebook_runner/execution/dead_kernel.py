"""Says how a kernel ended that is no longer there."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Final

__all__ = ["how_it_died", "oom_kills"]

_MEMORY_EVENTS: Final = "/sys/fs/cgroup/memory.events"
_SHOWN_CHARACTERS: Final = 400


def oom_kills(path: str = _MEMORY_EVENTS) -> int:
    """How many processes of this control group were killed for memory; 0 where nobody counts."""
    try:
        for line in Path(path).read_text(encoding="ascii").splitlines():
            name, _, number = line.partition(" ")
            if name == "oom_kill":
                return int(number)
    except (OSError, ValueError):
        return 0
    return 0


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
