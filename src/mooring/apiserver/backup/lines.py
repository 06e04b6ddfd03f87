"""A backup as lines of JSON: a header, one line for each object, and a last line by which the rest can be checked.

The last line has the number of objects and a hash of everything before it, so a backup that was cut or changed is
noticed. The version in the header says how to read the lines; the data version says how to read the objects, as that
of a database does.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object

__all__ = ["BackupCheck", "BackupError", "Header", "StoredObject", "backup_lines", "read_objects"]

FORMAT: Final = "mooring-backup"
VERSION: Final = 1
# Lines are sent together until they are so long.
_PIECE_BYTES: Final = 256 * 1024

_encode: Final = msgspec.json.Encoder().encode


class BackupError(MooringError):
    """A backup that cannot be used; the text is one line for people."""


class StoredObject(NamedTuple):
    store: str
    namespace: str
    name: str
    object: Object


class Header(msgspec.Struct, frozen=True, rename="camel"):
    """`files` are keys and tokens of the cluster by their paths in its folder."""

    revision: int
    data_version: int
    created: str
    mooring: str
    format: str = FORMAT
    version: int = VERSION
    files: dict[str, bytes] = {}


class _Trailer(msgspec.Struct, frozen=True):
    objects: int
    sha256: str


def backup_lines(header: Header, objects: Sequence[StoredObject]) -> Iterator[bytes]:
    """A backup in pieces of some lines each. Objects are encoded when their piece is asked for."""
    hashed = hashlib.sha256()
    piece = bytearray(_encode(header) + b"\n")
    for stored in objects:
        piece += _encode(stored) + b"\n"
        if len(piece) >= _PIECE_BYTES:
            hashed.update(piece)
            yield bytes(piece)
            piece.clear()
    hashed.update(piece)
    yield bytes(piece) + _encode(_Trailer(len(objects), hashed.hexdigest())) + b"\n"


class BackupCheck:
    """Looks at a backup line by line as it comes: `add` every line, and `end` after the last one."""

    def __init__(self, data_version: int) -> None:
        self.header: Header | None = None
        self.objects = 0
        self._data_version = data_version
        self._hashed = hashlib.sha256()
        self._trailer: _Trailer | None = None

    def add(self, line: bytes) -> StoredObject | None:
        """The object that the line holds, if it holds one."""
        if self._trailer is not None:
            raise BackupError("something follows after its end")
        if self.header is None:
            self.header = _read_header(line, self._data_version)
        elif line.startswith(b"["):
            self._hashed.update(line)
            self.objects += 1
            return _read_object(line, self.objects, self.header)
        else:
            self._end(line)
            return None
        self._hashed.update(line)
        return None

    def _end(self, line: bytes) -> None:
        try:
            self._trailer = msgspec.json.decode(line, type=_Trailer)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise BackupError(f"line {self.objects + 2} cannot be read") from None
        if self._trailer.objects != self.objects or self._trailer.sha256 != self._hashed.hexdigest():
            raise BackupError("it is not as it was written: its checksum is wrong")

    def end(self) -> Header:
        if self.header is None or self._trailer is None:
            raise BackupError("its end is missing")
        return self.header


def read_objects(lines: Iterable[bytes], data_version: int) -> Iterator[StoredObject]:
    """The objects of a backup. BackupError as soon as something is wrong with it, at the latest at its end."""
    check = BackupCheck(data_version)
    for line in lines:
        if (stored := check.add(line)) is not None:
            yield stored
    check.end()


def _read_header(line: bytes, data_version: int) -> Header:
    try:
        found: Any = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise BackupError("it is no backup of Mooring")
    for what, known in (("version", VERSION), ("dataVersion", data_version)):
        given = found.get(what)
        if isinstance(given, int) and given > known:
            named = "backup version" if what == "version" else "data version"
            raise BackupError(
                f"it was made by a newer Mooring ({named} {given}, this one knows {known}); restore it with that one"
            )
    try:
        return msgspec.json.decode(line, type=Header)
    except msgspec.MsgspecError as error:
        raise BackupError(f"its first line cannot be read: {error}") from None


def _read_object(line: bytes, number: int, header: Header) -> StoredObject:
    try:
        stored: StoredObject = msgspec.json.decode(line, type=StoredObject)
        if 0 < int(stored.object["metadata"]["resourceVersion"]) <= header.revision:
            return stored
        why = "its resourceVersion is not one of this backup"
    except (msgspec.MsgspecError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        why = str(error)
    raise BackupError(f"line {number + 1} holds no object: {why}")
