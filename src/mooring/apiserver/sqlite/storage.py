"""A storage that survives kill -9: objects live in memory, and every change is a row in a SQLite file.

Reads never touch the disk. `put` and `remove` change memory and line a row up; `commit` writes all rows that wait in
one transaction and returns when the disk has them; with `stage` that wait can be another thread's. Rows that a later
one has replaced are deleted by and by, some at a time within a commit, so the file holds about as much as memory does.
"""

import gc
import os
import sqlite3
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from mooring.apiserver.sqlite.database import damaged, open_database
from mooring.apiserver.sqlite.errors import StorageFailed
from mooring.apiserver.sqlite.folder import DATABASE, claim
from mooring.apiserver.sqlite.rows import ObjectDecoder, checksum, encode
from mooring.kube.objects import Object
from mooring.registry.storage import MemoryStorage, check_size

__all__ = ["SqliteStorage"]

Row = tuple[int, str, str, str, bytes | None, int]

_INSERT: Final = "INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?)"
_DELETE: Final = "DELETE FROM changes WHERE revision = ?"
# Newest first: what comes later in this order has been replaced.
_LOAD: Final = "SELECT revision, store, namespace, name, value, checksum FROM changes ORDER BY revision DESC"
# So many rows are deleted at once, while at least as many more wait: neighbours in the file go for the price of one,
# and a commit that has this to do takes milliseconds longer.
_STEP: Final = 128


def _nothing() -> None:
    """Everything is on disk already."""


class SqliteStorage(MemoryStorage):
    """The data of one server in a folder of its own.

    Opening it raises DataFolderError when the folder cannot be used. When a commit fails, StorageFailed is raised, then
    and at every later write: memory knows of changes that the disk does not have, so the process has to end without
    answering for them, and be started again from what is on disk.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._path = folder / DATABASE
        self._failure = ""
        self._rows: list[Row] = []
        # Revisions of rows that later ones have replaced; a removal stands behind the rows that it removes.
        self._replaced: deque[int] = deque()
        self._lock = claim(folder)
        try:
            self._connection = open_database(folder)
            try:
                self._load()
            except BaseException:
                self._connection.close()
                raise
        except BaseException:
            os.close(self._lock)
            raise
        self._durable = self.revision

    @property
    def durable(self) -> int:
        return self._durable

    def put(self, store: str, namespace: str, name: str, obj: Object, revision: int) -> None:
        self._check()
        value = encode(obj)
        check_size(value)
        # Rows are found again by it when they are replaced.
        assert obj["metadata"]["resourceVersion"] == str(revision), "an object is stored with its revision"
        before = self.get(store, namespace, name)
        if before is not None:
            self._replaced.append(int(before["metadata"]["resourceVersion"]))
        self._rows.append((revision, store, namespace, name, value, checksum(store, namespace, name, value)))
        super().put(store, namespace, name, obj, revision)

    def remove(self, store: str, namespace: str, name: str, revision: int) -> None:
        self._check()
        before = self.get(store, namespace, name)
        super().remove(store, namespace, name, revision)
        assert before is not None, "what is removed was there"
        self._replaced += (int(before["metadata"]["resourceVersion"]), revision)
        self._rows.append((revision, store, namespace, name, None, checksum(store, namespace, name, None)))

    def commit(self) -> None:
        """Return when everything written so far is on disk."""
        self.stage()()

    def stage(self) -> Callable[[], None]:
        """Hand everything written so far to SQLite; calling what is returned waits for the disk, on any thread."""
        self._check()
        if not self._rows:
            return _nothing
        revision = self.revision
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(_INSERT, self._rows)
            if len(self._replaced) >= 2 * _STEP:
                # Twice what was added: deleting keeps ahead however much is written at once.
                self._delete_replaced(max(_STEP, 2 * len(self._rows)))
        except (sqlite3.Error, OSError) as error:
            raise self._fail(str(error)) from None
        self._rows = []
        return lambda: self._finish(revision)

    def _finish(self, revision: int) -> None:
        try:
            self._connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise self._fail(str(error)) from None
        self._durable = revision

    def close(self) -> None:
        """Close the file and leave the folder to others. What is not committed is lost, and was never answered."""
        self._failure = self._failure or "the storage was closed"
        self._connection.close()
        os.close(self._lock)

    def _delete_replaced(self, limit: int) -> None:
        some = [self._replaced.popleft() for _ in range(min(limit, len(self._replaced)))]
        # The last row stays, whatever it is: the revision goes on from it after a restart.
        if self.revision in some:
            some.remove(self.revision)
            self._replaced.append(self.revision)
        self._connection.executemany(_DELETE, ((revision,) for revision in some))

    def _check(self) -> None:
        if self._failure:
            raise StorageFailed.of(self._failure)

    def _fail(self, why: str) -> StorageFailed:
        self._failure = f"{self._path} cannot be written: {why}"
        if self._connection.in_transaction:
            # The disk may refuse this too. What the file holds is decided when it is opened again.
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
        return StorageFailed.of(self._failure)

    def _load(self) -> None:
        """Read every row. Nothing that is made here is garbage, so looking for some would double the time."""
        collecting = gc.isenabled()
        gc.disable()
        try:
            self._read_rows()
        finally:
            if collecting:
                gc.enable()

    def _read_rows(self) -> None:
        decoder = ObjectDecoder()
        seen: set[tuple[str, str, str]] = set()
        replaced: list[int] = []
        newest = self.revision
        try:
            for revision, store, namespace, name, value, wanted in self._connection.execute(_LOAD):
                newest = max(newest, revision)
                key = store, namespace, name
                if checksum(store, namespace, name, value) != wanted:
                    raise damaged(self._path, f"row {revision} ({store} {namespace}/{name}) has a wrong checksum")
                if key in seen:
                    replaced.append(revision)
                    continue
                seen.add(key)
                if value is None:
                    replaced.append(revision)
                else:
                    super().put(store, namespace, name, self._decoded(decoder, revision, value), revision)
        except (sqlite3.Error, TypeError) as error:
            raise damaged(self._path, str(error)) from None
        self.revision = newest
        self._replaced.extend(reversed(replaced))

    def _decoded(self, decoder: ObjectDecoder, revision: int, value: bytes) -> Object:
        try:
            obj = decoder.decode(value)
            if obj["metadata"]["resourceVersion"] == str(revision):
                return obj
            why = f"it says that it is revision {obj['metadata']['resourceVersion']}"
        except (msgspec.MsgspecError, UnicodeDecodeError, KeyError, TypeError) as error:
            why = str(error)
        raise damaged(self._path, f"row {revision} holds no object of Mooring: {why}")
