"""A small disk that can be full: a tmpfs in a mount namespace of its own, which goes with the test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

__all__ = ["Disk", "small_disk"]


class Disk:
    """A disk of its own that is mounted at `place`, for those processes only that are started with `prefix`."""

    def __init__(self, place: Path, holder: int) -> None:
        self.place = place
        self._root = Path(f"/proc/{holder}/root")
        user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
        self.prefix = ("nsenter", f"--target={holder}", "--mount", *user)

    def reached(self, path: Path) -> Path:
        """A path on the disk as this process reaches it."""
        return self._root / path.relative_to("/")

    @property
    def folder(self) -> Path:
        return self.reached(self.place)

    @property
    def free(self) -> int:
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize

    def fill(self, leave: int = 0) -> None:
        """Another program takes all room but this."""
        with (self.folder / "filler").open("ab", buffering=0) as file, suppress(OSError):
            while self.free > leave:
                file.write(b"x" * min(1 << 20, self.free - leave))

    def clear(self) -> None:
        (self.folder / "filler").unlink()


@contextmanager
def small_disk(place: Path, size: str = "80m") -> Iterator[Disk]:
    """A disk of so many bytes. It takes no rights but those of a user namespace."""
    place.mkdir()
    own = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--mount", "--map-root-user")
    mounts = ("sh", "-c", f'mount -t tmpfs -o size={size} none "$0" && echo mounted && exec cat', str(place))
    pipe = subprocess.PIPE
    with subprocess.Popen((*own, *mounts), stdin=pipe, stdout=pipe, stderr=pipe, text=True) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stderr is not None
            if holder.stdout.readline() != "mounted\n":
                refuse = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
                refuse(f"no disk can be mounted here: {holder.stderr.read().strip()}")
            yield Disk(place, holder.pid)
        finally:
            holder.kill()
