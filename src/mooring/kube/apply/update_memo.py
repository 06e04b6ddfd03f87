"""Memo of managedFields after updates: updates of the same shape give the same entries, apart from their times.

A controller writes the same fields of an object over and over, and thousands of objects of one template are written in
the same way. The entries after a write follow from the entries before it, the changed fields and the writer; computing
them each time would be the larger half of a status write. The memo is bounded.

Items of a list are told apart by what they hold, and addresses are different in every pod. So the names of items in a
list that is new and has no owned fields are left open, and filled in for each write.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from mooring.kube.apply.compare import FieldComparison
from mooring.kube.apply.fieldsets import FieldSet, encode_fields
from mooring.kube.apply.managers import ManagerIdentity, Managers, entry_order, identity_of
from mooring.kube.interning import intern
from mooring.kube.schemas.model import Schema

__all__ = ["MAX_ENTRIES", "UpdateMemo", "UpdatedEntries"]

# Beyond this many entries their times decide which of them are merged.
MAX_ENTRIES: Final = 9
_MAX_CACHED: Final = 1024

_encode: Final = msgspec.json.Encoder().encode


class _UpdatedEntry(NamedTuple):
    """One entry of the outcome. `origin` is the place of the entry it comes from, -1 for a new one."""

    origin: int
    identity: ManagerIdentity
    api_version: str
    # None for an entry that stays the very one it was.
    fields: dict[str, Any] | None
    # Whether its time is that of the write.
    fresh: bool


class NewList(NamedTuple):
    """A list that came as a whole: the way to it, and its items in order."""

    path: tuple[str, ...]
    items: tuple[str, ...]


Lists = tuple[NewList, ...]


class UpdateShape(NamedTuple):
    """What determines the entries after an update, and the new lists whose item names are left open."""

    key: tuple[int, bytes]
    lists: Lists


class UpdatedEntries(NamedTuple):
    """The entries after an update, times aside. `lists` are the new lists of the update that they were computed for."""

    schema: Schema
    entries: tuple[_UpdatedEntry, ...]
    lists: Lists

    def entries_at(self, now: str, before: Sequence[Mapping[str, Any]], lists: Lists) -> list[dict[str, Any]]:
        """The entries, given those before the write and the lists that it makes."""
        made = [self._entry(entry, now, before, lists) for entry in self.entries]
        return sorted(made, key=entry_order) if len(made) > 1 else made

    def _entry(
        self, entry: _UpdatedEntry, now: str, before: Sequence[Mapping[str, Any]], lists: Lists
    ) -> dict[str, Any]:
        origin = before[entry.origin] if entry.origin >= 0 else None
        if origin is not None and entry.fields is None:
            return origin if isinstance(origin, dict) else dict(origin)
        identity = entry.identity
        made: dict[str, Any] = {
            "manager": identity.manager,
            "operation": identity.operation,
            "apiVersion": entry.api_version,
        }
        time = now if entry.fresh else (origin or {}).get("time")
        if time is not None:
            made["time"] = time
        made["fieldsType"] = "FieldsV1"
        made["fieldsV1"] = entry.fields if lists == self.lists else self._filled(entry.fields or {}, lists)
        if identity.subresource:
            made["subresource"] = identity.subresource
        return made

    def _filled(self, fields: FieldSet, lists: Lists) -> FieldSet:
        for (path, learnt), (_, items) in zip(self.lists, lists, strict=True):
            fields = _renamed(fields, path, dict(zip(learnt, items, strict=True)))
        return fields


def _renamed(fields: FieldSet, path: tuple[str, ...], names: dict[str, str]) -> FieldSet:
    """A set with other names for the items of the list at the end of the path, if it holds any."""
    if not path:
        return {names.get(element, element): node for element, node in fields.items()}
    node = fields.get(path[0])
    return {**fields, path[0]: _renamed(node, path[1:], names)} if node else fields


def _new_lists(fields: FieldSet, path: tuple[str, ...] = ()) -> Iterator[NewList]:
    for element, node in fields.items():
        if not node:
            continue
        items = [each for each in node if each[:2] == "k:"] if "." in node else ()
        if items:
            yield NewList((*path, element), tuple(sorted(items)))
        else:
            yield from _new_lists(node, (*path, element))


def _holds(fields: Any, path: tuple[str, ...]) -> bool:
    """Whether a set says anything at all about what is at the end of the path."""
    for element in path:
        if fields.__class__ is not dict or element not in fields:
            return False
        fields = fields[element]
    return True


class UpdateMemo:
    """The entries after updates, by the shape of the update."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes], UpdatedEntries] = {}

    def shape(
        self, schema: Schema, writer: ManagerIdentity, before: Sequence[Mapping[str, Any]], comparison: FieldComparison
    ) -> UpdateShape:
        entries = [
            [each.get(name) for name in ("manager", "operation", "apiVersion", "subresource", "fieldsType", "fieldsV1")]
            for each in before
        ]
        lists = tuple(
            each
            for each in _new_lists(comparison.added)
            if not any(_holds(entry.get("fieldsV1"), each.path) for entry in before)
        )
        added = comparison.added
        for path, items in lists:
            added = _renamed(added, path, {item: str(number) for number, item in enumerate(items)})
        return UpdateShape(
            (id(schema), _encode((writer, entries, comparison.removed, comparison.modified, added))), lists
        )

    def find(self, shape: UpdateShape) -> UpdatedEntries | None:
        return self._known.get(shape.key)

    def add(
        self,
        shape: UpdateShape,
        schema: Schema,
        writer: ManagerIdentity,
        before: Sequence[Mapping[str, Any]],
        after: Managers,
        *,
        gained: bool,
    ) -> UpdatedEntries:
        """Keep the entries after an update. The schema is kept alive, because its id is part of the key."""
        origins = {identity_of(entry): place for place, entry in enumerate(before)}
        entries = []
        for identity, entry in after.items():
            origin = origins.get(identity, -1)
            fields = None if entry.source is not None else encode_fields(entry.fields)
            if fields is not None and origin >= 0 and fields == before[origin].get("fieldsV1"):
                # The fields of the entry from before are shared, so that the storage need not compare them.
                fields = before[origin].get("fieldsV1")
            entries.append(_UpdatedEntry(origin, identity, entry.api_version, fields, gained and identity == writer))
        return intern(self._known, shape.key, UpdatedEntries(schema, tuple(entries), shape.lists), _MAX_CACHED)
