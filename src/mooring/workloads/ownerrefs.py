"""Owner references: who manages an object, and the writes by which an owner takes a child or lets it go.

Ownership is one reference on the child, written with the child's resourceVersion as basis: of two owners that want the
same orphan, one loses its write and looks again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from mooring.api.kinds import HasMeta, Kind, key_of
from mooring.api.meta import OwnerRef
from mooring.kube.objects import Object
from mooring.kube.selectors import Selector
from mooring.runtime.decision import Patch

__all__ = [
    "adopt",
    "adopted_references",
    "claims",
    "controller_reference",
    "is_controlled_by",
    "owner_reference",
    "reference_objects",
    "release",
    "released_references",
]


def owner_reference(kind: Kind[Any], owner: HasMeta) -> Object:
    """A reference with which a child goes when its owner goes. An object may have several of them."""
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": owner.metadata.name,
        "uid": owner.metadata.uid,
    }


def controller_reference(kind: Kind[Any], owner: HasMeta) -> Object:
    """The reference to the one owner that manages a child."""
    return {**owner_reference(kind, owner), "controller": True, "blockOwnerDeletion": True}


def is_controlled_by(child: HasMeta, owner: HasMeta) -> bool:
    """Whether an owner manages a child: this very owner, by its uid, and not a namesake."""
    reference = child.metadata.controller
    return reference is not None and reference.uid == owner.metadata.uid


def reference_objects(references: Iterable[OwnerRef]) -> list[Object]:
    """References that were read, as they are written back: a merge patch replaces the list of all."""
    return [{name: value for name, value in msgspec.to_builtins(ref).items() if value} for ref in references]


def adopted_references(child: HasMeta, owner_kind: Kind[Any], owner: HasMeta) -> list[Object]:
    return [*reference_objects(child.metadata.owner_references), controller_reference(owner_kind, owner)]


def released_references(child: HasMeta, owner: HasMeta) -> list[Object] | None:
    """The references of a child without those to an owner; None, which removes the field, when none are left."""
    kept = [reference for reference in child.metadata.owner_references if reference.uid != owner.metadata.uid]
    return reference_objects(kept) or None


def adopt(kind: Kind[Any], child: HasMeta, owner_kind: Kind[Any], owner: HasMeta) -> Patch:
    references = adopted_references(child, owner_kind, owner)
    return Patch(kind, key_of(child), {"metadata": {"ownerReferences": references}})


def release(kind: Kind[Any], child: HasMeta, owner: HasMeta) -> Patch:
    """Let go of a child that the selector does not match any more."""
    return Patch(kind, key_of(child), {"metadata": {"ownerReferences": released_references(child, owner)}})


def claims(
    kind: Kind[Any],
    owner_kind: Kind[Any],
    owner: HasMeta,
    selector: Selector,
    owned: Iterable[HasMeta],
    orphans: Iterable[HasMeta],
) -> tuple[Patch, ...]:
    """The writes that make ownership agree with the selector. An owner that is being deleted claims nothing."""
    if owner.metadata.deleting or selector.empty:
        return ()
    adopted = [adopt(kind, o, owner_kind, owner) for o in orphans if selector.matches(o.metadata.labels)]
    released = [release(kind, o, owner) for o in owned if not selector.matches(o.metadata.labels)]
    return (*adopted, *released)
