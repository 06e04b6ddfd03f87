"""The folder of one embedded cluster: what lies where in it, and that one `mooring up` at a time uses it.

The lock is held by the children too. So when a parent is killed, the next one waits until the last of them is gone
instead of starting beside them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mooring.kube.errors import InputError

__all__ = ["BACKUP_FILES", "DataFolder"]

# What a cluster cannot make again without its users noticing, beside the data: who may use it, and its keys. All else
# in the folder is made anew by a start.
BACKUP_FILES: Final = ("tokens", "tls/ca.crt", "tls/ca.key", "tls/sa.key")

# How long processes of a parent that was killed may take to notice.
_LINGER_SECONDS: Final = 10.0
# What a start writes beside the data: tokens, certificates, the kubeconfig.
_START_BYTES: Final = 256 * 1024
# The same with a new database and the reserve beside it.
_FIRST_START_BYTES: Final = 48 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class DataFolder:
    path: Path

    @property
    def kubeconfig(self) -> Path:
        return self.path / "kubeconfig"

    @property
    def tokens(self) -> Path:
        return self.path / "tokens"

    @property
    def tls(self) -> Path:
        return self.path / "tls"

    @property
    def signing_key(self) -> Path:
        """What signs tokens of ServiceAccounts."""
        return self.tls / "sa.key"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def database(self) -> Path:
        return self.path / "data"

    @property
    def node(self) -> Path:
        """What the pods of this machine have on disk: logs and volumes."""
        return self.path / "node"

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    def check_free(self) -> None:
        """Complain, before anything is made, that the folder is in use or cannot be one."""
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"{self.path} is not a folder; --data names a folder, which is made when it is missing")
        try:
            descriptor = os.open(self.lock, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            self._take(descriptor)
        finally:
            os.close(descriptor)

    @property
    def unfinished_restore(self) -> Path:
        """There while a backup is put into the folder, and afterwards if that did not come to its end."""
        return self.path / "restore-unfinished"

    def check_whole(self) -> None:
        """Complain of a folder that holds parts of two clusters."""
        if self.unfinished_restore.exists():
            raise InputError(
                f"{self.path} holds half of a backup, because mooring restore did not come to its end; run it again"
            )

    def check_room(self, *, data: bool) -> None:
        """Complain, before anything is made, that the disk has no room for what a start writes."""
        begins = data and not self.database.exists()
        wanted = _FIRST_START_BYTES if begins else _START_BYTES
        place = next(each for each in (self.path, *self.path.absolute().parents) if each.exists())
        free = shutil.disk_usage(place).free
        if free < wanted:
            raise InputError(
                f"{self.path} cannot be written: the disk is full ({free >> 10} KiB are free, and a start needs "
                f"{wanted >> 10}); make room there, or name another folder with --data"
            )

    def claim(self) -> int:
        """Make the folder and take it: the descriptor of the lock, held for as long as it is open somewhere."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.logs.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise InputError(
                f"{error.filename} cannot be written: {error.strerror}; name another folder with --data"
            ) from None
        try:
            self._take(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        # Only for people to read: a full disk need not have room for it.
        with suppress(OSError):
            os.ftruncate(descriptor, os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0))
        return descriptor

    def _take(self, descriptor: int) -> None:
        patience = time.monotonic() + _LINGER_SECONDS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
                if _lives(holder) or time.monotonic() > patience:
                    raise InputError(
                        f"{self.path} is in use by another mooring up (process {holder or 'unknown'}); "
                        "stop that one, or name another folder with --data"
                    ) from None
            time.sleep(0.02)


def _lives(pid: str) -> bool:
    if not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        # A zombie, ended but not reaped, holds no lock.
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return True
