"""The control group of a host's pods, in every hierarchy that the machine has."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from mooring.nodes.process.containers.sandbox.mount_table import mount_points

__all__ = ["group_folders", "group_processes", "make_control_group", "remove_control_group"]

_KINDS: Final = ("cgroup", "cgroup2")
_REMOVAL_SECONDS: Final = 5.0
_REMOVAL_POLL_SECONDS: Final = 0.02


def group_folders(name: str) -> list[Path]:
    """Where the group is or would be: one folder for each hierarchy."""
    return [Path(f"{mount.path}{name}") for mount in mount_points() if mount.kind in _KINDS]


def make_control_group(name: str) -> None:
    """Make the group everywhere, with all controllers: a kubelet accepts nothing less as the root of its pods."""
    for folder in group_folders(name):
        with suppress(OSError):
            folder.mkdir(exist_ok=True)
            _enable_controllers(folder.parent)


def _enable_controllers(parent: Path) -> None:
    """Groups of version 2 have the controllers that the group above hands down; version 1 has no such file."""
    given = parent / "cgroup.controllers"
    for controller in given.read_text().split() if given.exists() else ():
        with suppress(OSError):
            (parent / "cgroup.subtree_control").write_text(f"+{controller}")


def group_processes(name: str) -> set[int]:
    """Every process in the group or in one below it."""
    found: set[int] = set()
    for folder in group_folders(name):
        for place, _, _ in os.walk(folder):
            with suppress(OSError):
                found.update(int(word) for word in Path(place, "cgroup.procs").read_text().split())
    return found


def remove_control_group(name: str) -> None:
    """Remove the group and all below it; the last of its processes may still be on their way out."""
    deadline = time.monotonic() + _REMOVAL_SECONDS
    for folder in group_folders(name):
        while not _removed(folder) and time.monotonic() < deadline:
            time.sleep(_REMOVAL_POLL_SECONDS)


def _removed(folder: Path) -> bool:
    for place, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):
            Path(place).rmdir()
    return not folder.exists()
