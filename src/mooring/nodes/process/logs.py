"""What containers write, kept as container runtimes keep it: one line each, with its time and its stream.

A line in the file is `2026-01-31T12:00:00.000000000Z stdout F text`; P instead of F marks a piece of a line that was
too long. A log is kept to a size: what is older than two files of it is gone.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final, Literal, NamedTuple

__all__ = ["LogOptions", "LogWriter", "has_log", "last_words", "read_log", "stamp"]

LOG_SIZE: Final = 10 << 20
LONGEST_LINE: Final = 16 << 10
_CHUNK: Final = 1 << 16
_TIMESTAMP_CHARACTERS: Final = 30

StreamName = Literal["stdout", "stderr"]


def stamp(nanoseconds: int) -> str:
    """A moment as it stands at the beginning of a line: always as long, so that texts compare as times do."""
    seconds, rest = divmod(nanoseconds, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC).strftime('%Y-%m-%dT%H:%M:%S')}.{rest:09d}Z"


def _rotated(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")


def has_log(path: Path) -> bool:
    return path.exists()


class LogWriter:
    """The log of one run of a container, while it is written. A reader that follows it waits for `changed`."""

    def __init__(self, path: Path, *, size: int = LOG_SIZE, clock: Callable[[], int] = time.time_ns) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.closed = False
        self._size = size
        self._clock = clock
        self._file = path.open("ab", buffering=0)
        self._rest: dict[StreamName, bytes] = {"stdout": b"", "stderr": b""}
        self._changed = asyncio.Event()

    def feed(self, stream: StreamName, data: bytes) -> None:
        """Take in what the container wrote; the end of a line may come later."""
        *lines, rest = (self._rest[stream] + data).split(b"\n")
        head = f"{stamp(self._clock())} {stream} ".encode()
        out = []
        for line in lines:
            while len(line) > LONGEST_LINE:
                out.append(b"%sP %s\n" % (head, line[:LONGEST_LINE]))
                line = line[LONGEST_LINE:]
            out.append(b"%sF %s\n" % (head, line))
        while len(rest) > LONGEST_LINE:
            out.append(b"%sP %s\n" % (head, rest[:LONGEST_LINE]))
            rest = rest[LONGEST_LINE:]
        self._rest[stream] = rest
        if out:
            self._write(b"".join(out))

    def close(self) -> None:
        if self.closed:
            return
        for stream, rest in self._rest.items():
            if rest:
                # The last line of a stream may lack its end, and then it is shown without one.
                self._write(b"%s %s P %s\n" % (stamp(self._clock()).encode(), stream.encode(), rest))
        self.closed = True
        self._file.close()
        self._wake()

    @property
    def changed(self) -> asyncio.Event:
        """An event that is set as soon as there is more to read than now."""
        return self._changed

    def _write(self, data: bytes) -> None:
        with suppress(OSError):
            # A full disk costs lines, not the container.
            self._file.write(data)
            if self._file.tell() > self._size:
                self._file.close()
                self.path.replace(_rotated(self.path))
                self._file = self.path.open("ab", buffering=0)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class LogOptions(NamedTuple):
    """What part of a log is wanted, and how. `since` is a stamp."""

    follow: bool = False
    tail: int | None = None
    since: str = ""
    timestamps: bool = False
    limit: int | None = None


async def read_log(path: Path, options: LogOptions, writer: LogWriter | None) -> AsyncGenerator[bytes]:
    """The lines of a log, as much at a time as is there. `writer` is None when the run is over."""
    left = options.limit
    async for lines in _lines(path, options, writer):
        text = b"".join(_shown(line + b"\n", options) for line in lines.split(b"\n")[:-1])
        if left is not None:
            text, left = text[:left], left - len(text[:left])
        if text:
            yield text
        if left == 0:
            return


def _shown(line: bytes, options: LogOptions) -> bytes:
    moment, stream, rest = (
        line[:_TIMESTAMP_CHARACTERS],
        line[_TIMESTAMP_CHARACTERS + 1 : _TIMESTAMP_CHARACTERS + 7],
        line[_TIMESTAMP_CHARACTERS + 8 :],
    )
    if len(stream) < 6 or (options.since and moment.decode("latin-1") < options.since):
        return b""
    text = rest[2:]
    if rest[:1] == b"P":
        text = text.removesuffix(b"\n")
    return b"%s %s" % (moment, text) if options.timestamps else text


async def _lines(path: Path, options: LogOptions, writer: LogWriter | None) -> AsyncGenerator[bytes]:
    """Whole lines of the file, from where the options say to its end, and on from there while it is written."""
    for old in _beginning(path, options.tail):
        yield old
        await asyncio.sleep(0)
    file = path.open("rb")
    try:
        file.seek(_start(path, options.tail))
        while True:
            # Taken before reading: what is written meanwhile sets it.
            changed = None if writer is None or writer.closed else writer.changed
            # Writes are of whole lines, so what was read up to now ends with one.
            while data := file.read(_CHUNK):
                if not data.endswith(b"\n"):
                    data += file.readline()
                yield data
                await asyncio.sleep(0)
            if _was_replaced(file, path):
                file.close()
                file = path.open("rb")
                continue
            if changed is None or not options.follow:
                return
            await changed.wait()
    finally:
        file.close()


def _was_replaced(file: BinaryIO, path: Path) -> bool:
    return os.fstat(file.fileno()).st_ino != path.stat().st_ino


def _beginning(path: Path, tail: int | None) -> list[bytes]:
    """The part of the older file that is wanted."""
    older = _rotated(path)
    if not older.exists():
        return []
    if tail is None:
        return [older.read_bytes()]
    missing = tail - _count(path)
    return [older.read_bytes()[_offset(older, missing) :]] if missing > 0 else []


def _start(path: Path, tail: int | None) -> int:
    return 0 if tail is None else _offset(path, tail)


def _count(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def _offset(path: Path, lines: int) -> int:
    """Where the last so many lines of a file begin."""
    with path.open("rb") as file:
        end = position = file.seek(0, os.SEEK_END)
        if lines <= 0:
            return end
        wanted = lines + 1
        while position > 0:
            size = min(_CHUNK, position)
            position -= size
            file.seek(position)
            data = file.read(size)
            found = data.count(b"\n")
            if found >= wanted:
                at = len(data)
                for _ in range(wanted):
                    at = data.rindex(b"\n", 0, at)
                return position + at + 1
            wanted -= found
    return 0


def last_words(path: Path, *, lines: int = 80, size: int = 2048) -> str:
    """The end of a log, as it goes into the status of a container that failed without a message."""
    try:
        with path.open("rb") as file:
            file.seek(_offset(path, lines))
            text = b"".join(_shown(line, LogOptions()) for line in file)
    except OSError:
        return ""
    return text[-size:].decode(errors="replace")
