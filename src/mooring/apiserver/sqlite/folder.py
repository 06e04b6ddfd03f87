"""The folder that holds the data of one server: taken by one process at a time, made when missing, never overwritten.

What is found there and was not made by this program, or by a newer version of it, or is damaged, is refused with a
sentence. A data folder is the one thing here that cannot be made again.
"""

import fcntl
import os
import struct
from contextlib import suppress
from pathlib import Path
from typing import Final

from mooring.apiserver.sqlite.errors import DataFolderError
from mooring.apiserver.sqlite.last_revision import LAST_REVISION
from mooring.apiserver.sqlite.reserve import RESERVE

__all__ = [
    "APPLICATION_ID",
    "DATABASE",
    "SCHEMA_VERSION",
    "UNFINISHED",
    "WAY_OUT",
    "check_header",
    "check_strangers",
    "check_version",
    "claim",
    "sync_folder",
]

DATABASE: Final = "objects.sqlite"
# Built under this name and renamed when complete, so that a file named as above is never half made.
UNFINISHED: Final = "objects.sqlite.new"
LOCK: Final = "lock"
# In the header of the file, where SQLite has room for it: "Moor".
APPLICATION_ID: Final = 0x4D6F6F72
SCHEMA_VERSION: Final = 2

WAY_OUT: Final = "put a backup in its place with mooring restore, or name another folder"
_OURS: Final = frozenset({DATABASE, UNFINISHED, f"{UNFINISHED}-journal", LOCK, LAST_REVISION, RESERVE})
_MAGIC: Final = b"SQLite format 3\0"
# In the header: the version of the schema at byte 60, the application at 68, both big-endian.
_HEADER: Final = struct.Struct(">60xi4xi")


def claim(folder: Path) -> int:
    """Make the folder where it is missing and take it; returns the descriptor that holds it until it is closed."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise DataFolderError(f"{folder} cannot be used for data: {error.strerror}; name another folder") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Objects may be secrets.
        folder.chmod(0o700)
    except BlockingIOError:
        holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
        os.close(descriptor)
        raise DataFolderError(
            f"{folder} is in use by another server (process {holder}); stop that one, or name another folder"
        ) from None
    except OSError as error:
        os.close(descriptor)
        raise DataFolderError(f"{folder} cannot be used for data: {error.strerror}; name another folder") from None
    # Only for people to read: a full disk need not have room for it.
    with suppress(OSError):
        os.ftruncate(descriptor, os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0))
    return descriptor


def check_strangers(folder: Path) -> None:
    """Refuse a folder that holds files of other programs."""
    strangers = sorted(path.name for path in folder.iterdir() if path.name not in _OURS)
    if strangers:
        raise DataFolderError(
            f"{folder} holds no data of Mooring, but other files ({_shown(strangers)}); name another folder"
        )


def check_header(database: Path) -> None:
    """Refuse a file that is not ours before SQLite touches it."""
    with database.open("rb") as file:
        header = file.read(100)
    if len(header) < 100 or not header.startswith(_MAGIC):
        raise DataFolderError(
            f"{database} is damaged or no database: it does not begin as one. It was left as it is; {WAY_OUT}"
        )
    version, application = _HEADER.unpack_from(header)
    if application != APPLICATION_ID:
        raise DataFolderError(f"{database} was made by another program and was left as it is; name another folder")
    check_version(database, version)


def check_version(database: Path, version: int) -> None:
    if version > SCHEMA_VERSION:
        raise DataFolderError(
            f"{database} was made by a newer Mooring (data version {version}, this one knows {SCHEMA_VERSION}); "
            "start that one, or name another folder"
        )


def sync_folder(folder: Path) -> None:
    """Make what a folder lists last: a file whose name is lost is lost."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _shown(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
