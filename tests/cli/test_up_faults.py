"""`mooring up` on a disk that is full, and on data that were damaged: it says so, and loses nothing without a word."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.embedded import Up, eventually, up
from tests.support.small_disk import Disk, small_disk

MAPS = "/api/v1/namespaces/default/configmaps"
QUIET = "--controllers=namespace"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "disk", "120m") as disk:
        yield disk


def written(running: Up, name: str, size: int = 0) -> Any:
    """The body of the answer to a write."""
    with running.client() as client:
        return client.post(MAPS, json={"metadata": {"name": name}, "data": {"text": "x" * size}}).json()


def picture(folder: Path) -> dict[str, bytes]:
    kept = ("data/objects.sqlite", "data/objects.sqlite-wal", "data/last-revision", "tokens", "kubeconfig")
    return {name: (folder / name).read_bytes() for name in kept if (folder / name).exists()}


def test_a_full_disk_ends_nothing(tmp_path: Path, disk: Disk) -> None:
    place = disk.place / "cluster"
    with up(tmp_path, "--data", str(place), QUIET, disk=disk) as running:
        running.ready()
        disk.fill(leave=1 << 20)
        kept: list[str] = []
        while (answer := written(running, f"map-{len(kept)}", 100_000)).get("code") != 507:
            kept.append(answer["metadata"]["name"])
        assert answer["message"].startswith(f"{place}/data has no room for data: ")
        running.says(f"API server: {place}/data has no room for data: ")
        disk.fill()
        os.kill(running.child("server"), signal.SIGKILL)
        running.says("The API server answers again.")
        assert set(kept) <= set(running.names(MAPS))
        assert written(running, "lost")["code"] == 507
        disk.clear()
        eventually(lambda: written(running, "again").get("code") != 507, "writes are taken again", patience=3)
        running.says("has room again: writes are taken")
        assert {*kept, "again"} <= set(running.names(MAPS))
        assert running.stop() == 0

    disk.fill()
    before = picture(disk.reached(place))
    with up(tmp_path, "--data", str(place), QUIET, disk=disk) as running:
        assert running.ended() == 1
        [line] = running.lines
        assert line.startswith(f"error: {place} cannot be written: the disk is full (")
        assert line.endswith("make room there, or name another folder with --data")
    assert picture(disk.reached(place)) == before
    with up(tmp_path, "--data", str(disk.place / "new"), QUIET, disk=disk) as running:
        assert running.ended() == 1
        assert "new cannot be written: the disk is full" in running.output
    assert not (disk.folder / "new").exists()


def test_a_lost_log_is_said_and_accepted_only_when_asked(tmp_path: Path) -> None:
    with up(tmp_path, QUIET) as running:
        running.ready()
        for number in range(30):
            assert running.post(MAPS, {"metadata": {"name": f"map-{number}"}}) == 201
        server = running.child("server")
        running.process.kill()
        eventually(lambda: not Path(f"/proc/{server}").exists() or _is_zombie(server), "the server is gone")
    (tmp_path / ".mooring" / "data" / "objects.sqlite-wal").unlink()
    before = picture(tmp_path / ".mooring")

    with up(tmp_path, QUIET) as running:
        assert running.ended() == 1
        [line] = running.lines
        assert "the last writes are lost: .mooring/data/objects.sqlite-wal is missing" in line
        assert "changes are gone. Nothing was changed; put a backup in its place with mooring restore, or start" in line
    after = picture(tmp_path / ".mooring")
    for name in ("data/objects.sqlite", "data/last-revision"):
        assert after[name] == before[name]

    with up(tmp_path, QUIET, "--accept-data-loss") as running:
        running.ready()
        running.says("That was accepted")
        assert written(running, "again")["metadata"]["name"] == "again"
        assert running.stop() == 0


def _is_zombie(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
