"""Writes a file whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, text: str) -> None:
    """It is renamed into place when it is complete."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        draft.write_text(text, encoding="utf-8", errors="replace")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
