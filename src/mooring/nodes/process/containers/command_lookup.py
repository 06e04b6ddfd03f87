"""The lookup of a container's command in its PATH and mounts, with the error that containerd and runc would give."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mooring.nodes.process.containers.sandbox import Mount

__all__ = ["start_problem"]

_PREFIX: Final = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
    "runc create failed: unable to start container process: error during container init: "
)


def start_problem(word: str, path: str, folder: str, mounts: Sequence[Mount]) -> str:
    """Why a command cannot be run, empty if it can. `path` is the container's PATH, `folder` where it starts."""
    inside = _Inside(mounts)
    problem = _folder_problem(inside, folder) or _word_problem(inside, word, path, folder)
    return f"{_PREFIX}{problem}" if problem else ""


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
        for source, target, _ in self._mounts:
            place = os.path.normpath(target)
            if path == place:
                return source
            if path.startswith(f"{place}/"):
                return f"{source}/{path[len(place) + 1 :]}"
        return path


def _folder_problem(inside: _Inside, folder: str) -> str:
    mode = inside.mode(folder)
    if mode is None:
        return f'chdir to cwd ("{folder}") set in config.json failed: no such file or directory'
    if not stat.S_ISDIR(mode):
        return f'chdir to cwd ("{folder}") set in config.json failed: not a directory'
    return ""


def _word_problem(inside: _Inside, word: str, path: str, folder: str) -> str:
    if "/" in word:
        mode = inside.mode(str(Path(folder, word)))
        if mode is None:
            return f'exec: "{word}": stat {word}: no such file or directory'
        if stat.S_ISDIR(mode):
            return f'exec: "{word}": is a directory'
        return "" if mode & 0o111 else f'exec: "{word}": permission denied'
    for place in path.split(":"):
        mode = inside.mode(str(Path(place or folder, word)))
        if mode is not None and stat.S_ISREG(mode) and mode & 0o111:
            return ""
    return f'exec: "{word}": executable file not found in $PATH'
