"""The Python that runs Mooring, as containers find it: `python3` is this one, whoever they run as.

It has the packages of the optional parts of Mooring, which the Python of the system may lack. Where it lies in a home
that others cannot enter, a container of another user sees that home without its content, but with this Python in it.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["Opening", "openings_to", "python_first", "python_openings"]


class Opening(NamedTuple):
    """A folder that some users cannot enter, and the folders in it that they are to reach."""

    folder: str
    shown: tuple[str, ...]


def python_first(path: str, executable: str = sys.executable) -> str:
    """The PATH in which `python3` is this Python; unchanged where it is already, since order matters to others."""
    own = str(Path(executable).parent)
    found = shutil.which("python3", path=path)
    return path if found is not None and str(Path(found).parent) == own else f"{own}:{path}"


def python_openings(user: int | None) -> Sequence[Opening]:
    """The ways to this Python that a container of this user needs."""
    if not user or os.geteuid() != 0:
        return ()
    return openings_to(dict.fromkeys((sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix))))


def openings_to(places: Sequence[str] | dict[str, None]) -> Sequence[Opening]:
    """The outermost folders on the way to these places that only their owner can enter."""
    found: dict[str, list[str]] = {}
    for place in places:
        for folder in reversed(Path(place).parents):
            if not folder.stat().st_mode & 0o001:
                found.setdefault(str(folder), []).append(place)
                break
    return [Opening(folder, tuple(sorted(shown))) for folder, shown in sorted(found.items())]
