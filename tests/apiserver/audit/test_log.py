"""The file of the audit log: whole lines, through rotation, crashes and full disks."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mooring.apiserver.audit import log as module
from mooring.apiserver.audit.log import AuditLog
from mooring.kube.errors import InputError

PATIENCE_SECONDS = 5.0


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FLUSH_SECONDS", 0.01)
    monkeypatch.setattr(module, "_RETRY_SECONDS", 0.01)


def eventually(look: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not look():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)


class Disk:
    """A disk with so many bytes left."""

    def __init__(self, left: int) -> None:
        self.left = left

    def write(self, fd: int, data: bytes) -> int:
        if not self.left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = os.write(fd, data[: self.left])
        self.left -= taken
        return taken


def test_lines_are_appended_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(b"before\n")
    log = AuditLog(path)
    log.append(b"one\n")
    log.append(b"two\n")
    log.close()
    assert path.read_bytes() == b"before\none\ntwo\n"


def test_a_new_file_is_for_its_owner_only(tmp_path: Path) -> None:
    AuditLog(tmp_path / "audit.log").close()
    assert (tmp_path / "audit.log").stat().st_mode & 0o777 == 0o600


def test_a_line_is_in_the_file_without_being_asked_for(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.log")
    log.append(b"one\n")
    eventually(lambda: (tmp_path / "audit.log").read_bytes() == b"one\n")
    log.append(b"two\n")
    eventually(lambda: (tmp_path / "audit.log").read_bytes() == b"one\ntwo\n")
    log.close()


def test_a_line_that_a_crash_has_cut_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(b"one\ntw")
    log = AuditLog(path)
    log.append(b"three\n")
    log.close()
    assert path.read_bytes() == b"one\ntw\nthree\n"


@pytest.mark.parametrize("rotate", ["rename", "delete"])
def test_a_file_that_was_moved_away_is_made_anew(tmp_path: Path, rotate: str) -> None:
    path, old = tmp_path / "audit.log", tmp_path / "audit.log.1"
    log = AuditLog(path)
    log.append(b"one\n")
    eventually(lambda: path.read_bytes() == b"one\n")
    path.rename(old) if rotate == "rename" else path.unlink()
    log.append(b"two\n")
    log.close()
    assert path.read_bytes() == b"two\n"
    if rotate == "rename":
        assert old.read_bytes() == b"one\n"


def test_a_pipe_in_its_place_is_let_go_until_there_is_a_file_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, pipe = tmp_path / "audit.log", tmp_path / "pipe"
    log = AuditLog(path)
    path.unlink()
    os.mkfifo(path)
    log.append(b"one\n")
    eventually(lambda: "is not a regular file" in caplog.text)
    path.rename(pipe)
    eventually(lambda: path.exists() and path.read_bytes() == b"one\n")
    log.close()
    held = [each.resolve() for each in Path("/proc/self/fd").iterdir()]
    assert pipe.resolve() not in held


def test_a_full_disk_keeps_whole_lines_and_gets_the_rest_when_it_has_room(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, disk = tmp_path / "audit.log", Disk(left=6)
    log = AuditLog(path, disk.write)
    for line in (b"one\n", b"two\n", b"three\n"):
        log.append(line)
    eventually(lambda: "No space left on device; requests are served without it" in caplog.text)
    assert path.read_bytes() == b"one\n"
    disk.left = 1000
    eventually(lambda: path.read_bytes() == b"one\ntwo\nthree\n")
    log.close()
    assert caplog.text.count("cannot be written") == 1
    assert "is written again; events that it lacks: 0" in caplog.text


def test_what_a_full_disk_keeps_waiting_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "MAX_PENDING_BYTES", 12)
    disk = Disk(left=0)
    log = AuditLog(tmp_path / "audit.log", disk.write)
    for line in (b"one\n", b"two\n", b"six\n", b"ten\n", b"way too long\n"):
        log.append(line)
    assert log.dropped == 2
    disk.left = 1000
    eventually(lambda: (tmp_path / "audit.log").read_bytes() == b"one\ntwo\nsix\n")
    log.append(b"new\n")
    log.close()
    assert (tmp_path / "audit.log").read_bytes() == b"one\ntwo\nsix\nnew\n"


def test_a_log_whose_disk_stays_full_ends_all_the_same(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.log", Disk(left=0).write)
    log.append(b"one\n")
    log.close()
    assert (tmp_path / "audit.log").read_bytes() == b""


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("missing/audit.log", "No such file or directory"),
        ("folder", "Is a directory"),
        ("file/audit.log", "Not a directory"),
        ("pipe", "is not a regular file"),
    ],
)
def test_a_path_that_cannot_be_a_log_is_said_in_one_sentence(tmp_path: Path, path: str, why: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError) as refused:
        AuditLog(tmp_path / path)
    assert str(refused.value).startswith(f"--audit-log {tmp_path / path}")
    assert why in str(refused.value)
    assert str(refused.value).endswith("; name a file that can be written")
