"""The control group of a host's pods, over folders that stand for hierarchies of both versions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mooring.agents.host.cleaning import control_groups
from mooring.agents.host.cleaning.control_groups import (
    group_folders,
    group_processes,
    make_control_group,
    remove_control_group,
)
from mooring.nodes.process.containers.sandbox.mount_table import MountPoint


class Hierarchies:
    """One of version 1 and one of version 2, a hierarchy that cannot be written, and a disk, which is none."""

    def __init__(self, folder: Path) -> None:
        self.old, self.new, self.disk = (folder / name for name in ("old", "new", "disk"))
        for each in (self.old, self.new, self.disk):
            each.mkdir()
        self.away = folder / "away"
        (self.new / "cgroup.controllers").write_text("cpu io memory\n")
        os.mkfifo(self.new / "cgroup.subtree_control")
        self._handed = os.open(self.new / "cgroup.subtree_control", os.O_RDWR | os.O_NONBLOCK)
        kinds = ((self.away, "cgroup"), (self.old, "cgroup"), (self.disk, "ext4"), (self.new, "cgroup2"))
        self.mounts = [MountPoint("0:1", "/", str(path), kind) for path, kind in kinds]

    def handed_down(self) -> str:
        """What was written into the file by which version 2 hands controllers down, since the last look."""
        try:
            return os.read(self._handed, 1000).decode()
        except BlockingIOError:
            return ""

    def close(self) -> None:
        os.close(self._handed)


@pytest.fixture
def hierarchies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hierarchies:
    found = Hierarchies(tmp_path)
    monkeypatch.setattr(control_groups, "mount_points", lambda: found.mounts)
    return found


class PlayedTime:
    """Time that passes by sleeping alone; something may happen at one of the sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        self.happens: dict[int, Path] = {}

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        if (gone := self.happens.get(len(self.slept))) is not None:
            gone.unlink()


def test_a_group_is_made_in_every_hierarchy_with_all_controllers_of_version_2(hierarchies: Hierarchies) -> None:
    assert group_folders("/m") == [hierarchies.away / "m", hierarchies.old / "m", hierarchies.new / "m"]
    for _ in range(2):
        make_control_group("/m")
        assert hierarchies.handed_down() == "+cpu+io+memory"
    made = sorted(str(path.relative_to(hierarchies.old.parent)) for path in hierarchies.old.parent.rglob("*"))
    assert made == ["disk", "new", "new/cgroup.controllers", "new/cgroup.subtree_control", "new/m", "old", "old/m"]
    hierarchies.close()


def test_a_controller_that_cannot_be_handed_down_does_not_hinder_the_group(hierarchies: Hierarchies) -> None:
    hierarchies.close()
    (hierarchies.new / "cgroup.subtree_control").unlink()
    (hierarchies.new / "cgroup.subtree_control").mkdir()
    make_control_group("/m")
    assert (hierarchies.new / "m").is_dir()


def test_processes_of_a_group_are_those_of_the_groups_below_it_too(hierarchies: Hierarchies) -> None:
    assert group_processes("/m") == set()
    for folder, pids in ((hierarchies.old / "m", "11\n12\n"), (hierarchies.new / "m" / "pods" / "a", "13\n")):
        folder.mkdir(parents=True)
        (folder / "cgroup.procs").write_text(pids)
    # Of another group, and of no hierarchy.
    for other in (hierarchies.new / "other", hierarchies.disk / "m"):
        other.mkdir()
        (other / "cgroup.procs").write_text("14\n")
    assert group_processes("/m") == {11, 12, 13}
    hierarchies.close()


def test_a_group_is_removed_with_all_below_it_once_its_last_process_is_gone(
    hierarchies: Hierarchies, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = PlayedTime()
    monkeypatch.setattr(control_groups, "time", time)
    for folder in (hierarchies.old / "m" / "pods" / "a", hierarchies.new / "m" / "pods"):
        folder.mkdir(parents=True)
    busy = hierarchies.old / "m" / "pods" / "busy"
    busy.write_text("")
    time.happens[3] = busy
    remove_control_group("/m")
    assert time.slept == [0.02] * 3
    assert not any(folder.exists() for folder in group_folders("/m"))
    remove_control_group("/m")
    assert len(time.slept) == 3
    hierarchies.close()


def test_a_group_that_stays_is_given_up_after_5_seconds_and_the_others_go(
    hierarchies: Hierarchies, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = PlayedTime()
    monkeypatch.setattr(control_groups, "time", time)
    for folder in (hierarchies.old / "m", hierarchies.new / "m" / "pods"):
        folder.mkdir(parents=True)
    (hierarchies.old / "m" / "busy").write_text("")
    remove_control_group("/m")
    assert time.now == pytest.approx(105.0, abs=0.03)
    assert [folder.exists() for folder in group_folders("/m")] == [False, True, False]
    hierarchies.close()
