"""A document while operations change it.

An object or a list is copied before its first change and changed in place from then on, so that ten thousand operations
on one list copy it once. What the draft has not copied belongs to others: the document before, the patch itself.
"""

from typing import Any, Final

from mooring.kube.errors import go_quote
from mooring.kube.nesting import DEPTH_LIMIT, TOO_DEEP
from mooring.kube.patches.errors import PatchError

__all__ = ["MISSING", "Draft", "PositionError", "holder_of", "member_of"]

MISSING: Final = object()
# The real server's. Thirty copies of an object into itself would otherwise make a billion of one.
_MAX_COPIED_BYTES: Final = 3 * 1024 * 1024
# Every element behind an inserted or a removed one moves by a place. So many take a tenth of a second; an object of
# the largest size and as many operations as are allowed would take ten.
_MAX_MOVED_ELEMENTS: Final = 50_000_000
# More digits than any position has; Go reads no more into a number either.
_MAX_DIGITS: Final = 18


class PositionError(Exception):
    """A position that the list does not have, in the API's words."""


class _NotANumberError(PositionError):
    """A position that is not a number."""


class Draft:
    def __init__(self, document: Any) -> None:
        self.document = document
        # The copies by their ids; kept here, so that no id is used again.
        self._own: dict[int, Any] = {}
        # What all operations have cost so far: elements of lists that moved, bytes that were copied.
        self._moved = self._copied = 0

    def container(self, path: str, missing: str) -> tuple[Any, str]:
        """What the last part of a path is in, ready to be changed, and that part; PatchError where it is missing."""
        parts = _parts(path)
        if not parts or not isinstance(self.document, dict | list):
            raise PatchError(missing)
        where = self.document = self._owned(self.document)
        for part in parts[:-1]:
            inner = _step(where, part)
            if not isinstance(inner, dict | list):
                raise PatchError(missing)
            owned = self._owned(inner)
            if owned is not inner:
                self.put(where, part, owned)
            where = owned
        return where, parts[-1]

    def _owned(self, container: Any) -> Any:
        if id(container) in self._own:
            return container
        copy = container.copy()
        self._own[id(copy)] = copy
        return copy

    def put(self, where: Any, key: str, value: Any) -> None:
        where[key if isinstance(where, dict) else _position(key, len(where))] = value

    def insert(self, where: Any, key: str, value: Any) -> None:
        if isinstance(where, dict):
            where[key] = value
        elif key == "-":
            where.append(value)
        else:
            try:
                index = _position(key, len(where) + 1)
            except _NotANumberError as error:
                raise PositionError(f"value was not a proper array index: '{key}': {error}") from None
            self._move(len(where) - index)
            where.insert(index, value)

    def remove(self, where: Any, key: str) -> None:
        if isinstance(where, dict):
            if key not in where:
                raise PositionError(f"Unable to remove nonexistent key: {key}: missing value")
            del where[key]
        else:
            index = _position(key, len(where))
            self._move(len(where) - index)
            del where[index]

    def count_copy(self, size: int) -> None:
        """Count the bytes of a copied value; PatchError where all copies together are too many."""
        self._copied += size
        if self._copied > _MAX_COPIED_BYTES:
            raise PatchError(
                f"Unable to complete the copy, the accumulated size increase of copy is {self._copied}, "
                f"exceeding the limit {_MAX_COPIED_BYTES}"
            )

    def _move(self, elements: int) -> None:
        self._moved += elements
        if self._moved > _MAX_MOVED_ELEMENTS:
            raise PatchError(
                f"the operations of the JSON patch move more than {_MAX_MOVED_ELEMENTS} elements of lists; "
                "replace the list as a whole",
                413,
            )


def _parts(path: str) -> list[str]:
    if path.count("/") > DEPTH_LIMIT:
        raise PatchError(TOO_DEEP, 400)
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def holder_of(document: Any, path: str) -> tuple[Any, str]:
    """The container that the last part of the path is in, or MISSING."""
    parts = _parts(path)
    if not parts:
        return MISSING, ""
    where = document
    for part in parts[:-1]:
        where = _step(where, part)
    return (where if isinstance(where, dict | list) else MISSING), parts[-1]


def member_of(where: Any, key: str) -> Any:
    """MISSING where an object has no such key, PositionError where a list has no such position."""
    return where.get(key, MISSING) if isinstance(where, dict) else where[_position(key, len(where))]


def _step(where: Any, part: str) -> Any:
    if isinstance(where, dict | list):
        try:
            return member_of(where, part)
        except PositionError:
            pass
    return MISSING


def _position(key: str, length: int) -> int:
    digits = key[1:] if key[:1] in ("+", "-") else key
    if not (digits.isdecimal() and digits.isascii()):
        raise _NotANumberError(f"strconv.Atoi: parsing {go_quote(key)}: invalid syntax")
    if len(digits) > _MAX_DIGITS:
        raise _NotANumberError(f"strconv.Atoi: parsing {go_quote(key)}: value out of range")
    index = int(key)
    if not -length <= index < length:
        raise PositionError(f"Unable to access invalid index: {index}: invalid index referenced")
    return index % length if length else index
