"""Traces as they are kept: a file for each subject in tests/data/traces, with a section for each story.

`MOORING_UPDATE_GOLDEN=1 pytest FILE` writes the sections of a file of tests anew; look at the difference before keeping
it. `xzcat` shows them.
"""

from __future__ import annotations

import difflib
import lzma
import os
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "data" / "traces"
_MARK = "=== "
# Lines of a difference that a failure shows.
_SHOWN = 40


def agrees(subject: str, story: str, told: str) -> None:
    """The story goes as it is kept."""
    path = FOLDER / f"{subject}.txt.xz"
    kept = _read(path)
    if os.environ.get("MOORING_UPDATE_GOLDEN"):
        kept[story] = told
        text = "".join(f"{_MARK}{name}\n{kept[name]}" for name in sorted(kept))
        path.write_bytes(lzma.compress(text.encode(), preset=9))
        _read.cache_clear()
    assert story in kept, f"{path.name} has no story {story}"
    difference = difflib.unified_diff(kept[story].splitlines(), told.splitlines(), "kept", "told", lineterm="", n=1)
    shown = list(difference)[:_SHOWN]
    assert not shown, "\n".join([f"{subject}: {story} goes otherwise", *shown])


@cache
def _read(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    sections = lzma.decompress(path.read_bytes()).decode().split(_MARK)[1:]
    return dict(section.split("\n", 1) for section in sections)
