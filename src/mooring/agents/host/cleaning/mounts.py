"""Mounts below a folder, and how they are taken away."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Final

from mooring.nodes.process.containers.sandbox.mount_table import below, mount_points

__all__ = ["mounts_below", "unmount_below"]

_DETACH: Final = 2
_libc: Final = ctypes.CDLL(None, use_errno=True)
# A mount that covers another uncovers it when it goes; more layers than this are a loop.
_MOST_ROUNDS: Final = 16


def mounts_below(folder: Path, text: str | None = None) -> list[str]:
    """Paths of mounts in the folder, the innermost first. A folder that is itself a mount point is not in it."""
    real = os.path.realpath(folder)
    found = [mount.path for mount in mount_points(text) if below(mount.path, real) and mount.path != real]
    return sorted(found, key=lambda path: path.count("/"), reverse=True)


def unmount_below(folder: Path) -> list[str]:
    """Unmount everything in the folder; the paths that would not go. One in use is detached and goes with its user."""
    for _ in range(_MOST_ROUNDS):
        left = mounts_below(folder)
        if not left:
            return []
        # All of them are tried before the next look, whichever goes.
        gone = [path for path in left if _unmount(path)]
        if not gone:
            return left
    return mounts_below(folder)


def _unmount(path: str) -> bool:
    raw = os.fsencode(path)
    return bool(_libc.umount2(raw, 0) == 0 or _libc.umount2(raw, _DETACH) == 0)
