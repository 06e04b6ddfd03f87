"""The wire format: bytes to JSON-shaped objects, by tables that say what each tag means.

The object that comes out is the one that the same Go object would have become as JSON, since everything behind it was
written for JSON. Protobuf writes empty fields that JSON leaves out, and leaves out lists that JSON shows as null; so a
message begins as what it looks like when empty, and a field says whether its own empty value is shown.

Input is hostile until proven otherwise: no length is believed before it is compared with what is there, nesting is
bounded, and so is the number of parts, because two bytes can stand for a part that takes a kilobyte when unfolded.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from mooring.kube.nesting import DEPTH_LIMIT
from mooring.kube.objects import Object

__all__ = [
    "BYTES",
    "FIXED64",
    "INLINE",
    "KEEP",
    "LIST",
    "MAP",
    "MESSAGE",
    "OMIT",
    "PACKED",
    "VARINT",
    "MalformedProtobuf",
    "Message",
    "Read",
    "WireField",
    "WireReader",
]


VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
_GROUP: Final = 3
_END_GROUP: Final = 4
_FIXED32: Final = 5

_MAX_PARTS: Final = 200_000
_MAX_VARINT_BYTES: Final = 10
_ENTRY_KEY: Final = 1 << 3 | BYTES
_ENTRY_VALUE: Final = 2 << 3 | BYTES


class MalformedProtobuf(Exception):
    """Bytes that are not a message; the text says what is wrong with them."""


# What a field does with its value. Plain numbers: an enum's lookup would cost as much as the decision.
KEEP: Final = 0
# Left out when empty.
OMIT: Final = 1
LIST: Final = 2
MAP: Final = 3
MESSAGE: Final = 4
# A message whose fields stand among those of the one around it.
INLINE: Final = 5
# Many numbers in one field.
PACKED: Final = 6

# Takes the reader, where the value begins and ends, and how deep it is nested.
Read = Callable[["WireReader", int, int, int], Any]


class WireField(NamedTuple):
    mode: int
    key: str
    # For numbers it takes the number; for the others see `Read`.
    read: Callable[..., Any]
    message: "Message | None" = None


class Message:
    """What is known about one type. Fields are found by tag, which is number and wire type in one."""

    __slots__ = ("blank", "name", "structs", "tags")

    def __init__(self, name: str) -> None:
        self.name = name
        self.tags: dict[int, WireField] = {}
        # What is shown when nothing is set; a part that is itself a message is None here and listed below.
        self.blank: Object = {}
        self.structs: list[tuple[str, Read]] = []


class WireReader:
    """Reads one body. Positions are absolute, so nothing is cut out before it is a value."""

    __slots__ = ("_parts", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._parts = _MAX_PARTS

    def message(self, message: Message, pos: int, end: int, depth: int) -> Object:
        out = message.blank.copy()
        self._fill(message, pos, end, depth, out)
        for key, read in message.structs:
            if out[key] is None:
                out[key] = read(self, 0, 0, depth + 1)
        return out

    def _fill(self, message: Message, pos: int, end: int, depth: int, out: Object) -> None:
        self._parts -= 1
        if self._parts < 0:
            raise MalformedProtobuf(f"it has more than {_MAX_PARTS:,} parts")
        if depth > DEPTH_LIMIT:
            raise MalformedProtobuf(f"it is nested more than {DEPTH_LIMIT} deep")
        data, tags = self.data, message.tags
        while pos < end:
            tag = data[pos]
            pos += 1
            if tag >= 0x80:
                tag, pos = self.varint(pos - 1, end)
            field = tags.get(tag)
            if field is None:
                pos = self._unknown(message, tag, pos, end)
                continue
            mode, key, read, _ = field
            wire = tag & 7
            if wire == BYTES:
                start, pos = self.span(pos, end)
                if mode >= MAP:
                    self._put(field, start, pos, depth, out)
                    continue
                value = read(self, start, pos, depth + 1)
            elif wire == VARINT:
                number, pos = self.varint(pos, end)
                value = read(number)
            else:
                if pos + 8 > end:
                    raise _truncated(pos)
                value = read(data[pos : pos + 8])
                pos += 8
            if mode == LIST:
                _append(out, key, value)
            elif value or mode == KEEP:
                out[key] = value
            else:
                # Of a field that is sent twice, the last one counts.
                out.pop(key, None)

    def _put(self, field: WireField, start: int, stop: int, depth: int, out: Object) -> None:
        mode, key, read, message = field
        if mode == MAP:
            self._put_entry(field, start, stop, depth, out)
        elif message is None:
            while start < stop:
                number, start = self.varint(start, stop)
                _append(out, key, read(number))
        elif mode == INLINE:
            self._fill(message, start, stop, depth, out)
        else:
            before = out.get(key)
            if before is None:
                out[key] = self.message(message, start, stop, depth + 1)
            else:
                # Sent twice, a message is merged with what came before.
                self._fill(message, start, stop, depth + 1, before)

    def _put_entry(self, field: WireField, pos: int, end: int, depth: int, out: Object) -> None:
        """An entry of a map is a message of key and value."""
        key, start, stop = "", 0, 0
        data = self.data
        while pos < end:
            tag = data[pos]
            if tag == _ENTRY_KEY:
                begin, pos = self.span(pos + 1, end)
                key = data[begin:pos].decode()
            elif tag == _ENTRY_VALUE:
                start, pos = self.span(pos + 1, end)
                stop = pos
            else:
                tag, pos = self.varint(pos, end)
                if tag >> 3 in (1, 2):
                    raise MalformedProtobuf(f"an entry of {field.key} has wire type {tag & 7}, which is not its own")
                pos = self.skip(tag, pos, end)
        entries = out.get(field.key)
        if entries is None:
            entries = out[field.key] = {}
        entries[key] = field.read(self, start, stop, depth + 2)

    def fields(self, pos: int, end: int, texts: int) -> Iterator[tuple[int, int, int, int]]:
        """The fields of a small message as (number, value, start, stop).

        `texts` has a bit set for each number that must be text, bytes or a message; other numbers up to 3 must be
        integers, and what comes after is for others.
        """
        while pos < end:
            tag, pos = self.varint(pos, end)
            number, wire = tag >> 3, tag & 7
            if number > 3 or number == 0:
                pos = self.skip(tag, pos, end)
                continue
            if wire != (BYTES if texts >> number & 1 else VARINT):
                raise MalformedProtobuf(f"field {number} at byte {pos} has wire type {wire}, which is not its own")
            if wire == BYTES:
                start, pos = self.span(pos, end)
                yield number, 0, start, pos
            else:
                value, pos = self.varint(pos, end)
                yield number, value, pos, pos

    def span(self, pos: int, end: int) -> tuple[int, int]:
        """Where a value with a length begins and ends."""
        if pos >= end:
            raise _truncated(pos)
        length = self.data[pos]
        pos += 1
        if length >= 0x80:
            length, pos = self.varint(pos - 1, end)
        stop = pos + length
        if stop > end:
            raise _truncated(pos)
        return pos, stop

    def varint(self, pos: int, end: int) -> tuple[int, int]:
        """A number, and where it ends."""
        if pos >= end:
            raise _truncated(pos)
        data = self.data
        value = data[pos]
        pos += 1
        if value < 0x80:
            return value, pos
        value &= 0x7F
        for shift in range(7, 7 * _MAX_VARINT_BYTES, 7):
            if pos >= end:
                raise _truncated(pos)
            byte = data[pos]
            pos += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFF_FFFF_FFFF_FFFF, pos
        raise MalformedProtobuf(f"the number that ends at byte {pos} is longer than {_MAX_VARINT_BYTES} bytes")

    def _unknown(self, message: Message, tag: int, pos: int, end: int) -> int:
        """Step over a field that is not in the table; a known one of another wire type is an error."""
        number = tag >> 3
        for wire in (VARINT, FIXED64, BYTES):
            known = message.tags.get(number << 3 | wire)
            if known is not None:
                what = known.key or f"field {number}"
                raise MalformedProtobuf(f"{what} of {message.name} has wire type {tag & 7}, which is not its own")
        return self.skip(tag, pos, end)

    def skip(self, tag: int, pos: int, end: int) -> int:
        """Where the value of a tag ends. Groups have no length; they are stepped through without recursion."""
        open_groups = 0
        while True:
            wire = tag & 7
            if tag >> 3 == 0 or wire > _FIXED32 or (wire == _END_GROUP and not open_groups):
                raise MalformedProtobuf(f"there is no field with tag {tag}, at byte {pos}")
            if wire == VARINT:
                _, pos = self.varint(pos, end)
            elif wire == BYTES:
                _, pos = self.span(pos, end)
            elif wire == _GROUP:
                open_groups += 1
            elif wire == _END_GROUP:
                open_groups -= 1
            else:
                pos += 8 if wire == FIXED64 else 4
            if pos > end:
                raise _truncated(end)
            if not open_groups:
                return pos
            tag, pos = self.varint(pos, end)


def _append(out: Object, key: str, value: Any) -> None:
    items = out.get(key)
    if items is None:
        out[key] = [value]
    else:
        items.append(value)


def _truncated(pos: int) -> MalformedProtobuf:
    return MalformedProtobuf(f"it ends in the middle of a field, at byte {pos}")
