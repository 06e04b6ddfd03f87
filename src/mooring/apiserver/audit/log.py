"""The file of the audit log: lines are handed over by requests, and written by a thread that no request waits for.

The file holds whole lines only, whatever the disk does. One that was renamed or deleted is made anew at its path, which
is how logs are rotated. While nothing can be written, lines are kept up to a limit and then dropped, and the server's
log says so: a full disk must not end the service.
"""

from __future__ import annotations

import logging
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from mooring.kube.errors import InputError

__all__ = ["AuditLog", "check_audit_log", "open_audit_log"]

# How long lines are gathered before they are written together.
FLUSH_SECONDS: Final = 0.1
_RETRY_SECONDS: Final = 1.0
MAX_PENDING_BYTES: Final = 16 << 20

_log = logging.getLogger(__name__)


def open_audit_log(path: Path) -> int:
    """A descriptor to append to the file with, which is made where it is missing. An InputError says what is wrong."""
    if str(path) == "-":
        raise InputError("--audit-log takes a file, not standard output")
    try:
        # A pipe that nobody reads must not be waited for.
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError as error:
        raise InputError(f"--audit-log {path}: {error.strerror}; name a file that can be written") from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise InputError(f"--audit-log {path} is not a regular file; name a file that can be written")
    return fd


def check_audit_log(path: Path) -> None:
    """Raise an InputError where `open_audit_log` would, and leave nothing behind."""
    existed = path.exists()
    os.close(open_audit_log(path))
    if not existed:
        path.unlink()


class AuditLog:
    """Appends lines to a file. `write` is what writes to a descriptor, as os.write does."""

    def __init__(self, path: Path, write: Callable[[int, bytes], int] = os.write) -> None:
        self.dropped = 0
        self._path = path
        self._os_write = write
        self._lock = threading.Lock()
        # Guarded by the lock: lines that the thread has not taken, and how many bytes wait in all.
        self._lines: list[bytes] = []
        self._pending_bytes = 0
        # The thread's own: lines that it has taken and not written.
        self._unwritten = b""
        self._failing = False
        self._fd = -1
        self._adopt(open_audit_log(path))
        self._waiting = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit log", daemon=True)
        self._thread.start()

    def append(self, line: bytes) -> None:
        """Take a line, which ends with a newline. It is on its way to the disk a moment later."""
        with self._lock:
            if self._pending_bytes + len(line) > MAX_PENDING_BYTES:
                self.dropped += 1
                return
            self._lines.append(line)
            self._pending_bytes += len(line)
            first = len(self._lines) == 1
        if first:
            self._waiting.set()

    def close(self) -> None:
        """Write what is left, if that is possible."""
        self._closing.set()
        self._waiting.set()
        self._thread.join()
        os.close(self._fd)

    def _run(self) -> None:
        while True:
            self._waiting.wait()
            self._closing.wait(_RETRY_SECONDS if self._failing else FLUSH_SECONDS)
            last = self._closing.is_set()
            self._waiting.clear()
            self._flush()
            if last:
                return
            if self._failing:
                self._waiting.set()

    def _flush(self) -> None:
        with self._lock:
            lines, self._lines = self._lines, []
        self._unwritten += b"".join(lines)
        try:
            self._reopen_if_moved()
            while self._unwritten:
                self._write_some()
        except (OSError, InputError) as error:
            self._fail(error)
        else:
            self._recover()
        finally:
            with self._lock:
                self._pending_bytes = len(self._unwritten) + sum(map(len, self._lines))

    def _write_some(self) -> None:
        written = self._os_write(self._fd, self._unwritten)
        whole = self._unwritten.rfind(b"\n", 0, written) + 1
        if whole < written:
            # The disk took a part of a line: whoever reads the file now must not see it.
            os.ftruncate(self._fd, os.lseek(self._fd, 0, os.SEEK_END) - (written - whole))
        self._unwritten = self._unwritten[whole:]
        if not whole:
            raise OSError(0, "no whole line could be written")

    def _reopen_if_moved(self) -> None:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != self._identity:
            old, fd = self._fd, open_audit_log(self._path)
            self._adopt(fd)
            os.close(old)

    def _adopt(self, fd: int) -> None:
        """Go on in a file. A line that a crash has cut is ended first."""
        self._fd = fd
        found = os.fstat(fd)
        self._identity = found.st_dev, found.st_ino
        if found.st_size and os.pread(fd, 1, found.st_size - 1) != b"\n":
            self._unwritten = b"\n" + self._unwritten

    def _fail(self, error: OSError | InputError) -> None:
        if not self._failing:
            why = error.strerror if isinstance(error, OSError) else error
            _log.error("the audit log %s cannot be written: %s; requests are served without it", self._path, why)
        self._failing = True

    def _recover(self) -> None:
        if self._failing:
            _log.warning("the audit log %s is written again; events that it lacks: %d", self._path, self.dropped)
        self._failing = False
