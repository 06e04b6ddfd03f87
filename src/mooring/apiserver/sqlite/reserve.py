"""Room on the disk that is kept for the last writes before the disk is full.

A write changes memory first and is made to last afterwards. Should the disk have no room for it then, memory would be
ahead of the disk, and nothing could take that back. So a file holds some room: when the disk is full the file is
deleted, what waits takes its room, and no further write is taken until the file can be made again.
"""

import errno
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Final

from mooring.registry.storage import MAX_PENDING_BYTES

__all__ = ["FREE_WANTED", "NO_ROOM", "RESERVE", "Reserve"]

RESERVE: Final = "reserve"
# SQLite adds its own to what waits for the disk, never as much again.
RESERVE_BYTES: Final = 2 * MAX_PENDING_BYTES
# As much again stays free beside the reserve, so that the disk is not full once more after the next few writes.
_FREE_BYTES_WANTED: Final = 2 * RESERVE_BYTES
FREE_WANTED: Final = f"{_FREE_BYTES_WANTED // (1024 * 1024)} MiB"
# Errors before anything of a transaction counts, so that it can be repeated. A quota and a limit on the size of files
# are no full disk to SQLite, but an error of writing.
NO_ROOM: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE)


class Reserve:
    """The file of one data folder. `take` and `give` may be called in any order and at any time."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / RESERVE

    @property
    def taken(self) -> bool:
        try:
            return self._path.stat().st_size == RESERVE_BYTES
        except OSError:
            return False

    def take(self) -> str:
        """Make the file where it is missing; what keeps it from being made, or nothing."""
        if self.taken:
            return ""
        try:
            if shutil.disk_usage(self._path.parent).free < _FREE_BYTES_WANTED:
                return os.strerror(errno.ENOSPC)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                _allocate(descriptor, RESERVE_BYTES)
            finally:
                os.close(descriptor)
        except OSError as error:
            self.give()
            return error.strerror or str(error)
        return ""

    def give(self) -> None:
        """Leave the room to others."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError:
            # What waits for the room is told so by the disk.
            return


def _allocate(descriptor: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    chunk = bytes(1024 * 1024)
    for start in range(0, size, len(chunk)):
        os.pwrite(descriptor, chunk, start)
