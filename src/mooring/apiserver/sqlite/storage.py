"""A storage that survives kill -9: objects live in memory, and every change is a row in a SQLite file.

Reads never touch the disk. `put` and `remove` change memory and line a row up; `commit` writes all rows that wait in
one transaction and returns when the disk has them; with `stage` that wait can be another thread's. Rows that a later
one has replaced are deleted by and by, some at a time within a commit, so the file holds about as much as memory does.
"""

import gc
import logging
import os
import sqlite3
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec

from mooring.apiserver.sqlite.database import damaged, open_database
from mooring.apiserver.sqlite.errors import StorageFailed
from mooring.apiserver.sqlite.folder import DATABASE, claim
from mooring.apiserver.sqlite.last_revision import LastRevision
from mooring.apiserver.sqlite.reserve import FREE_WANTED, NO_ROOM, Reserve
from mooring.apiserver.sqlite.rows import INSERT, ObjectDecoder, Row, checksum, encode
from mooring.kube.objects import Object
from mooring.kube.status import InsufficientStorageError
from mooring.registry.storage import MemoryStorage, check_size

__all__ = ["SqliteStorage"]

_DELETE: Final = "DELETE FROM changes WHERE revision = ?"
# Newest first: what comes later in this order has been replaced.
_LOAD: Final = "SELECT revision, store, namespace, name, value, checksum FROM changes ORDER BY revision DESC"
# So many rows are deleted at once, while at least as many more wait: neighbours in the file go for the price of one,
# and a commit that has this to do takes milliseconds longer.
_STEP: Final = 128
# What a row takes beside its value: the names in it, and its share of a page.
_ROW_BYTES: Final = 256
# On a full disk a write looks for room, at most so often.
_LOOK_SECONDS: Final = 0.5
# Shown by the parent of the process, like everything of that form.
_NEWS: Final = {"fields": {"news": "storage has room"}}

_log = logging.getLogger(__name__)


def _nothing() -> None:
    """Everything is on disk already."""


class SqliteStorage(MemoryStorage):
    """The data of one server in a folder of its own.

    Opening it raises DataFolderError when the folder cannot be used. On a full disk writes are refused with
    InsufficientStorageError before they change anything, until there is room again. When a commit fails for another
    reason, StorageFailed is raised, then and at every later write: memory knows of changes that the disk does not have,
    so the process has to end without answering for them, and be started again from what is on disk.
    """

    def __init__(self, folder: Path, *, accept_loss: bool = False) -> None:
        super().__init__()
        self._path = folder / DATABASE
        self._failure = ""
        self._rows: list[Row] = []
        # Bytes of the rows that wait, and of those that were handed to SQLite and are not on disk yet.
        self._waiting_bytes = self._staged_bytes = 0
        # Revisions of rows that later ones have replaced; a removal stands behind the rows that it removes.
        self._replaced: deque[int] = deque()
        # Those of them that the transaction under way deletes.
        self._deleted: list[int] = []
        self._reserve = Reserve(folder)
        # Why the disk counts as full, or nothing, and when to look next whether it still is.
        self._full = ""
        self._look_at = 0.0
        self._lock = claim(folder)
        try:
            self._open(folder, accept_loss)
        except BaseException:
            os.close(self._lock)
            raise
        self._durable = self.revision

    def _open(self, folder: Path, accept_loss: bool) -> None:
        self._connection = open_database(folder, self._reserve, accept_loss=accept_loss)
        try:
            self._load()
            if problem := self._reserve.take():
                self._refuse_writes(problem)
            self._last_revision = LastRevision(folder)
        except BaseException:
            self._connection.close()
            raise

    @property
    def durable(self) -> int:
        return self._durable

    @property
    def pending_bytes(self) -> int:
        return self._waiting_bytes + self._staged_bytes

    def put(self, store: str, namespace: str, name: str, obj: Object, revision: int) -> None:
        self._check_writable()
        value = encode(obj)
        check_size(value)
        # Rows are found again by it when they are replaced.
        assert obj["metadata"]["resourceVersion"] == str(revision), "an object is stored with its revision"
        before = self.get(store, namespace, name)
        if before is not None:
            self._replaced.append(int(before["metadata"]["resourceVersion"]))
        self._rows.append((revision, store, namespace, name, value, checksum(store, namespace, name, value)))
        self._waiting_bytes += len(value) + _ROW_BYTES
        super().put(store, namespace, name, obj, revision)

    def remove(self, store: str, namespace: str, name: str, revision: int) -> None:
        self._check_writable()
        before = self.get(store, namespace, name)
        super().remove(store, namespace, name, revision)
        assert before is not None, "what is removed was there"
        self._replaced += (int(before["metadata"]["resourceVersion"]), revision)
        self._rows.append((revision, store, namespace, name, None, checksum(store, namespace, name, None)))
        self._waiting_bytes += _ROW_BYTES

    def commit(self) -> None:
        """Return when everything written so far is on disk."""
        self.stage()()

    def stage(self) -> Callable[[], None]:
        """Hand everything written so far to SQLite; calling what is returned waits for the disk, on any thread."""
        self._check()
        if not self._rows:
            return _nothing
        revision, rows = self.revision, self._rows
        self._rows = []
        self._staged_bytes, self._waiting_bytes = self._waiting_bytes, 0
        try:
            self._insert(rows)
            if len(self._replaced) >= 2 * _STEP:
                # Twice what was added: deleting keeps ahead however much is written at once.
                self._delete_replaced(max(_STEP, 2 * len(rows)))
        except (sqlite3.Error, OSError) as error:
            self._give_reserve(error)
            try:
                self._insert(rows)
            except (sqlite3.Error, OSError) as again:
                raise self._fail(str(again)) from None
        return lambda: self._finish(rows, revision)

    def _insert(self, rows: list[Row]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(INSERT, rows)

    def _finish(self, rows: list[Row], revision: int) -> None:
        try:
            self._connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            self._give_reserve(error)
            try:
                self._insert(rows)
                self._connection.execute("COMMIT")
            except (sqlite3.Error, OSError) as again:
                raise self._fail(str(again)) from None
        self._deleted = []
        self._staged_bytes = 0
        self._durable = revision
        self._last_revision.record(revision)

    def close(self) -> None:
        """Close the file and leave the folder to others. What is not committed is lost, and was never answered."""
        self._failure = self._failure or "the storage was closed"
        self._connection.close()
        self._last_revision.close()
        os.close(self._lock)

    def _delete_replaced(self, limit: int) -> None:
        some = [self._replaced.popleft() for _ in range(min(limit, len(self._replaced)))]
        # The last row stays, whatever it is: the revision goes on from it after a restart.
        if self.revision in some:
            some.remove(self.revision)
            self._replaced.append(self.revision)
        self._deleted = some
        self._connection.executemany(_DELETE, ((revision,) for revision in some))

    # What goes wrong

    def _check(self) -> None:
        if self._failure:
            raise StorageFailed.of(self._failure)

    def _check_writable(self) -> None:
        self._check()
        if not self._full:
            return
        now = monotonic()
        if now >= self._look_at:
            self._look_at = now + _LOOK_SECONDS
            if not self._reserve.take():
                self._full = ""
                _log.info("%s has room again: writes are taken", self._path.parent, extra=_NEWS)
                return
        raise InsufficientStorageError(
            f"{self._path.parent} has no room for data: {self._full}. Nothing was written; "
            f"free {FREE_WANTED} there and repeat the request"
        )

    def _refuse_writes(self, why: str) -> None:
        if not self._full:
            _log.error(
                "%s has no room for data: %s; writes are refused until %s are free there, reads go on",
                self._path.parent,
                why,
                FREE_WANTED,
            )
        self._full = why
        self._look_at = monotonic() + _LOOK_SECONDS

    def _give_reserve(self, error: Exception) -> None:
        """Make room for what waits, if it is room that was missing, and take nothing more."""
        if getattr(error, "sqlite_errorcode", None) not in NO_ROOM:
            raise self._fail(str(error)) from None
        self._roll_back()
        # The rows that were to be deleted are there again.
        self._replaced.extendleft(reversed(self._deleted))
        self._deleted = []
        self._reserve.give()
        self._refuse_writes(str(error))

    def _fail(self, why: str) -> StorageFailed:
        self._failure = f"{self._path} cannot be written: {why}"
        self._roll_back()
        return StorageFailed.of(self._failure)

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            # The disk may refuse this too. What the file holds is decided when it is opened again.
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    # Opening

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
