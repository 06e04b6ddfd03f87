"""Files that hold secrets: only their owner may read them, and they are there as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["write_private"]


def write_private(path: Path, data: bytes) -> None:
    """Replace a file at once: a reader meanwhile, or after a crash, finds the old one or the new one."""
    import tempfile

    # mkstemp makes files of mode 0600, whatever the umask is.
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        error.filename, error.filename2 = str(path), None
        raise
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
