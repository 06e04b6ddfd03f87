"""What all controllers of pods share: stamping pods out, claiming them by selector, and saying what changed.

Ownership is one owner reference on the pod, written with the pod's resourceVersion as basis: of two owners that want
the same orphan, one loses its write and looks again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from mooring.api.conditions import condition_objects
from mooring.api.core.types import View as Struct
from mooring.api.core.views import Pod
from mooring.api.kinds import HasMeta, Kind, key_of
from mooring.api.meta import OwnerRef
from mooring.kube.objects import Object
from mooring.kube.selectors import Selector
from mooring.kube.times import moment
from mooring.runtime.decision import Patch, status
from mooring.runtime.view import View

# Writes of one kind in one decision; more follow when these have been seen.
BURST = 500
# No vowels and no digits that look like letters, so that a name never spells a word.
ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


def owner_reference(kind: Kind[Any], owner: HasMeta) -> Object:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": owner.metadata.name,
        "uid": owner.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def pod_from_template(kind: Kind[Any], owner: HasMeta, template: Object, name: str) -> Object:
    """A pod as its owner's template says. The spec is shared with the template and must not be changed in place."""
    stamped = template.get("metadata", {})
    # People and tools take the prefix for a sign of whose pod it is.
    metadata: Object = {
        "name": name,
        "generateName": f"{owner.metadata.name}-",
        "namespace": owner.metadata.namespace,
    }
    for field in ("labels", "annotations"):
        if stamped.get(field):
            metadata[field] = dict(stamped[field])
    if stamped.get("finalizers"):
        metadata["finalizers"] = list(stamped["finalizers"])
    metadata["ownerReferences"] = [owner_reference(kind, owner)]
    return {"metadata": metadata, "spec": template.get("spec", {})}


def child_suffix(uid: str, slot: int) -> str:
    """Five characters that follow from an owner and a slot, so that deciding again gives the same name."""
    number = int.from_bytes(hashlib.blake2b(f"{uid}/{slot}".encode(), digest_size=8).digest())
    letters = []
    for _ in range(5):
        number, letter = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[letter])
    return "".join(letters)


def is_available(view: View, pod: Pod, min_ready_seconds: int) -> bool:
    """Ready for long enough; if it is not yet, the key runs again when it will be."""
    readiness = pod.readiness
    if readiness is None or readiness.status != "True":
        return False
    if min_ready_seconds <= 0:
        return True
    if readiness.last_transition_time is None:
        return False
    return view.reached(moment(readiness.last_transition_time) + timedelta(seconds=min_ready_seconds))


def adopt(kind: Kind[Any], child: HasMeta, owner_kind: Kind[Any], owner: HasMeta) -> Patch:
    references = [*reference_objects(child.metadata.owner_references), owner_reference(owner_kind, owner)]
    return Patch(kind, key_of(child), {"metadata": {"ownerReferences": references}})


def release(kind: Kind[Any], child: HasMeta, owner: HasMeta) -> Patch:
    """Let go of a child that the selector does not match any more."""
    kept = [reference for reference in child.metadata.owner_references if reference.uid != owner.metadata.uid]
    return Patch(kind, key_of(child), {"metadata": {"ownerReferences": reference_objects(kept) or None}})


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


def reference_objects(references: Sequence[OwnerRef]) -> list[Object]:
    return [{name: value for name, value in msgspec.to_builtins(ref).items() if value} for ref in references]


def status_change(
    kind: Kind[Any], obj: HasMeta, old: Struct, new: Struct, always: Sequence[str] = ()
) -> tuple[Patch, ...]:
    """A patch of what differs in a status, or nothing. Zeros are left out as the API leaves them out, save `always`."""
    if old == new:
        return ()
    before, after = msgspec.to_builtins(old), msgspec.to_builtins(new)
    body: Object = {}
    for name, value in after.items():
        if name == "conditions":
            value = condition_objects(getattr(new, name), complete=True)
        if name in always:
            body[name] = value
        elif before[name] != after[name]:
            body[name] = value or None
    return (status(kind, obj, body),)


def portion(value: int | str, total: int, *, up: bool) -> int:
    """An absolute number, or a percentage of a total, rounded up or down."""
    if isinstance(value, int):
        return value
    percent = int(value.removesuffix("%"))
    return -(-percent * total // 100) if up else percent * total // 100
