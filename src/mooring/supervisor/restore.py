"""A backup put into the folder of a cluster that does not run, in place of what is there.

The backup is read to its end before anything is changed. From then on a mark in the folder says that it holds parts of
two clusters: should the process end, `mooring up` refuses the folder until a restore has come to its end.
"""

from __future__ import annotations

import gzip
import os
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mooring.apiserver.backup.lines import BackupCheck, BackupError, Header, read_objects
from mooring.apiserver.sqlite.completeness import REVISION_GAP
from mooring.apiserver.sqlite.database import adopt_database, build_database, skipping_row
from mooring.apiserver.sqlite.folder import DATABASE, SCHEMA_VERSION, claim
from mooring.apiserver.sqlite.last_revision import read_last_revision
from mooring.apiserver.sqlite.rows import Row, checksum, encode
from mooring.kube.errors import InputError
from mooring.net.private_files import write_private
from mooring.supervisor.data_folder import BACKUP_FILES, DataFolder

__all__ = ["check_backup", "restore_backup"]

# More than any object may have, so that a file that is no backup is not read into memory as one line.
_MAX_LINE_BYTES: Final = 64 * 1024 * 1024


def check_backup(file: Path) -> BackupCheck:
    """Read a backup to its end; InputError where something is wrong with it."""
    check = BackupCheck(SCHEMA_VERSION)
    try:
        for line in _lines(file):
            check.add(line)
        check.end()
    except BackupError as error:
        raise InputError(f"{file} cannot be restored: {error}") from None
    return check


def restore_backup(file: Path, header: Header, folder: DataFolder, *, replace: bool) -> None:
    """Put a backup that was checked into a folder, which is taken meanwhile.

    Revisions go on far behind those of the backup and of what was there, because clients may have seen later ones.
    """
    folder.check_free()
    if not replace and not folder.unfinished_restore.exists() and (folder.database / DATABASE).exists():
        raise InputError(
            f"{folder.path} holds a cluster already; name another folder with --data, "
            "or put the backup in the place of that cluster with --replace"
        )
    lock = folder.claim()
    try:
        data = claim(folder.database)
        try:
            _put(file, header, folder)
        finally:
            os.close(data)
    finally:
        os.close(lock)


def _put(file: Path, header: Header, folder: DataFolder) -> None:
    try:
        before = read_last_revision(folder.database) or 0
    except ValueError:
        before = 0
    revision = max(header.revision, before) + REVISION_GAP
    try:
        build_database(folder.database, _rows(file, revision), version=header.data_version)
    except sqlite3.IntegrityError:
        raise InputError(f"{file} cannot be restored: two of its objects have one resourceVersion") from None
    except sqlite3.Error as error:
        raise InputError(f"{folder.database} cannot be written: {error}; nothing was changed") from None
    write_private(folder.unfinished_restore, f"{file}\n".encode())
    adopt_database(folder.database, revision)
    folder.tls.mkdir(mode=0o700, exist_ok=True)
    for path in BACKUP_FILES:
        if path in header.files:
            write_private(folder.path / path, header.files[path])
    folder.unfinished_restore.unlink()


def _rows(file: Path, revision: int) -> Iterator[Row]:
    for store, namespace, name, obj in read_objects(_lines(file), SCHEMA_VERSION):
        value = encode(obj)
        version = int(obj["metadata"]["resourceVersion"])
        yield version, store, namespace, name, value, checksum(store, namespace, name, value)
    yield skipping_row(revision)


def _lines(file: Path) -> Iterator[bytes]:
    try:
        with gzip.open(file, "rb") as stream:
            while line := stream.readline(_MAX_LINE_BYTES):
                yield line
    except gzip.BadGzipFile:
        raise BackupError("it is no backup of Mooring") from None
    except (EOFError, zlib.error):
        raise BackupError("it is damaged or its end is missing") from None
    except OSError as error:
        error.filename = error.filename or str(file)
        raise
