"""The mounts of this machine that hold the driver of its GPUs, for the containers that get one.

A container's layer has the disks of the machine. The driver may be mounted in between, as a folder such as
/usr/local/nvidia or file by file, by whatever runs this machine itself as a container: an overlay of the root does not
show what is mounted below it.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatch
from itertools import chain
from pathlib import Path
from typing import Final

from mooring.nodes.process.containers.sandbox.command import Mount
from mooring.nodes.process.containers.sandbox.machine_view import MADE, MachineView
from mooring.nodes.process.containers.sandbox.mount_table import MountPoint, below, mount_points

__all__ = ["driver_mounts"]

_FILES: Final = ("libcuda.so*", "nvidia-smi")
_SINGLE_FILES: Final = ("libcuda*.so*", "libnvidia*.so*", "libnvcuvid.so*", "libnvoptix.so*", "nvidia-*")
_FOLDERS: Final = ("", "bin", "lib", "lib64", "lib/*", "usr/bin", "usr/lib", "usr/lib64", "usr/lib/*")


def driver_mounts(view: MachineView, mounts: Iterable[MountPoint] | None = None) -> list[Mount]:
    """Read-only, at their own places, the outer ones first. None of them holds what containers must not see."""
    table = mount_points() if mounts is None else mounts
    places = dict.fromkeys(each.path for each in table if each.path not in view.disks)
    found = [place for place in places if not _is_withheld(place, view) and _holds_driver(Path(place))]
    return [Mount(place, place, read_only=True) for place in sorted(found, key=len)]


def _is_withheld(place: str, view: MachineView) -> bool:
    if any(below(place, made) for made in (*MADE, *view.covered)):
        return True
    return any(below(hidden, place) for hidden in view.covered)


def _holds_driver(place: Path) -> bool:
    try:
        if place.is_file():
            return any(fnmatch(place.name, pattern) for pattern in _SINGLE_FILES)
        globs = (place.glob(f"{folder}/{name}" if folder else name) for folder in _FOLDERS for name in _FILES)
        return next(chain.from_iterable(globs), None) is not None
    except OSError:
        # What the node may not look into, no container of it will.
        return False
