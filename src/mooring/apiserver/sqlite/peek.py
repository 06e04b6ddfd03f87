"""What a database says before it is opened for writing: its version, and how far it goes.

Opening a database in the ordinary way folds the log into it, and a log whose end is damaged is shortened by that. Here
nothing is changed, so that data which are refused stay as they are.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

__all__ = ["Peeked", "peek"]


class Peeked(NamedTuple):
    """`problem` says what is wrong with the structure of the file, or nothing."""

    version: int
    newest: int
    problem: str = ""


def peek(database: Path) -> Peeked:
    """The folder is held by this process. A sqlite3.Error says why the database cannot be read."""
    # This file system layer takes no locks, which a file that is open for reading alone could not get; an exclusive
    # connection keeps in memory what others share in a file beside the log.
    uri = f"file:{quote(str(database.absolute()))}?mode=ro&vfs=unix-none"
    with _kept(database.with_name(f"{database.name}-wal")):
        return _peek(sqlite3.connect(uri, uri=True, isolation_level=None))


@contextmanager
def _kept(log: Path) -> Iterator[None]:
    """Keep a log that SQLite deletes when it closes the database, because it finds nothing in it that it could read."""
    second = log.with_name(f"{log.name}.kept")
    with suppress(OSError):
        second.unlink(missing_ok=True)
        second.hardlink_to(log)
    try:
        yield
    finally:
        with suppress(OSError):
            if log.exists():
                second.unlink(missing_ok=True)
            else:
                second.rename(log)


def _peek(connection: sqlite3.Connection) -> Peeked:
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        (newest,) = connection.execute("SELECT coalesce(max(revision), 1) FROM changes").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        # A tenth of what reading all rows takes, and it looks at pages that reading does not come by.
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    finally:
        connection.close()
    return Peeked(version, newest, "" if verdict == "ok" else " ".join(str(verdict).split()))
