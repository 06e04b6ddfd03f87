"""Writes a file whole or not at all; what is no regular file, such as a device or a FIFO, is written through."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["private_file", "whole_file", "write_whole"]


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A stream to the file, which is renamed into place when it is complete. Errors name the file as it was given."""
    # A symlink stays one: what it points to is written.
    target = path.resolve() if path.is_symlink() else path
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as stream:
                yield stream
            return
        draft = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
        try:
            with draft.open("wb") as stream:
                yield stream
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


@contextmanager
def private_file(path: Path) -> Iterator[IO[bytes]]:
    """The same for a file that only its owner may read."""
    with whole_file(path) as stream:
        os.fchmod(stream.fileno(), 0o600)
        yield stream


def write_whole(path: Path, text: str) -> None:
    with whole_file(path) as stream:
        stream.write(text.encode(errors="replace"))
