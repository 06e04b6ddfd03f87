"""Server-side apply, and the tracking of fields through all other writes.

`apply` merges what a manager wants into the live object, takes away what it no longer wants, and refuses to change
fields of others unless forced. `update` records who wrote what through create, update and the other patches. Neither
touches metadata.managedFields inside of objects: they take and give the entries beside them.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from mooring.kube.apply.compare import FieldComparison, compare
from mooring.kube.apply.elements import ElementError
from mooring.kube.apply.errors import ApplyConflict, ApplyError
from mooring.kube.apply.fieldsets import LEAF, FieldSet, difference, has_path, recursive_difference, union
from mooring.kube.apply.managers import (
    Entry,
    ManagerIdentity,
    Managers,
    cap_updaters,
    decode_managed,
    encode_managed,
    identify,
)
from mooring.kube.apply.merge import merge
from mooring.kube.apply.ownership import Convert, Versions, after_write, fit_to_schema, without_dropped
from mooring.kube.apply.typed import check_types, equal, field_set
from mooring.kube.apply.update_memo import MAX_ENTRIES, UpdateMemo
from mooring.kube.errors import go_json
from mooring.kube.objects import Object
from mooring.kube.schemas.builtin import empty_object
from mooring.kube.schemas.model import Schema

__all__ = ["Applied", "apply", "update"]

Entries = Sequence[Mapping[str, Any]]

_BEFORE_FIRST_APPLY: Final = "before-first-apply"
_KUBECTL: Final = "kubectl"
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"

_MEMO: Final = UpdateMemo()

# Fields that belong to the API and are never owned by a manager.
_NEVER_OWNED: Final[FieldSet] = {
    "f:apiVersion": LEAF,
    "f:kind": LEAF,
    "f:metadata": {
        ".": LEAF,
        "f:clusterName": LEAF,
        "f:creationTimestamp": LEAF,
        "f:generation": LEAF,
        "f:managedFields": LEAF,
        "f:name": LEAF,
        "f:namespace": LEAF,
        "f:resourceVersion": LEAF,
        "f:selfLink": LEAF,
        "f:uid": LEAF,
    },
}

# What a write through an object, or through one of its sub-resources, cannot change.
_UNREACHED: Final[dict[str, FieldSet]] = {
    "": {"f:status": LEAF},
    "status": {"f:spec": LEAF, "f:metadata": LEAF},
}


class Applied(NamedTuple):
    """The outcome of an apply: the object, the live one itself if nothing changed, and the entries to store with it."""

    object: Object
    managed: list[dict[str, Any]]


def apply(
    live: Object | None,
    applied: Object,
    manager: str,
    schema: Schema,
    managed: Entries | None,
    api_version: str,
    now_text: str,
    force: bool = False,
    subresource: str = "",
    *,
    ignored: FieldSet | None = None,
    convert: Convert | None = None,
) -> Applied:
    """Apply an object as a manager. ApplyConflict when fields of others would change; ApplyError when it is nonsense.

    `live` is None for an object that is not there yet. `ignored` are fields that this write cannot reach; left out,
    they are the status, or, through the status sub-resource, all but the status.
    """
    write = _Write(Versions(api_version, schema, convert), now_text, subresource, _reach(ignored, subresource))
    before = _unmanaged(live or {})
    try:
        managers = decode_managed(managed)
    except ValueError as error:
        raise ApplyError(f"failed to decode managed fields: {error}") from None
    wanted = _checked(applied, schema, api_version)
    try:
        if not managers and live is not None:
            managers = write.updated(_start(schema, before), before, managers, _BEFORE_FIRST_APPLY)
        made = write.applied(before, wanted, managers, manager, force=force)
    except ElementError as error:
        raise ApplyError(f"failed to create typed live object ({_described(before)}): {error}") from None
    return made._replace(object=_with_last_applied(made.object, applied)) if manager == _KUBECTL else made


def update(
    live: Object | None,
    new: Object,
    manager: str,
    schema: Schema,
    managed: Entries | None,
    api_version: str,
    now_text: str,
    subresource: str = "",
    *,
    ignored: FieldSet | None = None,
    convert: Convert | None = None,
) -> list[dict[str, Any]]:
    """The entries after a write other than apply. Never fails: entries that make no sense are given up.

    A writer may set the entries in the new object, and drops them all with an empty list or a list of one empty entry.
    An object whose entries are gone stays without until the next apply.
    """
    write = _Write(Versions(api_version, schema, convert), now_text, subresource, _reach(ignored, subresource))
    memoizable = convert is None and (subresource or _managed(new) in (None, managed))
    if memoizable and live is not None and managed and len(managed) <= MAX_ENTRIES:
        entries = _updated_from_memo(write, live, new, managed, manager)
        if entries is not None:
            return entries
    managers = _requested(new, managed, subresource)
    if not managers and live is not None and live.get("metadata", {}).get("uid"):
        return []
    try:
        before = _start(schema, new) if live is None else _unmanaged(live)
        updated = write.updated(before, _unmanaged(new), managers, manager)
    except ElementError:
        return []
    return encode_managed(cap_updaters(updated))


def _updated_from_memo(
    write: "_Write", live: Object, new: Object, managed: Entries, manager: str
) -> list[dict[str, Any]] | None:
    """The entries after a write of one version, worked out once for all writes of the same shape.

    None when the entries make no sense.
    """
    schema = write.versions.schema
    writer = identify(manager, "Update", write.versions.current, write.subresource)
    before, after = _unmanaged(live), _unmanaged(new)
    try:
        comparison = compare(schema, before, after, write.ignored)
        shape = _MEMO.shape(schema, writer, managed, comparison)
        updated_entries = _MEMO.find(shape)
        if updated_entries is None:
            updated = write.updated(before, after, decode_managed(managed), manager, comparison)
            gained = bool(difference(comparison.written, _NEVER_OWNED))
            updated_entries = _MEMO.add(shape, schema, writer, managed, updated, gained=gained)
    except ElementError:
        return []
    except (AttributeError, TypeError, ValueError):
        return None
    return updated_entries.entries_at(write.now, managed, shape.lists)


class _Write(NamedTuple):
    versions: Versions
    now: str
    subresource: str
    ignored: FieldSet

    def updated(
        self, before: Object, after: Object, managers: Managers, manager: str, compared: FieldComparison | None = None
    ) -> Managers:
        """The managers after an update. What the writer changed it owns, beside what it owned."""
        versions, ignored = self.versions, self.ignored
        managers = fit_to_schema(managers, before, versions)
        made, comparison = after_write(before, after, managers, None, versions, ignored, force=True, compared=compared)
        gained = difference(comparison.written, _NEVER_OWNED)
        if gained:
            identity = identify(manager, "Update", versions.current, self.subresource)
            previous = made.get(identity)
            fields = gained if previous is None else union(gained, previous.fields)
            made[identity] = Entry(fields, versions.current, self.now)
        return made

    def applied(self, before: Object, wanted: Object, managers: Managers, manager: str, *, force: bool) -> Applied:
        versions = self.versions
        identity = identify(manager, "Apply", versions.current, self.subresource)
        claims = fit_to_schema(managers, before, versions)
        last = claims.get(identity)
        fields = recursive_difference(field_set(versions.schema, wanted), self.ignored)
        time = None if last is None else last.time
        claims[identity] = Entry(fields, versions.current, time)
        merged: Object = merge(versions.schema, before, wanted)
        after = without_dropped(merged, claims, last, claims[identity], versions)
        try:
            made, _ = after_write(before, after, claims, identity, versions, self.ignored, force=force)
        except ApplyConflict as error:
            allowed = _allowed(before, versions) if manager == _KUBECTL else {}
            rest = [conflict for conflict in error.conflicts if not has_path(allowed, conflict.path)]
            if rest:
                raise ApplyConflict(rest) from None
            made, _ = after_write(before, after, claims, identity, versions, self.ignored, force=True)
        unchanged = after is before or equal(before, after)
        self._settle(made, identity, last, unchanged=unchanged)
        return Applied(before if unchanged else after, encode_managed(made))

    def _settle(self, managers: Managers, identity: ManagerIdentity, last: Entry | None, *, unchanged: bool) -> None:
        """Give the applier its final entry: without fields of the API, and with a new time if the object changed."""
        fields = difference(managers.pop(identity, Entry({}, "")).fields, _NEVER_OWNED)
        if not fields:
            return
        time = (None if last is None else last.time) if unchanged else self.now
        if (
            last is not None
            and last.fields == fields
            and last.api_version == self.versions.current
            and last.time == time
        ):
            managers[identity] = last
        else:
            managers[identity] = Entry(fields, self.versions.current, time)


def _reach(ignored: FieldSet | None, subresource: str) -> FieldSet:
    return _UNREACHED.get(subresource, {}) if ignored is None else ignored


def _start(schema: Schema, value: Object) -> Object:
    """What an object is before it is created. Its creator does not own the parts that are always there."""
    return empty_object(value.get("apiVersion", ""), value.get("kind", "")) if schema.builtin else {}


def _unmanaged(value: Object) -> Object:
    metadata = value.get("metadata")
    if metadata.__class__ is not dict or "managedFields" not in metadata:
        return value
    return {**value, "metadata": {name: each for name, each in metadata.items() if name != "managedFields"}}


def _managed(value: Object) -> Any:
    metadata = value.get("metadata")
    return metadata.get("managedFields") if metadata.__class__ is dict else None


def _requested(new: Object, managed: Entries | None, subresource: str) -> Managers:
    """The managers that an update starts from: those in the request, if it has any, else those stored."""
    requested = None if subresource else _managed(new)
    if requested is not None and (not requested or requested == [{}]):
        return {}
    for entries in (requested, managed):
        try:
            managers = decode_managed(entries)
        except (AttributeError, TypeError, ValueError):
            continue
        if managers:
            return managers
    return {}


def _checked(applied: Object, schema: Schema, api_version: str) -> Object:
    version = applied.get("apiVersion")
    if version != api_version:
        raise ApplyError(
            "Incorrect version specified in apply patch. "
            f"Specified patch version: {version or ''}, expected: {api_version}",
            400,
        )
    metadata = applied.get("metadata")
    if metadata.__class__ is dict and metadata.get("managedFields") is not None:
        raise ApplyError("metadata.managedFields must be nil", 400)
    errors = check_types(schema, applied)
    if errors:
        text = errors[0] if len(errors) == 1 else "\n  ".join(["errors:", *errors])
        raise ApplyError(f"failed to create typed patch object ({_described(applied)}): {text}")
    return applied


def _described(value: Object) -> str:
    metadata = value.get("metadata")
    if metadata.__class__ is not dict:
        metadata = {}
    group_version = value.get("apiVersion", "")
    return (
        f"{metadata.get('namespace', '')}/{metadata.get('name', '')}; "
        f"{group_version if '/' in group_version else '/' + group_version}, Kind={value.get('kind', '')}"
    )


def _last_applied(value: Object) -> str:
    annotations = (value.get("metadata") or {}).get("annotations") or {}
    text = annotations.get(_LAST_APPLIED)
    return text if isinstance(text, str) else ""


def _allowed(live: Object, versions: Versions) -> FieldSet:
    """The fields that `kubectl apply` last set on the client's side and that still are as it set them.

    kubectl may take these over from its former self without a conflict.
    """
    try:
        applied = json.loads(_last_applied(live))
    except ValueError:
        return {}
    if applied.__class__ is not dict or applied.get("apiVersion") != versions.current:
        return {}
    if check_types(versions.schema, applied):
        return {}
    comparison = compare(versions.schema, applied, live)
    fields = field_set(versions.schema, applied)
    return difference(difference(fields, comparison.written), comparison.removed)


def _with_last_applied(value: Object, applied: Object) -> Object:
    """Keep the annotation of client-side apply current, so that people can go back to it."""
    if not _last_applied(value):
        return value
    metadata = dict(applied.get("metadata") or {})
    if "annotations" in metadata:
        annotations = {name: text for name, text in metadata["annotations"].items() if name != _LAST_APPLIED}
        metadata["annotations"] = annotations
    text = go_json(_sorted({**applied, "metadata": metadata})) + "\n"
    if text == _last_applied(value):
        return value
    live = value["metadata"]
    return {**value, "metadata": {**live, "annotations": {**live["annotations"], _LAST_APPLIED: text}}}


def _sorted(value: Any) -> Any:
    if value.__class__ is dict:
        return {key: _sorted(value[key]) for key in sorted(value)}
    if value.__class__ is list:
        return list(map(_sorted, value))
    return value
