"""The part of bubblewrap's arguments that shows this machine's files to a container.

Where the container has a layer, its overlays are bound. Elsewhere the machine is bound read-only, entry by entry, and
only /tmp and /var/tmp can be written to. A mount path that the machine lacks cannot be made on a read-only disk, so the
folder where it is missing is rebuilt in memory, and the path is made there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from mooring.nodes.process.containers.sandbox.machine_view import MADE, MachineView
from mooring.nodes.process.containers.sandbox.mount_table import below

__all__ = ["cover", "layer_arguments", "make_scratch", "read_only_arguments"]

# Where a container has the folders that had to be rebuilt, as they are.
_ASIDE: Final = "/.machine"
SCRATCH: Final = ("/tmp", "/var/tmp")


def layer_arguments(overlays: Iterable[tuple[str, str]], view: MachineView) -> list[str]:
    """`overlays` are mounted folders with the places they are for, outer ones first."""
    found = []
    for source, place in overlays:
        found += ["--ro-bind-try" if source == place else "--bind", source, place]
    return found + cover(view.covered)


def read_only_arguments(view: MachineView, targets: Sequence[str], scratch: str) -> list[str]:
    """`targets` are the mount paths to come; `scratch` is a folder of the container for what it writes."""
    found = []
    for entry in sorted(os.scandir("/"), key=lambda entry: entry.name):
        if entry.path not in MADE:
            found += _entry(entry)
    rebuilt = _rebuilt(targets, SCRATCH if scratch else ())
    for place in rebuilt:
        found += _in_memory(place)
    if scratch:
        for number, place in enumerate(SCRATCH):
            if Path(place).is_dir():
                found += ["--bind", f"{scratch}/{number}", place]
    asides = [f"{_ASIDE}{path}" for path in view.covered if any(below(path, place) for place in rebuilt)]
    shown = [path for path in view.covered if not _is_gone(path, rebuilt, scratch)]
    return [*found, *cover(shown), *cover(asides, outside=_ASIDE)]


def make_scratch(folder: Path) -> None:
    """Folders of a container for the places where it can write without a layer."""
    for number in range(len(SCRATCH)):
        place = folder / str(number)
        place.mkdir(parents=True, exist_ok=True)
        place.chmod(0o1777)


def _is_gone(path: str, rebuilt: Sequence[str], scratch: str) -> bool:
    """Whether it is not at its path any more: under a new /tmp, or a link to where it is covered."""
    if scratch and any(below(path, place) for place in SCRATCH):
        return True
    return str(Path(path).parent) in rebuilt and Path(path).is_file()


def cover(paths: Iterable[str], outside: str = "") -> list[str]:
    """Have nothing at these paths. `outside` is what they begin with in the container only."""
    found = []
    for path in paths:
        real = Path(path.removeprefix(outside))
        found += ["--perms", "0555", "--tmpfs", path] if real.is_dir() else ["--ro-bind", "/dev/null", path]
    return found


def _in_memory(place: str) -> list[str]:
    mode = stat.S_IMODE(Path(place).stat().st_mode)
    aside = f"{_ASIDE}{place}"
    found = ["--ro-bind", place, aside, "--perms", f"{mode:04o}", "--tmpfs", place]
    for entry in sorted(os.scandir(place), key=lambda entry: entry.name):
        # Each mount takes longer than the one before, and /etc has hundreds of files; for most of them a link will do.
        # Not for programs, which may look for what belongs to them beside themselves.
        if entry.is_file(follow_symlinks=False) and not entry.stat().st_mode & 0o111:
            found += ["--symlink", f"{aside}/{entry.name}", entry.path]
        else:
            found += _entry(entry)
    return found


def _entry(entry: os.DirEntry[str]) -> list[str]:
    if entry.is_symlink():
        return ["--symlink", str(Path(entry.path).readlink()), entry.path]
    # What goes away at this very moment is not missed.
    return ["--ro-bind-try", entry.path, entry.path]


def _rebuilt(targets: Sequence[str], writable: Sequence[str]) -> list[str]:
    """The folders of this machine in which a mount path is missing, the outer ones first."""
    found = set()
    for target in targets:
        if os.path.lexists(target) or any(below(target, made) for made in MADE):
            continue
        place = next(parent for parent in Path(target).parents if parent.is_dir())
        # Inside of another mount it is made there, as it would be in a container; the root is in memory anyway.
        others = [other for other in targets if other != target]
        if place != Path("/") and not any(below(target, other) for other in (*others, *writable)):
            found.add(str(place))
    return sorted(found, key=lambda place: place.count("/"))
