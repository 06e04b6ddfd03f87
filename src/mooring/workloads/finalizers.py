"""Finalizers: names that keep an object from going until the controller behind each has done its part.

A finalizer is put on in the first stage of a decision, before anything outside is made, and taken off in the last
(`Decision(intent=..., release=...)`), so a crash in between leaves it on and the work is done again. A merge patch
replaces the list of all names, and the resourceVersion that it is based on guards the names of others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mooring.api.kinds import HasMeta, Kind, key_of
from mooring.runtime.decision import Patch

__all__ = ["add_finalizer", "has_finalizer", "remove_finalizer", "with_finalizer", "without_finalizer"]


def has_finalizer(obj: HasMeta, name: str) -> bool:
    return name in obj.metadata.finalizers


def with_finalizer(names: Iterable[str], name: str) -> list[str]:
    """The names with one more; at the end, unless it is among them."""
    return list(dict.fromkeys((*names, name)))


def without_finalizer(names: Iterable[str], name: str) -> list[str] | None:
    """The names without one; None, which removes the field, when none are left."""
    return [each for each in names if each != name] or None


def add_finalizer(kind: Kind[Any], obj: HasMeta, name: str) -> tuple[Patch, ...]:
    """The write that puts a finalizer on; none where it is on, or the object is being deleted and takes none."""
    if has_finalizer(obj, name) or obj.metadata.deleting:
        return ()
    names = with_finalizer(obj.metadata.finalizers, name)
    return (Patch(kind, key_of(obj), {"metadata": {"finalizers": names}}),)


def remove_finalizer(kind: Kind[Any], obj: HasMeta, name: str) -> tuple[Patch, ...]:
    """The write that takes a finalizer off; none where it is not on."""
    if not has_finalizer(obj, name):
        return ()
    names = without_finalizer(obj.metadata.finalizers, name)
    return (Patch(kind, key_of(obj), {"metadata": {"finalizers": names}}),)
