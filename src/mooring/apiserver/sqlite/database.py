"""The SQLite file: how it is made and opened so that a commit that returns is on the disk.

One table, to which every change adds a row; a row without a value is a removal. Rows carry a checksum, because SQLite
notices a broken structure and not a flipped bit. The file is locked exclusively: no other process can write to it, and
no shared memory is needed.
"""

import os
import sqlite3
from pathlib import Path
from typing import Final

from mooring.apiserver.sqlite.errors import DataFolderError
from mooring.apiserver.sqlite.folder import (
    APPLICATION_ID,
    DATABASE,
    SCHEMA_VERSION,
    UNFINISHED,
    check_header,
    check_strangers,
    check_version,
    sync_folder,
)

__all__ = ["damaged", "open_database"]

_TABLE: Final = (
    "CREATE TABLE changes (revision INTEGER PRIMARY KEY, store TEXT NOT NULL, namespace TEXT NOT NULL, "
    "name TEXT NOT NULL, value BLOB, checksum INTEGER NOT NULL)"
)
# Pages after which the log is folded into the file: about 4 MB, so a fold takes milliseconds.
_CHECKPOINT_PAGES: Final = 1000
# A log that grew beyond this by one large commit is cut back.
_MAX_WAL_BYTES: Final = 16 * 1024 * 1024
# What `PRAGMA synchronous` answers when every commit waits for the disk.
_FULL: Final = 2


def open_database(folder: Path) -> sqlite3.Connection:
    """Open the database of a folder that is held by this process; make it where there is none."""
    path = folder / DATABASE
    try:
        if path.exists():
            check_header(path)
        else:
            check_strangers(folder)
            _create(folder)
        return _open(path)
    except sqlite3.Error as error:
        raise damaged(path, str(error)) from None
    except OSError as error:
        raise DataFolderError(f"{path} cannot be opened: {error.strerror}; name another folder") from None


def damaged(path: Path, why: str) -> DataFolderError:
    return DataFolderError(
        f"{path} cannot be read: {why}. It was left as it is; put a backup in its place, or name another folder"
    )


def _create(folder: Path) -> None:
    """Make an empty database: complete, or not there at all."""
    unfinished = folder / UNFINISHED
    unfinished.unlink(missing_ok=True)
    (folder / f"{UNFINISHED}-journal").unlink(missing_ok=True)
    # The log takes over the mode of the file.
    os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    connection = sqlite3.connect(unfinished, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute(_TABLE)
        connection.execute("COMMIT")
    finally:
        connection.close()
    unfinished.rename(folder / DATABASE)
    sync_folder(folder)
    sync_folder(folder.parent)


def _open(path: Path) -> sqlite3.Connection:
    # The server has one thread that writes; which one it is may differ from the one that opened the file.
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=16)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        # On a Mac a plain fsync leaves data in the drive's own memory.
        connection.execute("PRAGMA fullfsync = ON")
        connection.execute("PRAGMA checkpoint_fullfsync = ON")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        connection.execute(f"PRAGMA journal_size_limit = {_MAX_WAL_BYTES}")
        (synchronous,) = connection.execute("PRAGMA synchronous").fetchone()
        if mode != "wal" or synchronous != _FULL:
            raise DataFolderError(
                f"{path} cannot be kept safely: SQLite answers journal_mode {mode} and synchronous {synchronous} "
                f"where wal and {_FULL} are needed; name a folder on a local disk"
            )
        # Again, because what the log holds is newer than the header of the file.
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        check_version(path, version)
        # A tenth of what reading all rows takes, and it looks at pages that reading does not come by.
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise damaged(path, " ".join(str(verdict).split()))
    except BaseException:
        connection.close()
        raise
    return connection
