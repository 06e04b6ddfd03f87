"""The journal of the agent: its progress on disk, so that a killed agent resumes or cleans up.

Every change is on disk before the act that it is about: a claim before its first file, an install script before it is
run. What a step did not finish is done again, so every step can be done twice.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from mooring.agents.host.progress import AgentProgress
from mooring.kube.errors import MooringError
from mooring.net.private_files import write_private

__all__ = ["AgentJournal", "JournalError"]


class JournalError(MooringError):
    """The journal is there and cannot be used."""


class AgentJournal:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.progress = _read(path)

    def record(self, **changes: Any) -> AgentProgress:
        """Change the progress; it is on disk when this returns."""
        new = replace(self.progress, **changes)
        if new != self.progress:
            write_private(self._path, msgspec.json.format(msgspec.json.encode(new)) + b"\n")
            self.progress = new
        return new

    def clear(self) -> AgentProgress:
        """The host is clean: nothing of a claim is left."""
        self.progress = AgentProgress()
        self._path.unlink(missing_ok=True)
        return self.progress


def _read(path: Path) -> AgentProgress:
    try:
        return msgspec.json.decode(path.read_bytes(), type=AgentProgress)
    except FileNotFoundError:
        return AgentProgress()
    except (OSError, msgspec.DecodeError) as error:
        raise JournalError(
            f"{path} cannot be read ({error}); run mooring agent --reset, which cleans the machine and removes it"
        ) from None
