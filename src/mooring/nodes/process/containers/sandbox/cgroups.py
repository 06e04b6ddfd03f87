"""Limits of containers by the kernel's control groups, of either version, where this machine lets the node make some.

Each container with a limit has a group of its own below one group of the node; the name of that group holds the mark
of the data folder, so that the next node finds and removes what a killed one left.
"""

from __future__ import annotations

import os
import shlex
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from mooring.nodes.process.containers.sandbox.mount_table import MountPoint, mount_points

__all__ = ["ControlGroup", "ControlGroups", "find_control_groups"]

_CONTROLLERS: Final = ("memory", "cpu")
_CPU_PERIOD_MICROSECONDS: Final = 100_000
_SHORTEST_QUOTA_MICROSECONDS: Final = 1_000
_REMOVAL_SECONDS: Final = 2.0
_REMOVAL_POLL_SECONDS: Final = 0.005


@dataclass(frozen=True)
class ControlGroup:
    """The group of one container: a folder for each controller, the same one for all in version 2."""

    folders: Mapping[str, Path]
    unified: bool

    @property
    def files(self) -> list[str]:
        """Where a process enters the group."""
        return [str(folder / "cgroup.procs") for folder in dict.fromkeys(self.folders.values())]

    def wrapped(self, words: Sequence[str]) -> list[str]:
        """The command, run inside of the group from its first instruction on."""
        entering = " && ".join(f"echo 0 > {shlex.quote(place)}" for place in self.files)
        return ["/bin/sh", "-c", f'{entering} && exec "$@"', "sh", *words]

    def killed_for_memory(self) -> bool:
        """Whether the kernel killed a process of the group for want of memory."""
        name = "memory.events" if self.unified else "memory.oom_control"
        with suppress(OSError, KeyError):
            for line in (self.folders["memory"] / name).read_text().splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1]) > 0
        return False

    def memory_used(self) -> int | None:
        """The bytes that the group holds, None where nobody counts them."""
        name = "memory.current" if self.unified else "memory.usage_in_bytes"
        with suppress(OSError, KeyError, ValueError):
            return int((self.folders["memory"] / name).read_text())
        return None

    def enter(self, pids: Sequence[int]) -> None:
        """Bring processes into the group that were started outside of it."""
        for place in self.files:
            for pid in pids:
                # One that has ended meanwhile needs no limit.
                with suppress(ProcessLookupError):
                    _write(Path(place), str(pid))

    def remove(self) -> None:
        """Remove the group; its last processes may still be on their way out."""
        deadline = time.monotonic() + _REMOVAL_SECONDS
        for folder in dict.fromkeys(self.folders.values()):
            while not _removed(folder) and time.monotonic() < deadline:
                time.sleep(_REMOVAL_POLL_SECONDS)


class ControlGroups(NamedTuple):
    """The node's own group by controller, made with the first container in it. A controller may be missing."""

    roots: Mapping[str, Path]
    unified: bool

    def limits(self, resource: str) -> bool:
        return resource in self.roots

    def make(self, name: str, *, memory: int | None, cpu_milli: int | None) -> ControlGroup | None:
        """A group with these limits, as far as there are controllers for them; None without any. Raises OSError.

        The group of a container that runs gets these limits in the place of those that it had.
        """
        wanted = {"memory": memory, "cpu": cpu_milli}
        folders = {controller: root / name for controller, root in self.roots.items() if wanted[controller] is not None}
        if not folders:
            return None
        group = ControlGroup(folders, self.unified)
        is_new = not any(folder.exists() for folder in folders.values())
        try:
            for folder in dict.fromkeys(folders.values()):
                self._make_root(folder.parent)
                folder.mkdir(exist_ok=True)
            if memory is not None and "memory" in folders:
                self._limit_memory(folders["memory"], memory)
            if cpu_milli is not None and "cpu" in folders:
                self._limit_cpu(folders["cpu"], cpu_milli)
        except OSError:
            if is_new:
                group.remove()
            raise
        return group

    def clear(self) -> None:
        """Remove all groups of an earlier node, and kill what is left in them."""
        for root in dict.fromkeys(self.roots.values()):
            for folder in [path for path in root.glob("*") if path.is_dir()]:
                _kill_all(folder)
                ControlGroup({"": folder}, self.unified).remove()

    def remove(self) -> None:
        self.clear()
        for root in dict.fromkeys(self.roots.values()):
            _removed(root)

    def _make_root(self, root: Path) -> None:
        if root.exists():
            return
        root.mkdir(exist_ok=True)
        if self.unified:
            _write(root / "cgroup.subtree_control", " ".join(f"+{each}" for each in self.roots))

    def _limit_memory(self, folder: Path, limit: int) -> None:
        if self.unified:
            _write(folder / "memory.max", str(limit))
            # As a kubelet has it: a container that lost one process for want of memory has lost all.
            for name, value in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
                with suppress(OSError):
                    _write(folder / name, value)
            return
        # Memory with swap is never less than memory alone: the larger of two changes must come first.
        with suppress(OSError):
            _write(folder / "memory.memsw.limit_in_bytes", str(limit))
        _write(folder / "memory.limit_in_bytes", str(limit))
        with suppress(OSError):
            _write(folder / "memory.memsw.limit_in_bytes", str(limit))

    def _limit_cpu(self, folder: Path, milli: int) -> None:
        quota = max(milli * _CPU_PERIOD_MICROSECONDS // 1000, _SHORTEST_QUOTA_MICROSECONDS)
        if self.unified:
            _write(folder / "cpu.max", f"{quota} {_CPU_PERIOD_MICROSECONDS}")
            return
        _write(folder / "cpu.cfs_period_us", str(_CPU_PERIOD_MICROSECONDS))
        _write(folder / "cpu.cfs_quota_us", str(quota))


def find_control_groups(mark: str, mounts: list[MountPoint] | None = None, own: str | None = None) -> ControlGroups:
    """The node's groups where this machine allows some; without roots where it does not.

    `own` is the text of /proc/self/cgroup.
    """
    table = mount_points() if mounts is None else mounts
    text = Path("/proc/self/cgroup").read_text() if own is None else own
    paths = {tuple(line.split(":")[1].split(",")): line.split(":", 2)[2] for line in text.splitlines()}
    name = f"mooring-{mark}"
    first = {}
    for controllers, path in paths.items():
        for controller in set(_CONTROLLERS) & set(controllers):
            mount = _mount_of(controller, table)
            if mount is not None and os.access(place := _inside(mount, path), os.W_OK):
                first[controller] = place / name
    if first:
        return ControlGroups(first, unified=False)
    second = next((each for each in table if each.kind == "cgroup2"), None)
    if second is None or ("",) not in paths:
        return ControlGroups({}, unified=True)
    return ControlGroups(_second_version(_inside(second, paths[("",)]), Path(second.path), name), unified=True)


def _second_version(own: Path, top: Path, name: str) -> dict[str, Path]:
    """The group lies as deep as possible: one with processes in it cannot have limited groups below it."""
    for place in (own, *own.parents):
        if place != top and top not in place.parents:
            break
        if os.access(place, os.W_OK) and (controllers := _enabled(place)):
            return dict.fromkeys(controllers, place / name)
    return {}


def _enabled(place: Path) -> list[str]:
    """The controllers that groups below this one have."""
    try:
        given = (place / "cgroup.controllers").read_text().split()
        wanted: list[str] = [each for each in _CONTROLLERS if each in given]
        try:
            _write(place / "cgroup.subtree_control", " ".join(f"+{each}" for each in wanted))
            return wanted
        except OSError:
            given = (place / "cgroup.subtree_control").read_text().split()
            return [each for each in wanted if each in given]
    except OSError:
        return []


def _mount_of(controller: str, mounts: list[MountPoint]) -> MountPoint | None:
    found = [each for each in mounts if each.kind == "cgroup" and controller in Path(each.path).name.split(",")]
    return found[-1] if found else None


def _inside(mount: MountPoint, path: str) -> Path:
    """Where a group is found below a mount point, which may show only a part of the tree."""
    shown = os.path.relpath(path, mount.root)
    return Path(mount.path) if shown.startswith("..") or shown == "." else Path(mount.path) / shown


def _write(path: Path, text: str) -> None:
    # Without O_CREAT: a file of the kernel is there or it is not.
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _kill_all(folder: Path) -> None:
    with suppress(OSError):
        for word in (folder / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(int(word), signal.SIGKILL)
