"""Data of an older version, brought up one version at a time.

The version is a number in the header of the database. Each step is one transaction that ends with the next number, so a
crash leaves data of one version or of the next one.
"""

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from mooring.apiserver.sqlite.folder import SCHEMA_VERSION
from mooring.apiserver.sqlite.last_revision import write_last_revision

__all__ = ["migrate"]

Step = Callable[[sqlite3.Connection, Path], None]


def _begin_last_revision(connection: sqlite3.Connection, folder: Path) -> None:
    """From version 2 on a file beside the database says how far it goes."""
    (newest,) = connection.execute("SELECT coalesce(max(revision), 1) FROM changes").fetchone()
    write_last_revision(folder, newest)


# By the version that they start from.
_STEPS: Final[Mapping[int, Step]] = {1: _begin_last_revision}


def migrate(connection: sqlite3.Connection, folder: Path, version: int) -> None:
    for number in range(version, SCHEMA_VERSION):
        connection.execute("BEGIN IMMEDIATE")
        _STEPS[number](connection, folder)
        connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.execute("COMMIT")
