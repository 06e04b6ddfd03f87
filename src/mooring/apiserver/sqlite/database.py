"""The SQLite file: how it is made and opened so that a commit that returns is on the disk.

One table, to which every change adds a row; a row without a value is a removal. Rows carry a checksum, because SQLite
notices a broken structure and not a flipped bit. The file is locked exclusively: no other process can write to it, and
no shared memory is needed.
"""

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from mooring.apiserver.sqlite.completeness import check_completeness, check_nothing_was_there
from mooring.apiserver.sqlite.errors import DataFolderError
from mooring.apiserver.sqlite.folder import (
    APPLICATION_ID,
    DATABASE,
    SCHEMA_VERSION,
    UNFINISHED,
    WAY_OUT,
    check_header,
    check_strangers,
    check_version,
    sync_folder,
)
from mooring.apiserver.sqlite.last_revision import write_last_revision
from mooring.apiserver.sqlite.migrations import migrate
from mooring.apiserver.sqlite.peek import peek
from mooring.apiserver.sqlite.reserve import FREE_WANTED, NO_ROOM, Reserve
from mooring.apiserver.sqlite.rows import INSERT, Row, checksum

__all__ = ["adopt_database", "build_database", "damaged", "open_database", "skipping_row"]

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


def open_database(folder: Path, reserve: Reserve, *, accept_loss: bool = False) -> sqlite3.Connection:
    """Open the database of a folder that is held by this process; make it where there is none.

    Data that lack their last commits are refused, unless the loss is accepted: then revisions go on far behind those
    that were lost, because clients may have seen them.
    """
    path = folder / DATABASE
    first = 0
    try:
        if path.exists():
            check_header(path)
            # The log is newer than the header of the file.
            peeked = peek(path)
            check_version(path, peeked.version)
            if peeked.problem:
                raise damaged(path, peeked.problem)
            first = check_completeness(folder, peeked, accept_loss=accept_loss)
        else:
            check_strangers(folder)
            first = check_nothing_was_there(folder, accept_loss=accept_loss)
            if problem := reserve.take():
                raise _no_room(folder, problem)
            adopt_database(folder, build_database(folder))
        connection = _open(path)
        try:
            migrate(connection, folder, connection.execute("PRAGMA user_version").fetchone()[0])
            if first:
                connection.execute(INSERT, skipping_row(first))
                write_last_revision(folder, first)
        except BaseException:
            connection.close()
            raise
        return connection
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) in NO_ROOM:
            raise _no_room(folder, str(error)) from None
        raise damaged(path, str(error)) from None
    except OSError as error:
        raise DataFolderError(f"{path} cannot be opened: {error.strerror}; name another folder") from None


def _no_room(folder: Path, why: str) -> DataFolderError:
    return DataFolderError(f"{folder} has no room for data: {why}; free {FREE_WANTED} there, or name another folder")


def damaged(path: Path, why: str) -> DataFolderError:
    return DataFolderError(f"{path} cannot be read: {why}. It was left as it is; {WAY_OUT}")


def skipping_row(revision: int) -> Row:
    """Lets the next change be the one after this revision: the removal of something that was never there."""
    return revision, "", "", "", None, checksum("", "", "", None)


def build_database(folder: Path, rows: Iterable[Row] = (), version: int = SCHEMA_VERSION) -> int:
    """Make a database of these rows beside the one that may be there; returns the revision that it ends at."""
    unfinished = folder / UNFINISHED
    unfinished.unlink(missing_ok=True)
    (folder / f"{UNFINISHED}-journal").unlink(missing_ok=True)
    # The log takes over the mode of the file.
    os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    connection = sqlite3.connect(unfinished, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute(_TABLE)
        connection.executemany(INSERT, rows)
        (newest,) = connection.execute("SELECT coalesce(max(revision), 1) FROM changes").fetchone()
        connection.execute("COMMIT")
        return int(newest)
    except BaseException:
        unfinished.unlink()
        raise
    finally:
        connection.close()


def adopt_database(folder: Path, newest: int) -> None:
    """Put the database that was built, which ends at this revision, in the place of the one that may be there."""
    (folder / f"{DATABASE}-wal").unlink(missing_ok=True)
    write_last_revision(folder, newest)
    (folder / UNFINISHED).rename(folder / DATABASE)
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
    except BaseException:
        connection.close()
        raise
    return connection
