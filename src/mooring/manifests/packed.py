"""Reads files that were packed with gzip, which snapshots of large clusters are when they travel."""

from __future__ import annotations

import gzip
import zlib
from typing import IO

from mooring.manifests.errors import ManifestError


class Unpacked:
    """The content of a packed stream."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._stream = gzip.GzipFile(fileobj=packed)

    def read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (EOFError, OSError, zlib.error):
            raise ManifestError("ends in .gz but is not a whole gzip file") from None
