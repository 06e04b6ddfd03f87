"""The owners of fields after a write: the bookkeeping behind server-side apply.

Versions make it hard. Every manager's fields are in the version in which it last wrote, so whatever is compared with
them is converted to that version first; a version that is served no more takes its manager's claims with it.
"""

from collections.abc import Callable
from typing import NamedTuple

from mooring.kube.apply.compare import FieldComparison, compare
from mooring.kube.apply.errors import ApplyConflict, Conflict
from mooring.kube.apply.fieldsets import (
    LEAF,
    FieldSet,
    covers,
    difference,
    intersection,
    named_fields_as_members,
    paths,
    union,
)
from mooring.kube.apply.managers import Entry, ManagerIdentity, Managers
from mooring.kube.apply.remove import remove_fields
from mooring.kube.apply.typed import field_set
from mooring.kube.objects import Object
from mooring.kube.schemas.model import Schema

__all__ = ["Convert", "Versions", "after_write", "fit_to_schema", "without_dropped"]


# The object in another version with the schema of that version; None when that version is not served.
Convert = Callable[[Object, str], tuple[Object, Schema] | None]


class Versions(NamedTuple):
    """The version in which a write is made, and the way to others."""

    current: str
    schema: Schema
    convert: Convert | None = None

    def at(self, value: Object, version: str) -> tuple[Object, Schema] | None:
        """An object of the current version in another."""
        return self.between(value, self.current, version)

    def between(self, value: Object, source: str, target: str) -> tuple[Object, Schema] | None:
        """An object of one version in another; without a converter all versions are alike."""
        if self.convert is None or (source == target == self.current):
            return value, self.schema
        return self.convert(value, target)


def fit_to_schema(managers: Managers, live: Object, versions: Versions) -> Managers:
    """Claims on parts of what has become atomic are claims on the whole. Claims in lost versions are void."""
    made: Managers = {}
    for identity, entry in managers.items():
        at = versions.at(live, entry.api_version)
        if at is not None:
            made[identity] = entry.owning(_fit(entry.fields, at[1]))
    return made


def _fit(fields: FieldSet, schema: Schema) -> FieldSet:
    made = fields
    for element, node in fields.items():
        if not node or element == ".":
            continue
        if element[0] == "f":
            child = schema.properties.get(element[2:]) or schema.additional_properties
        else:
            child = schema.items
        if child is None:
            continue
        if child.atomic or (child.type == "array" and child.list_type == "atomic"):
            fitted = LEAF
        else:
            fitted = _fit(node, child)
        if fitted is not node:
            if made is fields:
                made = fields.copy()
            made[element] = fitted
    return made


def after_write(
    before: Object,
    after: Object,
    managers: Managers,
    writer: ManagerIdentity | None,
    versions: Versions,
    ignored: FieldSet,
    *,
    force: bool,
    compared: FieldComparison | None = None,
) -> tuple[Managers, FieldComparison]:
    """The managers after a write that led from one object to the other, without the writer's own gains.

    Others lose what was changed or removed; ApplyConflict instead when they would lose a change and `force` is not set.
    `compared` is how the two differ in the current version, where that is known.
    """
    found = {versions.current: compared or compare(versions.schema, before, after, ignored)}
    made: Managers = {}
    conflicts: list[Conflict] = []
    for identity, entry in managers.items():
        if identity == writer:
            made[identity] = entry
            continue
        comparison = found.get(entry.api_version)
        if comparison is None:
            comparison = _compare_at(before, after, entry.api_version, versions, ignored)
            if comparison is None:
                continue
            found[entry.api_version] = comparison
        lost = intersection(entry.fields, comparison.written)
        if lost and not force:
            conflicts += [Conflict(identity, path) for path in paths(lost)]
        rest = difference(difference(entry.fields, lost), comparison.removed)
        if rest:
            made[identity] = entry.owning(rest)
    if conflicts:
        raise ApplyConflict(conflicts)
    return made, found[versions.current]


def _compare_at(
    before: Object, after: Object, version: str, versions: Versions, ignored: FieldSet
) -> FieldComparison | None:
    old, new = versions.at(before, version), versions.at(after, version)
    if old is None or new is None:
        return None
    return compare(new[1], old[0], new[0], ignored)


def without_dropped(merged: Object, managers: Managers, last: Entry | None, now: Entry, versions: Versions) -> Object:
    """The merged object without the fields that its applier applied last time, but not now, and that have no other
    owner.

    `managers` already hold what the applier applies now.
    """
    if last is None or not last.fields:
        return merged
    at = versions.at(merged, last.api_version)
    if at is None:
        return merged
    if last.api_version == versions.current and covers(now.fields, last.fields):
        return merged
    owned: dict[str, FieldSet] = {}
    for entry in managers.values():
        owned[entry.api_version] = union(owned.get(entry.api_version, {}), entry.fields)
    converted, schema = at
    claimed = named_fields_as_members(last.fields, schema)
    everything = _named(schema, converted)
    kept = _KeptBack(converted, everything, remove_fields(schema, converted, claimed) or {}, last.api_version, schema)
    pruned = _add_back_owned(kept, owned, versions)
    gone = difference(everything, _named(schema, pruned))
    pruned = remove_fields(schema, converted, intersection(gone, claimed)) or {}
    back = versions.between(pruned, last.api_version, versions.current)
    return merged if back is None else back[0]


class _KeptBack(NamedTuple):
    """An object, all of its fields, and what is left of it, in some version."""

    whole: Object
    fields: FieldSet
    rest: Object
    version: str
    schema: Schema

    def add_back(self, owned: FieldSet) -> "_KeptBack":
        kept = union(_named(self.schema, self.rest), named_fields_as_members(owned, self.schema))
        rest = remove_fields(self.schema, self.whole, difference(self.fields, kept)) or {}
        return self._replace(rest=rest)

    def moved(self, version: str, versions: Versions) -> "_KeptBack | None":
        whole = versions.between(self.whole, self.version, version)
        rest = versions.between(self.rest, self.version, version)
        if whole is None or rest is None:
            return None
        return _KeptBack(whole[0], _named(whole[1], whole[0]), rest[0], version, whole[1])


def _add_back_owned(kept: _KeptBack, owned: dict[str, FieldSet], versions: Versions) -> Object:
    """Put back the fields that still have an owner, of the version at hand first: conversion may need them."""
    first = kept.version
    for version in sorted(owned, key=lambda each: each != first):
        moved = kept if version == kept.version else kept.moved(version, versions)
        if moved is not None:
            kept = moved.add_back(owned[version])
    back = (kept.rest, kept.schema) if kept.version == first else versions.between(kept.rest, kept.version, first)
    return kept.rest if back is None else back[0]


def _named(schema: Schema, value: Object) -> FieldSet:
    return named_fields_as_members(field_set(schema, value), schema)
