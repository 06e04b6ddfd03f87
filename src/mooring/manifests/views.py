"""Reads blocks straight into typed views, leaving out what the views do not declare.

A view names the few fields that are used, so most of an object's text is skipped by indentation. And the pods of one
workload are alike: labels, tolerations, resources and affinity have the same text in every replica. Each such block is
read and type-checked once, and the frozen result is shared, which saves most of the time and most of the memory of a
large snapshot. The outcome equals `convert` of the whole object; a test holds the two together.
"""

from __future__ import annotations

import re
import types
import typing
from functools import cache, cached_property
from typing import Any, Final

import msgspec

from mooring.kube.interning import intern
from mooring.manifests.blocks import BlockReader, Unusual, block_below, entries, is_regular, items
from mooring.manifests.scalars import WORDS
from mooring.manifests.shape_reader import ShapeReader

_NAME = re.compile(r"[a-z][a-z0-9.-]*")
_MAX_MEMO_ENTRIES: Final = 20_000
_MAX_MEMO_CHARACTERS: Final = 4096
_TRIAL_LOOKUPS: Final = 4096


def convert(value: Any, view: Any) -> Any:
    """A plain object as a view. As in Kubernetes, a null counts as absent where the field cannot be null."""
    try:
        return msgspec.convert(value, view)
    except msgspec.ValidationError:
        return msgspec.convert(_without_nulls(value), view)


class TypePlan:
    """How to read one type: a Struct, a tuple of Structs, or a leaf that msgspec checks as a whole."""

    def __init__(self, wanted: Any) -> None:
        self.type = wanted
        self.struct: type[msgspec.Struct] | None = None
        self.spellings: dict[str, Field | None] = {}
        self.item: TypePlan | None = None
        self.memo: dict[str, Any] | None = {}
        self._tries = self._hits = 0
        inner = self.leaf = _without_none(wanted)
        if _is_struct(inner):
            self.struct = inner
        elif typing.get_origin(inner) is tuple and _is_struct(typing.get_args(inner)[0]):
            self.item = TypePlan(typing.get_args(inner)[0])

    @cached_property
    def fields(self) -> dict[str, Field]:
        """By their names in objects. Made when a text has the struct: objects have few of those that may be there."""
        return {} if self.struct is None else {key: (name, TypePlan(kind)) for key, name, kind in _fields(self.struct)}

    def remembered(self, text: str) -> Any:
        """The value that this very text had before, or None. What hardly ever repeats is soon no longer remembered."""
        if self.memo is None:
            return None
        self._tries += 1
        value = self.memo.get(text)
        if value is not None:
            self._hits += 1
        elif self._tries == _TRIAL_LOOKUPS and self._hits * 8 < _TRIAL_LOOKUPS:
            self.memo = None
        return value

    def remember(self, text: str, value: Any) -> None:
        if self.memo is not None and len(text) <= _MAX_MEMO_CHARACTERS:
            intern(self.memo, text, value, _MAX_MEMO_ENTRIES)


@cache
def _fields(struct: type[msgspec.Struct]) -> tuple[tuple[str, str, Any], ...]:
    return tuple((each.encode_name, each.name, each.type) for each in msgspec.structs.fields(struct))


Field = tuple[str, TypePlan]
"""The name of a field in its view, and how to read it."""


class ViewReader:
    """Reads objects as views."""

    def __init__(self) -> None:
        self._blocks = BlockReader()
        self._plans: dict[Any, TypePlan] = {}
        self._shape_readers: dict[tuple[Any, int], tuple[ShapeReader | None, int]] = {}

    def read(self, text: str, indent: int, view: type[msgspec.Struct], more: int | None = None) -> Any:
        """The object with entries at `indent` as a view. Raises Unusual where the general reader must decide.

        `more` is the number of line ends in the text, if the caller has counted them.
        """
        shape = (view, text.count("\n") if more is None else more)
        shape_reader, misses = self._shape_readers.get(shape, (None, 0))
        if shape_reader is not None:
            value = shape_reader.read(text)
            if value is not None:
                if misses:
                    self._shape_readers[shape] = (shape_reader, 0)
                return value
        if not is_regular(text):
            raise Unusual
        plan = self._plans.get(view)
        if plan is None:
            plan = self._plans[view] = TypePlan(view)
        # Objects of which no two are alike would each get a shape reader for nothing.
        if misses < 8 or misses % 64 == 0:
            try:
                shape_reader = ShapeReader(self, text, indent, plan)
            except Unusual:
                pass
            else:
                self._shape_readers[shape] = (shape_reader, misses + 1)
                return shape_reader.value
        self._shape_readers[shape] = (shape_reader, misses + 1)
        return self._struct(text, indent, plan)

    def field_of(self, plan: TypePlan, entry: str, indent: int) -> Field | None:
        """The field that an entry is for, if the view has it."""
        key, _, rest = entry.partition(":")
        try:
            field = plan.spellings[key]
        except KeyError:
            field = self._field_for(plan, key, entry, indent)
        # What is skipped must be whole: a quote left open would go on in lines that look like the next entries.
        if field is None and (entry.count('"') & 1 or entry.count("'") & 1):
            raise Unusual
        if rest[:1] not in " \n" or (not rest and entry[-1] != ":"):
            raise Unusual
        return field

    def _field_for(self, plan: TypePlan, key: str, entry: str, indent: int) -> Field | None:
        try:
            field = plan.fields.get(self._blocks.key(key))
        except Unusual:
            return plan.fields.get(next(iter(self._blocks.odd_entry(entry, indent))))
        if len(plan.spellings) < _MAX_MEMO_ENTRIES:
            plan.spellings[key] = field
        return field

    def scalar(self, text: str, plan: TypePlan) -> Any:
        """The value of a field that has one line."""
        if plan.leaf is str and _NAME.fullmatch(text) and text not in WORDS:
            return text
        return self._leaf(self._blocks.scalar(text), plan)

    def _struct(self, text: str, indent: int, plan: TypePlan) -> Any:
        assert plan.struct is not None
        values: dict[str, Any] = {}
        for entry in entries(text, indent):
            field = self.field_of(plan, entry, indent)
            if field is None:
                continue
            name, inner = field
            rest = entry.partition(":")[2]
            try:
                if rest[:1] == "\n":
                    value = self.block(rest[1:], indent, inner)
                else:
                    value = self._leaf(self._blocks.value(rest, indent), inner)
            except Unusual:
                self._odd_field(plan, entry, indent, values)
                continue
            if value is not None:
                values[name] = value
        return plan.struct(**values)

    def _odd_field(self, plan: TypePlan, entry: str, indent: int, values: dict[str, Any]) -> None:
        # The key may not be what it looked like: in `status:: x` it has a colon at its end.
        for key, plain in self._blocks.odd_entry(entry, indent).items():
            field = plan.fields.get(key)
            if field is not None and plain is not None:
                values[field[0]] = self._leaf(plain, field[1])

    def block(self, text: str, above: int, plan: TypePlan) -> Any:
        """The value of a field that has lines below its key."""
        value = plan.remembered(text)
        if value is not None:
            return value
        inner, indent, is_list = block_below(text, above)
        if plan.struct is not None and not is_list:
            value = self._struct(inner, indent, plan)
        elif plan.item is not None and is_list:
            value = self._tuple(inner, indent, plan.item)
        else:
            plain = self._blocks.list(inner, indent) if is_list else self._blocks.mapping(inner, indent)
            value = self._leaf(plain, plan)
        plan.remember(text, value)
        return value

    def _tuple(self, text: str, indent: int, plan: TypePlan) -> tuple[Any, ...]:
        values = []
        for item in items(text, indent):
            value = plan.remembered(item)
            if value is None:
                value = self._struct(item, indent + 2, plan)
                plan.remember(item, value)
            values.append(value)
        return tuple(values)

    def _leaf(self, value: Any, plan: TypePlan) -> Any:
        if value is None or value.__class__ is plan.leaf:
            return value
        try:
            return convert(value, plan.type)
        except msgspec.ValidationError:
            raise Unusual from None


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _without_none(wanted: Any) -> Any:
    if typing.get_origin(wanted) in (typing.Union, types.UnionType):
        rest = [arm for arm in typing.get_args(wanted) if arm is not type(None)]
        if len(rest) == 1:
            return rest[0]
    return wanted


def _is_struct(wanted: Any) -> bool:
    return isinstance(wanted, type) and issubclass(wanted, msgspec.Struct)
