"""Which process a service is: its number and start time, written by the process itself before it becomes the service.

So there is no moment in which a service runs and is on no record, and a number that passed to another process is told
by the start time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["RECORDING", "ProcessRecord", "parse_stat", "read_record"]

# Run by a shell with the record and the command as its arguments; `exec` keeps number and start time.
RECORDING: Final = 'IFS= read -r line </proc/self/stat && printf "%s\\n" "$line" >"$1" && shift && exec "$@"'
_STATE: Final = 0
_START: Final = 19
_ENDED: Final = ("Z", "X", "x")


class ProcessRecord(NamedTuple):
    pid: int
    start: int

    def is_running(self) -> bool:
        """Whether this very process still runs; one that has ended and is not reaped does not."""
        try:
            found, state = parse_stat(Path(f"/proc/{self.pid}/stat").read_text())
        except (OSError, ValueError, IndexError):
            return False
        return found == self and state not in _ENDED


def parse_stat(text: str) -> tuple[ProcessRecord, str]:
    """A line of /proc/PID/stat as record and state. The name in it may hold anything, so what counts follows it."""
    pid, _, _ = text.partition(" ")
    rest = text.rpartition(")")[2].split()
    return ProcessRecord(int(pid), int(rest[_START])), rest[_STATE]


def read_record(path: Path) -> ProcessRecord | None:
    """The process of a record, if it still runs."""
    try:
        record, _ = parse_stat(path.read_text())
    except (OSError, ValueError, IndexError):
        return None
    return record if record.is_running() else None
