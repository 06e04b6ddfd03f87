"""Turns an object as a transport has it into the typed view that controllers see.

JSON from the wire is read straight into the view and never made into dicts. The thousands of pods that come from one
template have labels, containers and tolerations in common: parts that are equal are kept once, which more than halves
what a cluster weighs.
"""

from __future__ import annotations

import types
import typing
from operator import attrgetter
from typing import Any, Final, Generic, NamedTuple, TypeVar

import msgspec

from mooring.api.kinds import HasMeta, Key, Kind
from mooring.client.transport import Item
from mooring.kube.errors import MooringError
from mooring.kube.interning import intern
from mooring.kube.objects import Object

T = TypeVar("T", bound=HasMeta)

_MAX_FINGERPRINTS: Final = 20_000
_TRIAL_OBJECTS: Final = 4096
_fingerprint: Final = msgspec.json.Encoder().encode
_set: Final = msgspec.structs.force_setattr


class ObservedObject(NamedTuple):
    """An object as it was seen at one version."""

    key: Key
    version: int
    view: Any


class Unreadable(MooringError):
    """An object that does not have the shape of its kind."""


class _Version(msgspec.Struct):
    resourceVersion: str = "0"


class _Versioned(msgspec.Struct):
    metadata: _Version


_read_version: Final = msgspec.json.Decoder(_Versioned).decode


def version_of(item: Item) -> int:
    """The version of an object, or of the bookmark that looks like one."""
    if isinstance(item, dict):
        return int(item["metadata"].get("resourceVersion", "0"))
    return int(_read_version(item).metadata.resourceVersion)


class ObjectReader(Generic[T]):
    def __init__(self, kind: Kind[T]) -> None:
        self._kind = kind
        self._decode = msgspec.json.Decoder(kind.view).decode
        self._sharing: _Sharing | None = None

    def read(self, item: Item) -> ObservedObject:
        """An object as it was observed. Raises Unreadable where a field has a type that it cannot have."""
        if isinstance(item, dict):
            return self._from_object(item)
        try:
            view = self._decode(item)
            version = version_of(item)
        except (msgspec.DecodeError, ValueError):
            # A null where a value must be counts as absent, and is rare enough to be dealt with slowly.
            return self._from_object(msgspec.json.decode(item))
        if self._sharing is None:
            self._sharing = _Sharing(self._kind.view)
        self._sharing.share(view)
        meta = view.metadata
        return ObservedObject(Key(meta.namespace, meta.name), version, view)

    def _from_object(self, obj: Object) -> ObservedObject:
        try:
            try:
                view = msgspec.convert(obj, self._kind.view)
            except msgspec.ValidationError:
                view = msgspec.convert(_without_nulls(obj), self._kind.view)
            meta = obj["metadata"]
            version = int(meta.get("resourceVersion", "0"))
            return ObservedObject(Key(meta.get("namespace", ""), meta["name"]), version, view)
        except (msgspec.ValidationError, ValueError, KeyError, TypeError) as error:
            raise Unreadable(f"a {self._kind} cannot be read: {error}") from None


class _Field:
    """The values that one field has had, found by themselves if they are texts and by their JSON if they are not."""

    __slots__ = ("hits", "is_text", "name", "values")

    def __init__(self, name: str, is_text: bool) -> None:
        self.name, self.is_text = name, is_text
        self.values: dict[Any, Any] = {}
        self.hits = 0


class _Part:
    """A struct of the view (metadata, spec, status) and those of its fields that are worth sharing."""

    def __init__(self, name: str, fields: list[_Field]) -> None:
        self.name = name
        self.fields = fields
        names = [field.name for field in fields]
        # With one name an attrgetter gives the value itself.
        self.values_of = attrgetter(*names) if len(names) > 1 else lambda part: [getattr(part, name) for name in names]


class _Sharing:
    """Replaces the parts of new views, which no reader has yet, by equal ones of earlier views.

    A field that hardly ever repeats is tried for a while and then left alone.
    """

    def __init__(self, view: type[Any]) -> None:
        self._parts: list[_Part] = []
        for field in msgspec.structs.fields(view):
            if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
                inner = [(each.name, _without_none(each.type)) for each in msgspec.structs.fields(field.type)]
                fields = [_Field(name, kind is str) for name, kind in inner if kind not in (int, float, bool)]
                self._parts.append(_Part(field.name, fields))
        self._reads = 0

    def share(self, view: Any) -> None:
        self._reads += 1
        if self._reads == _TRIAL_OBJECTS:
            worth = [
                (part.name, [field for field in part.fields if field.hits * 8 > _TRIAL_OBJECTS]) for part in self._parts
            ]
            self._parts = [_Part(name, fields) for name, fields in worth if fields]
        for part in self._parts:
            struct = getattr(view, part.name)
            for field, value in zip(part.fields, part.values_of(struct), strict=True):
                if not value:
                    continue
                key = value if field.is_text else _fingerprint(value)
                found = field.values.get(key)
                if found is None:
                    intern(field.values, key, value, _MAX_FINGERPRINTS)
                elif found is not value:
                    field.hits += 1
                    _set(struct, field.name, found)


def _without_none(wanted: Any) -> Any:
    """The type of a field that may be absent."""
    if typing.get_origin(wanted) in (typing.Union, types.UnionType):
        rest = [arm for arm in typing.get_args(wanted) if arm is not type(None)]
        return rest[0] if len(rest) == 1 else wanted
    return wanted


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
