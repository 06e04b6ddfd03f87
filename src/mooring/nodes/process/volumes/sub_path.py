"""A path inside of a volume for one container: checked as a whole before anything of it is made.

A container can put a link into a volume, also while the next one starts. So the way is walked folder by folder from the
volume down, and no step of it follows a link.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from mooring.nodes.process.volumes.contents import VolumeError

__all__ = ["open_below", "sub_path"]


def sub_path(folder: Path, part: str, *, make: bool, mount: str, container: str) -> Path:
    """`mount` is the name of the volume mount. Raises VolumeError with the kubelet's text."""
    if part.startswith("/"):
        raise VolumeError(f"error SubPath `{part}` must not be an absolute path")
    if ".." in part.split("/"):
        raise VolumeError(f"unable to provision SubPath `{part}`: must not contain '..'")
    base, real = folder.resolve(), (folder / part).resolve()
    exists = real.exists()
    if not real.is_relative_to(base) or not (exists or make):
        raise VolumeError(f'failed to prepare subPath for volumeMount "{mount}" of container "{container}"')
    try:
        os.close(open_below(base, real, make=make and not exists))
    except OSError:
        act = "prepare subPath" if exists else "create subPath directory"
        raise VolumeError(f'failed to {act} for volumeMount "{mount}" of container "{container}"') from None
    return real


def open_below(base: Path, path: Path, *, make: bool = False) -> int:
    """A descriptor of a file or folder below `base`, reached without following a link. Raises OSError."""
    parts = path.relative_to(base).parts
    descriptor = os.open(base, os.O_PATH | os.O_DIRECTORY)
    for number, name in enumerate(parts):
        try:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(name, 0o777, dir_fd=descriptor)
            # The last one may be a file, and on the way there are only folders.
            kind = 0 if number == len(parts) - 1 else os.O_DIRECTORY
            below = os.open(name, os.O_PATH | os.O_NOFOLLOW | kind, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = below
    if stat.S_ISLNK(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return descriptor
