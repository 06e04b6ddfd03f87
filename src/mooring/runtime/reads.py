"""How much of a kind a controller reads: all of it, what a selector or a name finds, single objects, or metadata alone.

Each is a kind of its own, with a store and a watch that receives no more than was declared:

    reads=(POD, selected(CONFIG_MAP, "app=web"), named(SECRET), metadata(SECRET))

The same call gives the same kind each time, so a controller asks its view with what it declared. Whole Secrets cannot
be declared: their values reach a controller by name only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

from mooring.api.kinds import HasMeta, Key, Kind
from mooring.api.meta import Bare
from mooring.client.transport import EVERYTHING, Scope
from mooring.kube.errors import MooringError
from mooring.kube.selectors import Selector, parse_selector

T = TypeVar("T", bound=HasMeta)

_SECRET: Final = ("v1", "Secret")
_single: WeakValueDictionary[tuple[Kind[Any], Key], Kind[Any]] = WeakValueDictionary()


@cache
def selected(kind: Kind[T], labels: str) -> Kind[T]:
    """The objects of a kind that a label selector finds."""
    _selector(labels)
    return replace(kind, labels=labels)


@cache
def everywhere(kind: Kind[T], name: str) -> Kind[T]:
    """The objects of one name, in all namespaces: with one watch, however many namespaces there are."""
    return replace(kind, name=name)


@cache
def named(kind: Kind[T]) -> Kind[T]:
    """Objects of a kind that are asked for by name; each is watched alone, from the moment it is asked for."""
    return replace(kind, by_name=True)


@cache
def metadata(kind: Kind[Any]) -> Kind[Bare]:
    """The metadata of all objects of a kind; nothing else of them is received."""
    return metadata_of(kind.api_version, kind.kind, optional=kind.optional)


def metadata_of(api_version: str, kind: str, *, optional: bool = False) -> Kind[Bare]:
    """The same for a kind that has no other view."""
    return Kind(api_version, kind, Bare, metadata_only=True, optional=optional)


def single(kind: Kind[T], key: Key) -> Kind[T]:
    """The kind that one object of a `named` kind is followed as."""
    found = _single.get((kind, key))
    if found is None:
        found = _single[kind, key] = replace(kind, only=key)
    return found


def scope_of(kind: Kind[Any]) -> Scope:
    """What a list and a watch of a kind ask for."""
    if kind.only is not None:
        return Scope(kind.only.namespace, kind.labels, f"metadata.name={kind.only.name}", kind.metadata_only)
    if kind.labels or kind.name or kind.metadata_only:
        fields = f"metadata.name={kind.name}" if kind.name else ""
        return Scope(labels=kind.labels, fields=fields, metadata_only=kind.metadata_only)
    return EVERYTHING


def is_followed(kind: Kind[Any], name: str, labels: Mapping[str, str]) -> bool:
    """Whether an object of this name, with these labels, is one of those that are followed."""
    if kind.name and kind.name != name:
        return False
    return not kind.labels or _selector(kind.labels).matches(labels)


@cache
def _selector(text: str) -> Selector:
    return parse_selector(text)


def check_reads(controller: str, kinds: Iterable[Kind[Any]]) -> None:
    """Refuse a declaration that would receive the values of all Secrets."""
    for kind in kinds:
        if (kind.api_version, kind.kind) == _SECRET and not (kind.by_name or kind.metadata_only):
            raise MooringError(
                f"{controller} reads whole Secrets; read them by name, with named(), or without their values, "
                "with metadata()"
            )
