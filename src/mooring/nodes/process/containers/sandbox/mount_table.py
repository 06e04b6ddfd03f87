"""The mounts of this machine, and all paths by which one folder can be reached through them.

A folder that must not be seen has to be covered at every such path: the same disk may be mounted, or bound, twice.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["MountPoint", "aliases", "below", "mount_points"]

_TABLE: Final = Path("/proc/self/mountinfo")
_ESCAPE: Final = re.compile(r"\\([0-7]{3})")


class MountPoint(NamedTuple):
    """`root` is the folder of the file system that is mounted at `path`."""

    device: str
    root: str
    path: str
    kind: str


def mount_points(text: str | None = None) -> list[MountPoint]:
    """In the order of mounting: a later one covers an earlier one of the same path."""
    found = []
    for line in (_TABLE.read_text() if text is None else text).splitlines():
        head, _, tail = line.partition(" - ")
        fields = head.split(" ")
        found.append(MountPoint(fields[2], _plain(fields[3]), _plain(fields[4]), tail.split(" ")[0]))
    return found


def below(path: str, folder: str) -> bool:
    """Whether a path is the folder or lies in it."""
    return path == folder or path.startswith("/" if folder == "/" else f"{folder}/")


def aliases(folder: str, mounts: list[MountPoint]) -> list[str]:
    """The real path of a folder, and every other one that leads to it."""
    real = os.path.realpath(folder)
    home = max((each for each in mounts if below(real, each.path)), key=lambda each: len(each.path), default=None)
    if home is None:
        return [real]
    inside = _joined(home.root, real, home.path)
    same = [each for each in mounts if each.device == home.device and below(inside, each.root)]
    return list(dict.fromkeys([real, *(_joined(each.path, inside, each.root) for each in same)]))


def _joined(base: str, path: str, above: str) -> str:
    """`path`, which lies in `above`, as it is called when `above` is called `base`."""
    rest = os.path.relpath(path, above)
    return base if rest == "." else str(Path(base) / rest)


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match.group(1), 8)), text)
