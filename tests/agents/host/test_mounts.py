"""How mounts below a folder are taken away, over a table of mounts that is only played."""

from __future__ import annotations

from pathlib import Path

import pytest

from mooring.agents.host.cleaning import mounts
from mooring.agents.host.cleaning.mounts import unmount_below
from mooring.nodes.process.containers.sandbox.mount_table import MountPoint

DETACHED = 2


class PlayedMounts:
    """Mounts by path; one in use goes only when it is detached, a stuck one never."""

    def __init__(self, *paths: str, in_use: tuple[str, ...] = (), stuck: tuple[str, ...] = ()) -> None:
        self.paths, self.in_use, self.stuck = list(paths), in_use, stuck
        self.asked: list[tuple[str, int]] = []

    def mount_points(self, text: str | None = None) -> list[MountPoint]:
        assert text is None
        return [MountPoint("0:1", "/", path, "tmpfs") for path in self.paths]

    def umount2(self, path: bytes, flags: int) -> int:
        name = path.decode()
        self.asked.append((name, flags))
        if name in self.stuck or (name in self.in_use and flags != DETACHED):
            return -1
        self.paths.remove(name)
        return 0


@pytest.mark.parametrize(
    ("played", "left", "asked"),
    [
        pytest.param(PlayedMounts("/", "/n", "/nothing/a"), [], [], id="none below"),
        pytest.param(
            PlayedMounts("/", "/n/a", "/n/a/b", "/n/c d"),
            [],
            [("/n/a/b", 0), ("/n/a", 0), ("/n/c d", 0)],
            id="the innermost first",
        ),
        pytest.param(
            PlayedMounts("/n/a", "/n/a/b", in_use=("/n/a/b",)),
            [],
            [("/n/a/b", 0), ("/n/a/b", DETACHED), ("/n/a", 0)],
            id="one in use is detached",
        ),
        pytest.param(
            PlayedMounts("/n/a", "/n/b", stuck=("/n/a",)),
            ["/n/a"],
            [("/n/a", 0), ("/n/a", DETACHED), ("/n/b", 0), ("/n/a", 0), ("/n/a", DETACHED)],
            id="a stuck one is named once nothing else goes",
        ),
    ],
)
def test_mounts_below_a_folder_go(
    monkeypatch: pytest.MonkeyPatch, played: PlayedMounts, left: list[str], asked: list[tuple[str, int]]
) -> None:
    monkeypatch.setattr(mounts, "mount_points", played.mount_points)
    monkeypatch.setattr(mounts, "_libc", played)
    assert unmount_below(Path("/n")) == left
    assert played.asked == asked


class Endless(PlayedMounts):
    """Under each mount there is another."""

    def umount2(self, path: bytes, flags: int) -> int:
        self.asked.append((path.decode(), flags))
        return 0


def test_mounts_without_end_are_given_up_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Endless("/n/a")
    monkeypatch.setattr(mounts, "mount_points", played.mount_points)
    monkeypatch.setattr(mounts, "_libc", played)
    assert unmount_below(Path("/n")) == ["/n/a"]
    assert played.asked == [("/n/a", 0)] * 16
