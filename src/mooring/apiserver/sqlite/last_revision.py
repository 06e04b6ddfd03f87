"""The revision of the last commit, in a file of its own: what tells that the end of the log was lost.

SQLite takes a log that is missing for an empty one, and a damaged one for one that ends before the damage. Either way
the last commits are gone without a word. This file is written after each commit has returned, so it is never ahead of
the data; if it is ahead of them at the next start, something was lost.

The write is not waited for: it survives the end of the process at once, and the end of the machine after a second,
because once a second it is. A commit costs microseconds more for it.
"""

import os
import time
from pathlib import Path
from typing import Final
from zlib import crc32

__all__ = ["LAST_REVISION", "LastRevision", "read_last_revision", "write_last_revision"]

LAST_REVISION: Final = "last-revision"
_SYNC_SECONDS: Final = 1.0
# Always as long, so that it is written in one place of the disk, which a full disk has too.
_LINE_BYTES: Final = 30


def _line(revision: int) -> bytes:
    digits = f"{revision:020d}"
    return f"{digits} {crc32(digits.encode()):08x}\n".encode()


def read_last_revision(folder: Path) -> int | None:
    """What the file says; None where there is none. ValueError where it says nothing that can be read."""
    try:
        line = (folder / LAST_REVISION).read_bytes()
    except FileNotFoundError:
        return None
    revision = int(line[:20]) if line[:20].isdigit() else 0
    if len(line) != _LINE_BYTES or line != _line(revision):
        raise ValueError(line)
    return revision


def write_last_revision(folder: Path, revision: int) -> None:
    """Write the file, whatever it says, and wait until it lasts. An OSError says why that cannot be done."""
    with LastRevision(folder) as file:
        file.write(revision)
        file.sync()


class LastRevision:
    """The file of a data folder that is in use, made where it is missing."""

    def __init__(self, folder: Path) -> None:
        self._descriptor = os.open(folder / LAST_REVISION, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._synced = time.monotonic()

    def __enter__(self) -> "LastRevision":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def record(self, revision: int) -> None:
        """After each commit. A file that cannot be written stays behind, and tells of fewer losses."""
        try:
            self.write(revision)
            now = time.monotonic()
            if now >= self._synced + _SYNC_SECONDS:
                self._synced = now
                self.sync()
        except OSError:
            return

    def write(self, revision: int) -> None:
        os.pwrite(self._descriptor, _line(revision), 0)

    def sync(self) -> None:
        os.fsync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)
