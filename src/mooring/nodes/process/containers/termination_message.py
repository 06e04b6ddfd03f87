"""The last words of a container: the end of its termination log, or of its log where the policy says so."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

__all__ = ["termination_message"]

_MOST_BYTES: Final = 4096


def termination_message(path: Path) -> str:
    """The last bytes of the file, however large it claims to be; nothing of what is not a plain file."""
    try:
        # A container may write to the file and, without a sandbox, put something else in its place.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return ""
        data = os.pread(descriptor, _MOST_BYTES, max(found.st_size - _MOST_BYTES, 0))
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return data.decode(errors="replace")
