"""The lookup of a container's command in its PATH and mounts, and why it cannot be run."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from mooring.nodes.process.containers.sandbox.command import Mount

__all__ = ["start_problem"]


def start_problem(word: str, path: str, folder: str, mounts: Sequence[Mount]) -> str:
    """Why a command cannot be run, empty if it can. `path` is the container's PATH, `folder` where it starts."""
    inside = _Inside(mounts)
    return _folder_problem(inside, folder) or _word_problem(inside, word, path, folder)


class _Inside:
    """This machine's files as a container sees them."""

    def __init__(self, mounts: Sequence[Mount]) -> None:
        self._mounts = sorted(mounts, key=lambda mount: len(mount.target), reverse=True)

    def mode(self, path: str) -> int | None:
        try:
            return Path(self._outside(os.path.normpath(path))).stat().st_mode
        except OSError:
            return None

    def _outside(self, path: str) -> str:
        for source, target, *_ in self._mounts:
            place = os.path.normpath(target)
            if path == place:
                return source
            if path.startswith(f"{place}/"):
                return f"{source}/{path[len(place) + 1 :]}"
        return path


def _folder_problem(inside: _Inside, folder: str) -> str:
    mode = inside.mode(folder)
    if mode is None:
        return f'workingDir "{folder}" cannot be entered: no such file or directory'
    if not stat.S_ISDIR(mode):
        return f'workingDir "{folder}" cannot be entered: not a directory'
    return ""


def _word_problem(inside: _Inside, word: str, path: str, folder: str) -> str:
    if "/" in word:
        mode = inside.mode(str(Path(folder, word)))
        if mode is None:
            return f'command "{word}" cannot be run: this machine has no such file'
        if stat.S_ISDIR(mode):
            return f'command "{word}" cannot be run: it is a directory'
        return "" if mode & 0o111 else f'command "{word}" cannot be run: the file is not executable'
    for place in path.split(":"):
        mode = inside.mode(str(Path(place or folder, word)))
        if mode is not None and stat.S_ISREG(mode) and mode & 0o111:
            return ""
    return f'command "{word}" cannot be run: no executable file of this name is in the PATH of the container, {path}'
