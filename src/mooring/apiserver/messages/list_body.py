"""The body of a list, encoded while it is sent: in pieces of so many bytes, however large the objects are.

A piece is what other requests wait for, and what a client that reads nothing leaves in memory.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from mooring.kube.objects import Object

__all__ = ["ListBody"]

# Half a millisecond of encoding; a piece is longer by one object at most. OpenSSL keeps a buffer of the longest that it
# has sent on a connection, for as long as that lasts.
_PIECE_BYTES: Final = 64 * 1024
# Objects that are made into rows of a table at a time.
_SLICE_OBJECTS: Final = 50
# Of the items in an indented list.
_INDENT: Final = b"\n    "

_encode = msgspec.json.Encoder().encode


class ListBody:
    """`head` is the list up to and with the bracket of its items. `transform` turns stored objects into items."""

    def __init__(
        self,
        head: bytes,
        items: Sequence[Object],
        transform: Callable[[Sequence[Object]], Sequence[Object]],
        *,
        indented: bool = False,
    ) -> None:
        self._head, self._items, self._transform = head, items, transform
        self._indented = indented

    def indented(self) -> "ListBody":
        """The same for a person to read."""
        return ListBody(self._head, self._items, self._transform, indented=True)

    def __iter__(self) -> Iterator[bytes]:
        head, end = self._ends()
        encode = _encode_indented if self._indented else _encode
        piece = bytearray(head)
        comma = b""
        for start in range(0, len(self._items), _SLICE_OBJECTS):
            for item in self._transform(self._items[start : start + _SLICE_OBJECTS]):
                piece += comma
                piece += encode(item)
                comma = b","
                if len(piece) >= _PIECE_BYTES:
                    yield bytes(piece)
                    piece.clear()
        yield bytes(piece + end)

    def _ends(self) -> tuple[bytes, bytes]:
        """What is before the first item and behind the last."""
        if not self._indented:
            return self._head, b"]}"
        empty = msgspec.json.format(self._head + b"]}", indent=2)
        return empty[: -len(b"]\n}")], b"\n  ]\n}" if self._items else b"]\n}"


def _encode_indented(item: Object) -> bytes:
    # A line break in a string is escaped, so each one is the indentation's.
    return _INDENT + msgspec.json.format(_encode(item), indent=2).replace(b"\n", _INDENT)
