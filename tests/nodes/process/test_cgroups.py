"""Control groups: found in either version, made with limits, and removed with what a killed node left in them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mooring.nodes.process.containers.sandbox.cgroups import ControlGroups, find_control_groups
from mooring.nodes.process.containers.sandbox.isolation import find_isolation
from mooring.nodes.process.containers.sandbox.layers import Layer, layer_problem
from mooring.nodes.process.containers.sandbox.mount_table import MountPoint, mount_points
from tests.nodes.process.home import LINUX

pytestmark = pytest.mark.skipif(not LINUX, reason="control groups are Linux's")


def test_in_version_2_the_group_lies_beside_the_one_that_has_processes(tmp_path: Path) -> None:
    own = tmp_path / "user" / "app"
    own.mkdir(parents=True)
    for place in (own, own.parent):
        (place / "cgroup.controllers").write_text("cpu memory pids")
    # A folder cannot be written to, as the file of a group with processes cannot.
    (own / "cgroup.subtree_control").mkdir()
    (own.parent / "cgroup.subtree_control").touch()
    mounts = [MountPoint("0:1", "/", str(tmp_path), "cgroup2")]
    groups = find_control_groups("m", mounts, "0::/user/app\n")
    place = own.parent / "mooring-m"
    assert groups == ControlGroups({"memory": place, "cpu": place}, unified=True)
    assert (own.parent / "cgroup.subtree_control").read_text() == "+memory +cpu"
    assert not place.exists()


def test_in_version_2_limits_are_written_to_one_folder(tmp_path: Path) -> None:
    place = tmp_path / "one"
    place.mkdir()
    for name in ("memory.max", "memory.swap.max", "memory.oom.group", "cpu.max"):
        (place / name).touch()
    group = ControlGroups({"memory": tmp_path, "cpu": tmp_path}, unified=True).make("one", memory=4096, cpu_milli=250)
    assert group is not None
    assert (place / "memory.max").read_text() == "4096"
    assert (place / "memory.oom.group").read_text() == "1"
    assert (place / "cpu.max").read_text() == "25000 100000"
    (place / "memory.events").write_text("low 0\noom 2\noom_kill 1\n")
    assert group.killed_for_memory()
    assert group.wrapped(["run"])[2] == f'echo 0 > {place}/cgroup.procs && exec "$@"'


def test_without_controllers_there_are_no_groups(tmp_path: Path) -> None:
    assert not find_control_groups("m", [], "0::/\n").roots
    groups = ControlGroups({}, unified=True)
    assert groups.make("one", memory=1, cpu_milli=1) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes groups and mounts here")
def test_what_a_killed_node_left_is_removed_at_the_next_start(tmp_path: Path) -> None:
    groups = find_control_groups("left-by-a-test")
    left = groups.make("one", memory=64 << 20, cpu_milli=500)
    words = ["sleep", "1000"]
    process = subprocess.Popen(words if left is None else left.wrapped(words))
    try:
        layered = not layer_problem(tmp_path)
        if layered:
            Layer(tmp_path / "pods" / "u" / "layers" / "main", ["/"]).mount()
            assert [each for each in mount_points() if each.path.startswith(str(tmp_path))]
        if left is not None:
            (entered,) = set(left.folders.values()) if groups.unified else {left.folders["memory"]}
            while str(process.pid) not in (entered / "cgroup.procs").read_text().split():
                pass
        listed = "".join(f"{root}\n" for root in groups.roots.values())
        (tmp_path / "control-groups").write_text(listed)
        isolation = find_isolation(tmp_path, tmp_path, "the-next-node")
        assert not [each for each in mount_points() if each.path.startswith(str(tmp_path))]
        if left is not None:
            assert process.wait(10) != 0
        # Its last process was still to be waited for, and then the same file is read again.
        (tmp_path / "control-groups").write_text(listed)
        find_isolation(tmp_path, tmp_path, "the-next-node").leave(tmp_path)
        isolation.leave(tmp_path)
        assert not [root for root in groups.roots.values() if root.exists()]
    finally:
        process.kill()
        process.wait()
