"""Reads an object by comparing it with an object of the same shape that was read before.

Most of the pods in a cluster have the same shape: the same keys in the same lines, with other values in a dozen of
them. A shape reader is made from one such object: its lines, the field of each line, and the views built from them. The
next object is split into lines and compared, which takes a few microseconds; only the fields whose lines differ are
read again, and only the views that hold them are built again. All other views are shared.

A line may differ in the value behind its key and in nothing else, so that the shape, and with it the meaning of every
other line, is certain to be the same.
"""

from __future__ import annotations

import re
from itertools import compress
from operator import ne
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mooring.manifests.blocks import Unusual, block_below, entries, items

if TYPE_CHECKING:
    from mooring.manifests.views import TypePlan, ViewReader

MAX_DIFFERENT: Final = 80
"""With more lines than this to look at, reading the object the usual way is no slower."""

_LONG_LIST: Final = 8
_SKIPPED: Final = -1
_FIXED: Final = -2
_LINE_HEAD = re.compile(r" *(?:- )*(?:[A-Za-z0-9_./-]+: )?")
_SIMPLE = re.compile(r'[A-Za-z0-9/](?:[A-Za-z0-9._/:@,+=-]*[A-Za-z0-9])?|"[A-Za-z0-9._/:@,+=-]*"')
_SIMPLE_LINE = re.compile(rf"(?:{_SIMPLE.pattern})(?=\n|\Z)")


class _Slot(NamedTuple):
    """A field that is read as a whole: its lines, and the part it belongs to."""

    part: int
    name: str
    plan: TypePlan
    first: int
    end: int
    indent: int
    is_block: bool


class _Step(NamedTuple):
    """A stretch of text that is always the same, and the value after it: of a line, or of so many lines of a block."""

    stretch: str
    owner: int
    size: int
    margin: str
    usual: str


class _Part:
    """A view, or a tuple of views, with the values it was built from and its place in the part above."""

    def __init__(self, struct: Any, parent: int, key: Any) -> None:
        self.struct, self.parent, self.key = struct, parent, key
        self.values: dict[Any, Any] = {}

    def build(self, values: dict[Any, Any]) -> Any:
        return tuple(values.values()) if self.struct is tuple else self.struct(**values)


class ShapeReader:
    """The shape of one object. Raises Unusual when the object has something that cannot be compared by lines."""

    def __init__(self, reader: ViewReader, text: str, indent: int, plan: TypePlan) -> None:
        self._reader = reader
        self._lines = text.split("\n")
        self._owners = [_FIXED] * len(self._lines)
        self._slots: list[_Slot] = []
        self._parts: list[_Part] = []
        self._take_apart(text, indent, plan, 0, -1, None)
        self._heads = list(map(self._head, self._lines, self._owners))
        self._varying: set[int] = set()
        self._steps: list[_Step] = []
        self._tail = ""
        for number in range(len(self._parts) - 1, -1, -1):
            part = self._parts[number]
            self.value = part.build(part.values)
            if part.parent >= 0:
                self._parts[part.parent].values[part.key] = self.value

    @staticmethod
    def _head(line: str, owner: int) -> str | None:
        """What must not differ in a line; None where nothing may."""
        found = _LINE_HEAD.match(line)
        if found is None or owner == _FIXED or (owner == _SKIPPED and not _SIMPLE.fullmatch(line, found.end())):
            return None
        return found[0]

    def read(self, text: str) -> Any:
        """The view for another text of the same shape; None where the shape is not the same."""
        changes = self._follow(text)
        if changes is None:
            changes = self._compare(text)
        try:
            return None if changes is None else self._rebuild(changes)
        except Unusual:
            return None

    def _compare(self, text: str) -> list[tuple[int, str]] | None:
        """The slots that differ and their text, found line by line; what differs here is expected to from now on."""
        lines = text.split("\n")
        if len(lines) != len(self._lines):
            return None
        different = list(compress(range(len(lines)), map(ne, lines, self._lines)))
        if len(different) > MAX_DIFFERENT:
            return None
        for number in different:
            head = self._heads[number]
            if head is None or not lines[number].startswith(head):
                return None
            if self._owners[number] == _SKIPPED and not _SIMPLE.fullmatch(lines[number], len(head)):
                return None
        self._plan_steps(self._varying.union(different))
        numbers = dict.fromkeys(self._owners[number] for number in different if self._owners[number] != _SKIPPED)
        return [(number, self._slot_text(lines, self._slots[number])) for number in numbers]

    def _slot_text(self, lines: list[str], slot: _Slot) -> str:
        if slot.is_block:
            return "\n".join(lines[slot.first : slot.end])
        return lines[slot.first][len(self._heads[slot.first] or "") :]

    def _plan_steps(self, varying: set[int]) -> None:
        """Lays out the text as stretches that are always the same, each followed by a value that is not."""
        if len(varying) > MAX_DIFFERENT or varying == self._varying:
            return
        self._varying = varying
        self._steps = []
        stretch, line = "", 0
        for number in sorted(varying):
            if number < line:
                continue
            owner = self._owners[number]
            slot = None if owner == _SKIPPED else self._slots[owner]
            start = slot.first if slot is not None and slot.is_block else number
            stretch += "".join(text + "\n" for text in self._lines[line:start])
            if slot is not None and slot.is_block:
                first = self._lines[start]
                margin = first[: len(first) - len(first.lstrip(" "))]
                usual = self._slot_text(self._lines, slot)
                self._steps.append(_Step(stretch, owner, slot.end - start, margin, usual))
                line = slot.end
            else:
                head = self._heads[number] or ""
                self._steps.append(_Step(stretch + head, owner, 0, "", self._lines[number][len(head) :]))
                line = number + 1
            stretch = "\n"
        self._tail = "\n" + "\n".join(self._lines[line:]) if line < len(self._lines) else ""

    def _follow(self, text: str) -> list[tuple[int, str]] | None:
        """What `_compare` finds, where only lines differ that have differed before; most of the text is one compare."""
        if not self._steps:
            return None
        position, changes = 0, []
        for stretch, owner, count, margin, usual in self._steps:
            if not text.startswith(stretch, position):
                return None
            position += len(stretch)
            if owner == _SKIPPED:
                found = _SIMPLE_LINE.match(text, position)
                if found is None:
                    return None
                position = found.end()
                continue
            end = text.find("\n", position) if count < 2 else _block_end(text, position, count, margin)
            end = len(text) if end < 0 else end
            if count == 1 and not text.startswith(margin, position):
                return None
            value = text[position:end]
            if value != usual:
                changes.append((owner, value))
            position = end
        return changes if text[position:] == self._tail else None

    def _rebuild(self, changes: list[tuple[int, str]]) -> Any:
        parts = self._parts
        changed: dict[int, dict[Any, Any]] = {}
        for number, text in changes:
            part, name, plan, _, _, indent, is_block = self._slots[number]
            value = self._reader.block(text, indent, plan) if is_block else self._reader.scalar(text, plan)
            if value is None:
                raise Unusual
            if part not in changed:
                changed[part] = parts[part].values.copy()
            changed[part][name] = value
        for number in range(len(parts) - 1, 0, -1):
            if number in changed:
                part_of = parts[number]
                if part_of.parent not in changed:
                    changed[part_of.parent] = parts[part_of.parent].values.copy()
                changed[part_of.parent][part_of.key] = part_of.build(changed[number])
        return parts[0].build(changed[0]) if changed else self.value

    def _take_apart(self, text: str, indent: int, plan: TypePlan, line: int, parent: int, key: Any) -> None:
        number = len(self._parts)
        self._parts.append(_Part(plan.struct, parent, key))
        for entry in entries(text, indent):
            end = line + entry.count("\n") + 1
            field = self._reader.field_of(plan, entry, indent)
            if field is None:
                self._owners[line:end] = [_SKIPPED] * (end - line)
            else:
                self._take_field(entry, indent, field, line, end, number)
            line = end

    def _take_field(
        self, entry: str, indent: int, field: tuple[str, TypePlan], line: int, end: int, number: int
    ) -> None:
        name, plan = field
        _, _, rest = entry.partition(":")
        if name in self._parts[number].values or any(
            part.parent == number and part.key == name for part in self._parts
        ):
            raise Unusual
        if rest[:1] == "\n" and (plan.struct or plan.item):
            text, inner, is_list = block_below(rest[1:], indent)
            if plan.struct and not is_list:
                self._take_apart(text, inner, plan, line + 1, number, name)
                return
            if plan.item and is_list and len(items(text, inner)) <= _LONG_LIST:
                position = line + 1
                group = len(self._parts)
                self._parts.append(_Part(tuple, number, name))
                for index, item in enumerate(items(text, inner)):
                    self._parts[group].values[index] = None
                    self._take_apart(item, inner + 2, plan.item, position, group, index)
                    position += item.count("\n") + 1
                return
        is_block = rest[:1] == "\n"
        if is_block:
            value = self._reader.block(rest[1:], indent, plan)
            # The key stands alone on its line, and must go on doing so.
            line += 1
        elif end == line + 1 and rest[:1] == " ":
            value = self._reader.scalar(rest[1:], plan)
        else:
            raise Unusual
        if value is not None:
            self._owners[line:end] = [len(self._slots)] * (end - line)
            self._slots.append(_Slot(number, name, plan, line, end, indent, is_block))
            self._parts[number].values[name] = value


def _block_end(text: str, position: int, count: int, margin: str) -> int:
    """Where so many lines from here end, if all are indented as a block must be; otherwise here."""
    end = position - 1
    for _ in range(count):
        if end >= len(text) or not text.startswith(margin, end + 1):
            return position
        end = text.find("\n", end + 1)
        if end < 0:
            end = len(text)
    return end
