"""Objects to rows and rows to objects.

Ten thousand pods of one template differ in a few fields. Of what is read, parts with the same text are decoded once and
are one part in memory, which is safe because stored objects are never mutated.
"""

from collections.abc import Callable
from typing import Any, Final
from zlib import crc32

import msgspec

from mooring.kube.interning import intern
from mooring.kube.objects import Object

__all__ = ["INSERT", "ObjectDecoder", "Row", "checksum", "encode"]

# Revision, store, namespace, name, value and checksum.
Row = tuple[int, str, str, str, bytes | None, int]
INSERT: Final = "INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?)"


encode: Final[Callable[[Any], bytes]] = msgspec.json.Encoder().encode

_SECTIONS: Final = frozenset({"metadata", "spec", "status"})
_MAX_PARTS: Final = 65_536
# Longer texts are hardly ever the same twice, and keys this long would cost more than they save.
_MAX_PART_BYTES: Final = 8192


def checksum(store: str, namespace: str, name: str, value: bytes | None) -> int:
    key = f"{store}/{namespace}/{name}".encode()
    return crc32(key if value is None else value, 0 if value is None else crc32(key))


class ObjectDecoder:
    """Decodes objects that were stored; parts with the same text become one."""

    def __init__(self) -> None:
        self._parts: dict[bytes, Any] = {}
        self._fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
        self._items = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])
        self._any = msgspec.json.Decoder()

    def decode(self, value: bytes) -> Object:
        made: Object = {}
        for key, raw in self._fields.decode(value).items():
            text = bytes(raw)
            if key not in _SECTIONS or not text.startswith(b"{"):
                made[key] = self._part(text)
                continue
            fields = self._fields.decode(text)
            managers = fields.pop("managedFields", None) if key == "metadata" else None
            section = made[key] = self._parts_of(fields)
            if managers is not None:
                # Entries differ in their times, and hardly in the fields that they list.
                section["managedFields"] = [self._parts_of(entry) for entry in self._items.decode(managers)]
        return made

    def _parts_of(self, fields: dict[str, msgspec.Raw]) -> Object:
        known = self._parts
        made: Object = {}
        for key, raw in fields.items():
            text = bytes(raw)
            part = known.get(text)
            made[key] = self._part(text) if part is None else part
        return made

    def _part(self, text: bytes) -> Any:
        found = self._parts.get(text)
        if found is None:
            found = self._any.decode(text)
            if len(text) <= _MAX_PART_BYTES:
                intern(self._parts, text, found, _MAX_PARTS)
        return found
