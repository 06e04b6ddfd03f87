"""The entries of metadata.managedFields: who owns which fields, through which operation, version and sub-resource.

An applier is one manager whatever version it applies in; an updater is another manager for each version. Entries that
a write does not touch keep the very dict they were read from.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from mooring.kube.apply.fieldsets import FieldSet, decode_fields, encode_fields, union
from mooring.kube.errors import go_json, go_quote

__all__ = [
    "Entry",
    "ManagerIdentity",
    "Managers",
    "cap_updaters",
    "decode_managed",
    "encode_managed",
    "entry_order",
    "identify",
    "identity_of",
    "printed",
]

# Beyond this many updaters, the oldest are merged into one.
_MAX_UPDATERS: Final = 10
_ANCIENT: Final = "ancient-changes"


class ManagerIdentity(NamedTuple):
    """What makes a manager: name, operation, version (of updaters only) and sub-resource."""

    manager: str
    operation: str
    api_version: str
    subresource: str

    @property
    def spelt(self) -> str:
        """The text by which the API sorts managers."""
        parts = {"manager": self.manager, "operation": self.operation, "apiVersion": self.api_version}
        parts["subresource"] = self.subresource
        return go_json({name: value for name, value in parts.items() if value})


class Entry(NamedTuple):
    """The fields of one manager, in the version in which it last wrote."""

    fields: FieldSet
    api_version: str
    time: str | None = None
    source: dict[str, Any] | None = None

    def owning(self, fields: FieldSet) -> "Entry":
        """The same manager with other fields."""
        return self if fields is self.fields else Entry(fields, self.api_version, self.time)


Managers = dict[ManagerIdentity, Entry]


def identify(manager: str, operation: str, api_version: str, subresource: str) -> ManagerIdentity:
    return ManagerIdentity(manager or "unknown", operation, "" if operation == "Apply" else api_version, subresource)


def identity_of(entry: Mapping[str, Any]) -> ManagerIdentity:
    """Whose entry it is."""
    operation = entry.get("operation") or ""
    version = "" if operation == "Apply" else entry.get("apiVersion") or ""
    return ManagerIdentity(entry.get("manager") or "", operation, version, entry.get("subresource") or "")


def decode_managed(entries: Iterable[Mapping[str, Any]] | None) -> Managers:
    """The managers of an object. ValueError, in the API's words, for an entry that makes no sense."""
    managers: Managers = {}
    for index, entry in enumerate(entries or ()):
        operation = entry.get("operation")
        if operation not in ("Apply", "Update"):
            raise ValueError("operation must be `Apply` or `Update`")
        api_version = entry.get("apiVersion") or ""
        if not api_version:
            raise ValueError("apiVersion must not be empty")
        fields_type = entry.get("fieldsType") or ""
        if not fields_type:
            raise ValueError(f"missing fieldsType in managed fields entry {index}")
        if fields_type != "FieldsV1":
            raise ValueError(f"invalid fieldsType {go_quote(fields_type)} in managed fields entry {index}")
        identity = identity_of(entry)
        source = entry if isinstance(entry, dict) else dict(entry)
        managers[identity] = Entry(decode_fields(entry.get("fieldsV1") or {}), api_version, entry.get("time"), source)
    return managers


def encode_managed(managers: Managers) -> list[dict[str, Any]]:
    """The entries for an object, appliers first, then by time and name."""
    return sorted((_encoded(identity, entry) for identity, entry in managers.items()), key=entry_order)


def entry_order(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The order of entries in an object."""
    text = (entry.get(name) or "" for name in ("operation", "time", "manager", "apiVersion", "subresource"))
    return tuple(text)


def _encoded(identity: ManagerIdentity, entry: Entry) -> dict[str, Any]:
    if entry.source is not None:
        return entry.source
    made: dict[str, Any] = {
        "manager": identity.manager,
        "operation": identity.operation,
        "apiVersion": entry.api_version,
    }
    if entry.time is not None:
        made["time"] = entry.time
    made |= {"fieldsType": "FieldsV1", "fieldsV1": encode_fields(entry.fields)}
    if identity.subresource:
        made["subresource"] = identity.subresource
    return made


def cap_updaters(managers: Managers) -> Managers:
    """The managers with the oldest updaters of each version merged, so that no more than ten are left."""
    updaters = [identity for identity in managers if identity.operation == "Update"]
    excess = len(updaters) - _MAX_UPDATERS
    if excess <= 0:
        return managers
    made = managers.copy()
    first: dict[str, ManagerIdentity] = {}
    for identity in sorted(updaters, key=lambda each: (managers[each].time or "", each.spelt)):
        if excess <= 0:
            break
        entry = made[identity]
        bucket = ManagerIdentity(_ANCIENT, "Update", entry.api_version, "")
        if entry.api_version not in first:
            first[entry.api_version] = identity
            continue
        if bucket not in made:
            made[bucket] = made.pop(first[entry.api_version])
        merged = union(entry.fields, made[bucket].fields)
        made.pop(identity)
        made[bucket] = Entry(merged, entry.api_version, entry.time)
        excess -= 1
    return made


def printed(identity: ManagerIdentity) -> str:
    """The manager as messages name it: `"kubectl-client-side-apply" using apps/v1`."""
    text = go_quote(identity.manager)
    if identity.subresource:
        text = f"{text} with subresource {go_quote(identity.subresource)}"
    return f"{text} using {identity.api_version}" if identity.operation == "Update" else text
