"""The command line that gives a container a file system of its own: this machine's, with the pod's volumes in it.

bubblewrap starts from an empty root and binds into it what it is told. A mount path that this machine lacks must not be
made on its disk, so the folder where it is missing is rebuilt in memory, entry by entry, and the path is made there.
Processes get numbers of their own too, so that all of them end with the first one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["Mount", "inner_command", "sandbox_arguments"]

# What a container has of this machine's /dev: the usual, accelerators, and what goes with them.
_DEVICES: Final = (
    *("null", "zero", "full", "random", "urandom", "tty", "pts"),
    *("nvidia*", "dri", "kfd", "infiniband", "fuse", "net", "kvm"),
)
_LINKS: Final = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}
# Where a container has the folders that had to be rebuilt, as they are.
_ASIDE: Final = "/.machine"
# These are made anew.
_MADE: Final = ("/dev", "/proc")


class Mount(NamedTuple):
    """A file or folder of this machine that a container sees at `target`."""

    source: str
    target: str
    read_only: bool = False


def sandbox_arguments(
    mounts: Sequence[Mount],
    environment: Mapping[str, str],
    *,
    hostname: str,
    folder: str,
    status_fd: int,
    read_only: bool = False,
) -> list[str]:
    """Arguments for bwrap, up to the command."""
    found = ["--die-with-parent", "--unshare-pid", "--unshare-uts", "--hostname", hostname[:63]]
    found += ["--json-status-fd", str(status_fd)]
    found += _root(read_only)
    targets = sorted((mount._replace(target=_resolved(mount.target)) for mount in mounts), key=_depth)
    for place in _rebuilt([mount.target for mount in targets]):
        found += _in_memory(place, read_only)
    found += ["--proc", "/proc", *_devices()]
    for mount in targets:
        found += ["--ro-bind" if mount.read_only else "--bind", mount.source, mount.target]
    found += ["--chdir", folder, "--clearenv"]
    for name, value in environment.items():
        found += ["--setenv", name, value]
    return found


def inner_command(
    command: Sequence[str], *, user: int | None, group: int | None, groups: Iterable[int], memory: int | None
) -> list[str]:
    """The command with its user and its memory limit."""
    words = list(command)
    if memory is not None:
        # Not the address space, of which many programs reserve far more than they use: what they can write to.
        words = ["prlimit", f"--data={memory}:{memory}", "--", *words]
    others = sorted(set(groups))
    if user is None and group is None and not others:
        return words
    found = ["setpriv"]
    if user is not None:
        found.append(f"--reuid={user}")
    if group is not None or user is not None:
        found.append(f"--regid={0 if group is None else group}")
    found.append(f"--groups={','.join(map(str, others))}" if others else "--clear-groups")
    return [*found, "--", *words]


def _devices() -> list[str]:
    """A /dev of its own. bwrap's ready-made one makes a user namespace that probes could not enter afterwards."""
    found = ["--tmpfs", "/dev", "--perms", "1777", "--dir", "/dev/shm"]
    for pattern in _DEVICES:
        for device in sorted(map(str, Path("/dev").glob(pattern))):
            found += ["--dev-bind", device, device]
    for name, target in _LINKS.items():
        found += ["--symlink", target, f"/dev/{name}"]
    return found


def _depth(mount: Mount) -> int:
    return mount.target.count("/")


def _resolved(target: str) -> str:
    """The path without links on the way: below a link nothing could be mounted."""
    path = Path(os.path.normpath(target))
    found = path.parent.resolve() / path.name
    return str(found.resolve() if found.is_symlink() else found)


def _root(read_only: bool) -> list[str]:
    found = []
    for entry in sorted(os.scandir("/"), key=lambda entry: entry.name):
        if entry.path not in _MADE:
            found += _entry(entry, read_only)
    return found


def _in_memory(place: str, read_only: bool) -> list[str]:
    mode = stat.S_IMODE(Path(place).stat().st_mode)
    aside = f"{_ASIDE}{place}"
    found = ["--ro-bind" if read_only else "--bind", place, aside, "--perms", f"{mode:04o}", "--tmpfs", place]
    for entry in sorted(os.scandir(place), key=lambda entry: entry.name):
        # Each mount takes longer than the one before, and /etc has hundreds of files; for most of them a link will do.
        # Not for programs, which may look for what belongs to them beside themselves.
        if entry.is_file(follow_symlinks=False) and not entry.stat().st_mode & 0o111:
            found += ["--symlink", f"{aside}/{entry.name}", entry.path]
        else:
            found += _entry(entry, read_only)
    return found


def _entry(entry: os.DirEntry[str], read_only: bool) -> list[str]:
    if entry.is_symlink():
        return ["--symlink", str(Path(entry.path).readlink()), entry.path]
    # What goes away at this very moment is not missed.
    return ["--ro-bind-try" if read_only else "--bind-try", entry.path, entry.path]


def _rebuilt(targets: Sequence[str]) -> list[str]:
    """The folders of this machine in which a mount path is missing, the outer ones first."""
    found = set()
    for target in targets:
        if os.path.lexists(target) or _below(target, _MADE):
            continue
        place = next(parent for parent in Path(target).parents if parent.is_dir())
        # Inside of another mount it is made there, as it would be in a container; the root is in memory anyway.
        if place != Path("/") and not _below(target, [other for other in targets if other != target]):
            found.add(str(place))
    return sorted(found, key=lambda place: place.count("/"))


def _below(path: str, others: Iterable[str]) -> bool:
    return any(path.startswith(f"{other}/") for other in others)
