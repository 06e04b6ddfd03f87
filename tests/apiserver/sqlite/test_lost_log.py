"""What the last commits left in the log is lost with it, and that is never passed over in silence."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from mooring.apiserver.sqlite import DataFolderError, SqliteStorage
from mooring.apiserver.sqlite.completeness import REVISION_GAP
from mooring.apiserver.sqlite.last_revision import read_last_revision, write_last_revision
from tests.apiserver.sqlite.home import content, opened, put
from tests.apiserver.sqlite.test_folder import refusal

COMMITS = 60
ACCEPTED = "start once with --accept-data-loss"


def killed(folder: Path) -> Path:
    """A folder as a killed server leaves it: everything that was committed since its start is in the log."""
    with opened(folder) as storage:
        put(storage, "first", "folded into the file")
        storage.commit()
    living = folder.with_name("living")
    shutil.copytree(folder, living)
    with opened(living) as storage:
        for number in range(COMMITS):
            put(storage, f"name-{number}", "some text")
            storage.commit()
        shutil.rmtree(folder)
        shutil.copytree(living, folder)
    return folder / "objects.sqlite-wal"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


def _delete(log: Path) -> None:
    log.unlink()


def _empty(log: Path) -> None:
    log.write_bytes(b"")


def _cut(log: Path) -> None:
    data = log.read_bytes()
    log.write_bytes(data[: len(data) // 2])


def _flip_a_bit(log: Path) -> None:
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)


def _flip_a_bit_in_the_last_commit(log: Path) -> None:
    data = bytearray(log.read_bytes())
    data[-20] ^= 1
    log.write_bytes(data)


def _overwrite_the_header(log: Path) -> None:
    log.write_bytes(bytes(32) + log.read_bytes()[32:])


@pytest.mark.parametrize(
    ("harm", "what"),
    [
        (_delete, "is missing"),
        (_empty, "is missing"),
        (_cut, "is damaged"),
        (_flip_a_bit, "is damaged"),
        (_flip_a_bit_in_the_last_commit, "is damaged"),
        (_overwrite_the_header, "is damaged"),
    ],
)
def test_a_log_that_is_lost_is_said_with_how_much(folder: Path, harm: Callable[[Path], None], what: str) -> None:
    log = killed(folder)
    harm(log)
    text = refusal(folder)
    assert f"the last writes are lost: {log} {what}" in text
    assert text.endswith(
        f"Nothing was changed; put a backup in its place with mooring restore, or {ACCEPTED} to go on without them"
    )

    with opened(folder, accept_loss=True) as storage:
        there = content(storage)
        assert there["first"] == "folded into the file"
        lost = COMMITS + 1 - len(there)
        assert f"and {COMMITS + 2} was written, so up to {lost} changes are gone" in text
        assert lost > 0
        # A client that saw revision 62 must not take a later change for one that it knows.
        assert storage.revision == COMMITS + 2 + REVISION_GAP
        put(storage, "next")
        storage.commit()
    with opened(folder) as storage:
        assert content(storage) == there | {"next": ""}
        assert storage.revision == COMMITS + 3 + REVISION_GAP


def test_an_intact_log_is_read_without_a_word(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    killed(folder)
    with opened(folder) as storage:
        assert len(content(storage)) == COMMITS + 1
    assert not caplog.records


def test_a_commit_that_was_not_noted_before_the_end_is_no_loss(folder: Path) -> None:
    killed(folder)
    write_last_revision(folder, COMMITS)
    with opened(folder) as storage:
        assert len(content(storage)) == COMMITS + 1


def test_a_database_that_is_gone_is_not_begun_anew(folder: Path) -> None:
    log = killed(folder)
    log.unlink()
    (folder / "objects.sqlite").unlink()
    text = refusal(folder)
    assert text.startswith(f"all data are lost: {folder}/objects.sqlite is missing, and revision {COMMITS + 2} was")
    assert ACCEPTED in text
    with opened(folder, accept_loss=True) as storage:
        assert content(storage) == {}
        assert storage.revision > REVISION_GAP


@pytest.mark.parametrize(
    ("harm", "what"),
    [(Path.unlink, "is missing"), (lambda path: path.write_bytes(b"00000000000000000003 00000000\n"), "is damaged")],
)
def test_nobody_can_tell_without_the_last_revision(folder: Path, harm: Callable[[Path], None], what: str) -> None:
    killed(folder)
    harm(folder / "last-revision")
    assert f"last-revision {what}, so that nobody knows whether the last writes are in " in refusal(folder)
    with opened(folder, accept_loss=True) as storage:
        assert len(content(storage)) == COMMITS + 1


def test_the_last_revision_is_that_of_the_last_commit(folder: Path) -> None:
    with opened(folder) as storage:
        put(storage, "a")
        storage.commit()
        assert read_last_revision(folder) == 2
        put(storage, "b")
        assert read_last_revision(folder) == 2
        storage.commit()
        assert read_last_revision(folder) == 3


def test_data_of_version_1_are_brought_up(folder: Path) -> None:
    with opened(folder) as storage:
        put(storage, "kept")
        storage.commit()
    connection = sqlite3.connect(folder / "objects.sqlite")
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    for name in ("last-revision", "reserve"):
        (folder / name).unlink()
    with opened(folder) as storage:
        assert content(storage) == {"kept": ""}
        assert storage._connection.execute("PRAGMA user_version").fetchone() == (2,)
        assert read_last_revision(folder) == 2
    # From now on its absence is noticed.
    (folder / "last-revision").unlink()
    with pytest.raises(DataFolderError, match="last-revision is missing"):
        SqliteStorage(folder)
