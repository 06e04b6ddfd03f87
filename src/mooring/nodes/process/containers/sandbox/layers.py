"""The writable layer of a container: this machine's files, with what the container writes kept apart from them.

Every disk of the machine is the lower part of an overlay whose upper part is a folder of the container. The overlay is
mounted only until the sandbox has taken it over, so that nothing is left mounted whenever the node ends.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import stat
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from mooring.nodes.process.containers.sandbox.mount_table import below, mount_points

__all__ = ["Layer", "layer_problem", "mount_tmpfs", "unmount_below"]

_MS_NOSUID: Final = 2
_MS_NODEV: Final = 4
_MNT_DETACH: Final = 2
_libc = ctypes.CDLL(None, use_errno=True)


class Layer(NamedTuple):
    """`disks` are the mount points of this machine that containers see, the root first."""

    folder: Path
    disks: Sequence[str]

    def mount(self) -> list[tuple[str, str]]:
        """Mount an overlay for each disk: its folder, and where it belongs. Raises OSError for that of the root.

        Not every file system can be the lower part of one; such a disk stands for itself.
        """
        found = []
        for number, disk in enumerate(self.disks):
            try:
                found.append((self._overlay(self.folder / str(number), disk), disk))
            except OSError:
                if disk == "/":
                    raise
                found.append((disk, disk))
        return found

    def _overlay(self, place: Path, disk: str) -> str:
        upper, work, merged = (place / name for name in ("upper", "work", "merged"))
        for part in (upper, work, merged):
            part.mkdir(parents=True, exist_ok=True)
        known = Path(disk).stat()
        os.chown(upper, known.st_uid, known.st_gid)
        upper.chmod(stat.S_IMODE(known.st_mode))
        parts = {"lowerdir": disk, "upperdir": str(upper), "workdir": str(work)}
        _mount("overlay", str(merged), ",".join(f"{name}={_escaped(path)}" for name, path in parts.items()))
        return str(merged)

    def unmount(self) -> None:
        """The sandbox has its own hold of the overlays by now, or will never have."""
        for number in range(len(self.disks)):
            _libc.umount2(os.fsencode(self.folder / str(number) / "merged"), _MNT_DETACH)

    def remove(self) -> None:
        self.unmount()
        shutil.rmtree(self.folder, ignore_errors=True)


def layer_problem(folder: Path) -> str:
    """Why containers of this folder cannot have a layer each; empty if they can."""
    if os.geteuid() != 0:
        return "only root can mount overlays"
    with tempfile.TemporaryDirectory(prefix="layer-", dir=folder) as name:
        layer = Layer(Path(name), ["/"])
        try:
            layer.mount()
        except OSError as error:
            return f"overlays cannot be mounted: {error.strerror}"
        layer.unmount()
    return ""


def mount_tmpfs(folder: Path, size: int) -> None:
    """Raises OSError."""
    _mount("tmpfs", str(folder), f"mode=0777,size={size}")


def unmount_below(folder: Path) -> None:
    """Unmount everything in a folder, the inner ones first."""
    real = os.path.realpath(folder)
    with suppress(OSError):
        for each in reversed(mount_points()):
            if below(each.path, real):
                _libc.umount2(os.fsencode(each.path), _MNT_DETACH)


def _mount(kind: str, target: str, options: str) -> None:
    words = (kind, target, kind, options)
    source, place, fstype, data = (os.fsencode(word) for word in words)
    if _libc.mount(source, place, fstype, _MS_NOSUID | _MS_NODEV, data):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


def _escaped(path: str) -> str:
    """Commas part options and colons part lower folders."""
    return path.replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")
