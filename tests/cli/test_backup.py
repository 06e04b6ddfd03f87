"""A cluster is backed up while it is written to, and restored: all that was answered before one moment, no more."""

from __future__ import annotations

import gzip
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mooring.kube.objects import Object
from tests.cli.embedded import Up, up

MAPS = "/api/v1/namespaces/default/configmaps"
WRITERS = 3


def mooring(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mooring", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def refused(folder: Path, *arguments: str) -> str:
    """The one line that is said."""
    done = mooring(folder, *arguments)
    assert (done.returncode, done.stdout) == (1, ""), done
    [line] = done.stderr.splitlines()
    return line


@contextmanager
def written_to(running: Up) -> Iterator[dict[str, int]]:
    """Writers at work meanwhile: the name of everything that was answered, and its revision."""
    answered: dict[str, int] = {}
    begun, done = threading.Semaphore(0), threading.Event()

    def write(number: int) -> None:
        with running.client() as client:
            at = 0
            while not done.is_set():
                name = f"w{number}-{at}"
                body = {"metadata": {"name": name}, "data": {"text": "x" * 2000}}
                answered[name] = int(client.post(MAPS, json=body).json()["metadata"]["resourceVersion"])
                at += 1
                if at == 20:
                    begun.release()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    try:
        for _ in threads:
            assert begun.acquire(timeout=30)
        yield answered
    finally:
        done.set()
        for thread in threads:
            thread.join()


def header_of(file: Path) -> Object:
    with gzip.open(file) as stream:
        found: Object = json.loads(stream.readline())
    return found


def test_what_was_answered_before_a_backup_is_in_it_and_comes_back(tmp_path: Path) -> None:
    with up(tmp_path, "--controllers=namespace") as running:
        running.ready()
        token = mooring(tmp_path, "token", "create", "ada", "--role", "cluster-admin").stdout.strip()
        made = mooring(tmp_path, "token", "create", "eve", "--role", "cluster-admin", "--kubeconfig", "eve.kubeconfig")
        assert made.returncode == 0, made.stderr
        with written_to(running) as answered:
            done = mooring(tmp_path, "backup", "cluster.backup")
            assert done.returncode == 0, done.stderr
        file = tmp_path / "cluster.backup"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        revision = int(header_of(file)["revision"])
        assert f"as of revision {revision}, " in done.stdout
        wanted = {name: at for name, at in answered.items() if at <= revision}
        assert wanted
        assert len(wanted) < len(answered), "writes went on meanwhile"

        # Only the administrator gets one, and what is refused leaves nothing behind.
        assert "cannot get path" in refused(tmp_path, "backup", "eve.backup", "--kubeconfig", "eve.kubeconfig")
        assert "in use by another mooring up" in refused(tmp_path, "restore", "cluster.backup")
        assert not [path.name for path in tmp_path.iterdir() if "eve.backup" in path.name]
        later = running.get(f"{MAPS}?limit=1")["metadata"]["resourceVersion"]
        assert running.stop() == 0
    assert "holds a cluster already" in refused(tmp_path, "restore", "cluster.backup")
    before = file.read_bytes()
    line = refused(tmp_path, "backup", "cluster.backup")
    assert "cannot be reached: connection refused; see that it runs" in line
    assert file.read_bytes() == before

    done = mooring(tmp_path, "restore", "cluster.backup", "--data", "second")
    assert done.stdout.endswith("To start it: mooring up --data second\n"), done.stderr
    with up(tmp_path, "--controllers=namespace", "--data", "second") as running:
        running.ready()
        listed = running.get(MAPS)
        found = {item["metadata"]["name"]: int(item["metadata"]["resourceVersion"]) for item in listed["items"]}
        assert {name: at for name, at in found.items() if name.startswith("w")} == wanted
        # The users of the cluster are those of the backup, and trust the same authority.
        assert "items" in running.get(MAPS, token=token)
        for name in ("ca.crt", "ca.key", "sa.key"):
            assert (tmp_path / "second/tls" / name).read_bytes() == (tmp_path / ".mooring/tls" / name).read_bytes()
        # A client that saw more than there is now lists again.
        answer = running.get(f"{MAPS}?watch=true&resourceVersion={later}")
        assert answer["object"]["code"] == 410
        assert int(listed["metadata"]["resourceVersion"]) > int(later)
        assert running.post(MAPS, {"metadata": {"name": "after"}}) == 201
        os.kill(running.child("server"), signal.SIGKILL)
        assert "after" in running.names(MAPS)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("backup",), "Missing argument 'FILE'"),
        (
            ("backup", "x.backup"),
            ".mooring is not the folder of a cluster; name it with --data, or its kubeconfig with",
        ),
        (("backup", "."), ". is no file that could be written; name one in a folder that exists"),
        (("backup", "nowhere/x.backup"), "nowhere/x.backup is no file that could be written"),
        (("restore",), "Missing argument 'FILE'"),
        (("restore", "x.backup"), "x.backup: No such file or directory"),
        (("restore", "."), ".: Is a directory"),
        (("restore", "notes.txt"), "notes.txt cannot be restored: it is no backup of Mooring"),
        (("restore", "empty"), "empty cannot be restored: its end is missing"),
    ],
)
def test_bad_input_is_said_in_one_line_and_changes_nothing(
    tmp_path: Path, arguments: tuple[str, ...], why: str
) -> None:
    (tmp_path / "notes.txt").write_text("buy milk")
    (tmp_path / "empty").write_bytes(b"")
    assert why in refused(tmp_path, *arguments)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "notes.txt"]


def test_a_folder_with_half_a_backup_is_not_started(tmp_path: Path) -> None:
    (tmp_path / ".mooring").mkdir()
    (tmp_path / ".mooring/restore-unfinished").write_text("cluster.backup\n")
    assert refused(tmp_path, "up") == (
        "error: .mooring holds half of a backup, because mooring restore did not come to its end; run it again"
    )
