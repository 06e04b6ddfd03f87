"""A data folder is used by one server, and only if it is one."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mooring.apiserver.sqlite import DataFolderError, SqliteStorage
from mooring.apiserver.sqlite.folder import APPLICATION_ID
from tests.apiserver.sqlite.home import content, opened, put


def refusal(folder: Path) -> str:
    """What is said of a folder that is not taken; it must be as it was afterwards."""
    before = _picture(folder)
    with pytest.raises(DataFolderError) as caught:
        SqliteStorage(folder)
    assert _picture(folder) == before
    text = str(caught.value)
    assert "\n" not in text
    return text


def _picture(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        return {}
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != "lock"}


def filled(folder: Path) -> Path:
    """A folder with something in it; returns its database."""
    with opened(folder) as storage:
        for index in range(300):
            put(storage, f"name-{index}", "some text " * 20)
        storage.commit()
    return folder / "objects.sqlite"


def test_a_missing_folder_is_made_and_private(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "data"
    with opened(folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for path in folder.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_folder_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with opened(tmp_path):
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_a_second_server_is_told_who_has_the_folder(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        put(storage, "a")
        storage.commit()
        script = f"from tests.apiserver.sqlite.test_folder import *\nprint(refusal(Path({str(tmp_path)!r})))"
        asked = subprocess.run((sys.executable, "-c", script), capture_output=True, text=True)
        assert asked.stdout.strip() == (
            f"{tmp_path} is in use by another server (process {os.getpid()}); stop that one, or name another folder"
        ), asked.stderr
    with opened(tmp_path) as storage:
        assert content(storage) == {"a": ""}


def test_a_folder_is_free_again_after_its_server_was_killed(tmp_path: Path) -> None:
    script = (
        "import os, signal; from tests.apiserver.sqlite.test_folder import *\n"
        f"storage = SqliteStorage(Path({str(tmp_path)!r})); put(storage, 'a', 'kept'); storage.commit()\n"
        "put(storage, 'b'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run((sys.executable, "-c", script)).returncode == -9
    with opened(tmp_path) as storage:
        assert content(storage) == {"a": "kept"}


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("mine")
    assert refusal(tmp_path / "data") == (
        f"{tmp_path / 'data'} cannot be used for data: File exists; name another folder"
    )
    assert refusal(tmp_path / "data" / "inner").endswith(
        "cannot be used for data: Not a directory; name another folder"
    )
    assert (tmp_path / "data").read_text() == "mine"


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder in which not even root can write")
def test_a_folder_that_cannot_be_written() -> None:
    assert "cannot be used for data: " in refusal(Path("/proc/mooring"))


def test_a_folder_of_somebody_else(tmp_path: Path) -> None:
    for name in ("notes.txt", "photo.jpg", "taxes.ods", "thesis.tex"):
        (tmp_path / name).write_text("mine")
    shown = "notes.txt, photo.jpg, taxes.ods, ..."
    assert refusal(tmp_path) == f"{tmp_path} holds no data of Mooring, but other files ({shown}); name another folder"


def test_a_log_without_its_database_is_not_thrown_away(tmp_path: Path) -> None:
    (tmp_path / "objects.sqlite-wal").write_bytes(b"log")
    assert "other files (objects.sqlite-wal)" in refusal(tmp_path)


def test_a_database_of_another_program(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "objects.sqlite")
    connection.execute("CREATE TABLE songs (name TEXT)")
    connection.commit()
    connection.close()
    assert "was made by another program and was left as it is" in refusal(tmp_path)


def test_a_database_of_a_newer_version(tmp_path: Path) -> None:
    filled(tmp_path)
    connection = sqlite3.connect(tmp_path / "objects.sqlite")
    connection.execute("PRAGMA user_version = 7")
    connection.commit()
    connection.close()
    assert "was made by a newer Mooring (data version 7, this one knows 2)" in refusal(tmp_path)


def test_a_newer_version_is_seen_even_in_the_log(tmp_path: Path) -> None:
    database = filled(tmp_path)
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA user_version = 7")
    connection.commit()
    # As a server that was killed leaves it: the header of the file does not know of it yet.
    for name in ("objects.sqlite", "objects.sqlite-wal"):
        shutil.copy(tmp_path / name, tmp_path / f"copy-{name}")
    connection.close()
    for name in ("objects.sqlite", "objects.sqlite-wal"):
        (tmp_path / f"copy-{name}").rename(tmp_path / name)
    with pytest.raises(DataFolderError, match="newer Mooring"):
        SqliteStorage(tmp_path)


def _truncate(data: bytearray) -> None:
    del data[len(data) // 2 :]


def _empty(data: bytearray) -> None:
    data.clear()


def _overwrite_header(data: bytearray) -> None:
    data[:16] = b"\0" * 16


def _overwrite_a_page(data: bytearray) -> None:
    data[8 * 4096 : 9 * 4096] = b"\xa5" * 4096


def _flip_a_bit(data: bytearray) -> None:
    # In the text of some object, where SQLite itself would not notice.
    data[data.rindex(b"some text") + 3] ^= 1


@pytest.mark.parametrize("harm", [_truncate, _empty, _overwrite_header, _overwrite_a_page, _flip_a_bit])
def test_a_damaged_database(tmp_path: Path, harm: Callable[[bytearray], None]) -> None:
    database = filled(tmp_path)
    data = bytearray(database.read_bytes())
    harm(data)
    database.write_bytes(data)
    text = refusal(tmp_path)
    assert "It was left as it is; put a backup in its place with mooring restore, or name another folder" in text
    assert str(database) in text


def test_a_row_that_is_no_object_is_named(tmp_path: Path) -> None:
    database = filled(tmp_path)
    connection = sqlite3.connect(database)
    connection.execute("UPDATE changes SET value = ? WHERE revision = 100", (b"nonsense",))
    connection.execute("UPDATE changes SET value = 'text' WHERE revision = 50")
    connection.commit()
    connection.close()
    assert "row 100 (configmaps default/name-98) has a wrong checksum" in refusal(tmp_path)


def test_a_crash_while_the_database_was_made_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "objects.sqlite.new").write_bytes(b"half")
    with opened(tmp_path) as storage:
        put(storage, "a")
        storage.commit()
    assert not (tmp_path / "objects.sqlite.new").exists()


def test_the_file_says_whose_it_is(tmp_path: Path) -> None:
    database = filled(tmp_path)
    connection = sqlite3.connect(database)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    connection.close()


def test_files_beside_a_database_do_no_harm(tmp_path: Path) -> None:
    database = filled(tmp_path)
    shutil.copy(database, tmp_path / "backup")
    with opened(tmp_path) as storage:
        assert len(content(storage)) == 300
