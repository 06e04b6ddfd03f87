"""Reads a large snapshot in YAML with a process per core.

The items of a List as kubectl prints it stand one after another, so the file can be cut between any two of them and
each piece read as a List of its own. Views are small and share what is equal, so handing them from process to process
costs a tenth of reading them. Whatever is not as kubectl prints it, or goes wrong in a worker, is left to the ordinary
reader, which also words the error. JSON is decoded faster than it could be handed over.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from mooring.manifests.pieces import NEXT_ITEM, OPENING, Piece

MAX_WORKERS: Final = 4
_WINDOW: Final = 1 << 20


class WorkerFailed(Exception):
    """A piece could not be read by itself."""


def pieces_of(path: Path) -> list[Piece]:
    """Where to cut a file; fewer than two pieces where it is laid out otherwise, or there is one core."""
    size = path.stat().st_size
    workers = min(os.cpu_count() or 1, MAX_WORKERS)
    if workers < 2 or not sys.executable:
        return []
    ends = []
    with path.open("rb") as file:
        if file.read(len(OPENING)) != OPENING:
            return []
        for number in range(1, workers):
            offset = size * number // workers
            file.seek(offset)
            found = file.read(_WINDOW).find(NEXT_ITEM)
            if found < 0:
                return []
            ends.append(offset + found)
    starts = [len(OPENING), *(end + 1 for end in ends)]
    return [Piece(start, end, end == size) for start, end in zip(starts, [*ends, size], strict=True)]


def read_in_parallel(path: Path, pieces: list[Piece], views: Any, fits: Any = None) -> Iterator[tuple[int, Any]]:
    """The objects of all pieces, in the order of the file. Raises WorkerFailed, possibly after some."""
    workers = [_Worker(path, piece, views, fits) for piece in pieces]
    try:
        before = 0
        for worker in workers:
            for part in worker.parts():
                for index, value in part:
                    yield before + index, value
            before += worker.items
    finally:
        for worker in workers:
            worker.stop()


class _Worker:
    """A process that reads one piece, and a thread that takes what it writes, so that it never waits."""

    def __init__(self, path: Path, piece: Piece, views: Any, fits: Any) -> None:
        self.items = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mooring.manifests.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._order = pickle.dumps((str(path), piece, dict(views), fits))
        self._thread = threading.Thread(target=self._take, daemon=True)
        self._thread.start()

    def _take(self) -> None:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            with stdin:
                stdin.write(self._order)
            while len(size := stdout.read(8)) == 8:
                self._queue.put(stdout.read(int.from_bytes(size)))
        except OSError:
            # The process has died; its exit code says so.
            pass
        finally:
            self._queue.put(None)

    def parts(self) -> Iterator[list[tuple[int, Any]]]:
        while (frame := self._queue.get()) is not None:
            content = pickle.loads(frame)
            if isinstance(content, int):
                self.items = content
            else:
                yield content
        if self._process.wait():
            raise WorkerFailed

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()
        if self._process.stdout is not None:
            self._process.stdout.close()
