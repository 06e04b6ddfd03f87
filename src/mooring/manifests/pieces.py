"""A piece of a List as kubectl prints it in YAML, made to look like a whole one."""

from __future__ import annotations

from typing import IO, Final, NamedTuple

MIN_SIZE: Final = 64 << 20
"""Below this, starting processes takes longer than it saves."""

OPENING: Final = b"apiVersion: v1\nitems:\n"
NEXT_ITEM: Final = b"\n- "
_ENDING: Final = b"\nkind: List\n"


class Piece(NamedTuple):
    """Items of a file from one offset to another."""

    start: int
    end: int
    is_last: bool


class PieceStream:
    """A piece as a stream of a complete List. `items` counts what has been read of them."""

    def __init__(self, file: IO[bytes], piece: Piece) -> None:
        self._file = file
        self._left = piece.end - piece.start
        self._opening = OPENING
        # The last piece brings the ending of the file itself.
        self._ending = b"" if piece.is_last else _ENDING
        self._tail = b""
        self.items = 1
        file.seek(piece.start)

    def read(self, size: int) -> bytes:
        if self._opening:
            opening, self._opening = self._opening, b""
            return opening + self._content(size)
        content = self._content(size)
        if not content:
            content, self._ending = self._ending, b""
        return content

    def _content(self, size: int) -> bytes:
        content = self._file.read(min(size, self._left))
        self._left -= len(content)
        # The start of an item may lie across two reads.
        seen = self._tail + content
        self.items += seen.count(NEXT_ITEM)
        self._tail = seen[-len(NEXT_ITEM) + 1 :] if content else b""
        return content
