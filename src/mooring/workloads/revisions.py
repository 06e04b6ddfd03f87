"""Revisions: the hash that names a template, and the history that an owner keeps of its templates.

A hash follows from the template and from `status.collisionCount`. Two templates may share one; the owner then raises
the count, and the template gets another hash.

The newest revision has the highest number. Going back to an earlier template finds its revision again and gives it the
next number, which is what `kubectl rollout undo` relies on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from mooring.api.apps.views import ControllerRevision
from mooring.api.kinds import HasMeta, Kind, key_of
from mooring.kube.go_json import with_sorted_keys
from mooring.kube.objects import Object
from mooring.runtime.decision import Create, Delete, Patch, Write
from mooring.workloads.kinds import CONTROLLER_REVISION
from mooring.workloads.ownerrefs import controller_reference
from mooring.workloads.podcontrol import ALPHABET

_MAX_BASE_CHARS = 223


def content_hash(content: Any, collisions: int | None) -> str:
    """The hash of some content, the same for equal content in any order of keys."""
    number = 0x811C9DC5
    for byte in msgspec.json.encode((content, collisions), order="sorted"):
        number = (number ^ byte) * 0x01000193 & 0xFFFFFFFF
    return safe_encoded(number)


def safe_encoded(number: int) -> str:
    """A number in the alphabet of generated names, which has no vowels and so spells nothing."""
    return "".join(ALPHABET[ord(digit) % len(ALPHABET)] for digit in str(number))


def template_of(revision: ControllerRevision) -> Object:
    """The pod template that a revision stands for."""
    template = revision.data.get("spec", {}).get("template", {})
    return {name: value for name, value in template.items() if name != "$patch"}


def in_order(revisions: Iterable[ControllerRevision]) -> list[ControllerRevision]:
    """From the oldest to the newest."""
    return sorted(revisions, key=lambda r: (r.revision, r.metadata.creation_timestamp or "", r.metadata.name))


def equal_revision(revisions: Sequence[ControllerRevision], template: Object) -> ControllerRevision | None:
    """The newest revision of this very template."""
    return next((revision for revision in reversed(revisions) if template_of(revision) == template), None)


def next_number(revisions: Iterable[ControllerRevision]) -> int:
    return max((revision.revision for revision in revisions), default=0) + 1


def renumbered(
    revision: ControllerRevision, number: int, *, read_as: Kind[ControllerRevision] = CONTROLLER_REVISION
) -> Patch:
    """Make a revision the newest. `read_as`, here and below, is the kind as its controller declares it."""
    return Patch(read_as, key_of(revision), {"revision": number})


def controller_revision(
    kind: Kind[Any],
    owner: HasMeta,
    suffix: str,
    data: Object,
    number: int,
    *,
    labels: Mapping[str, str],
    annotations: Mapping[str, str] | None = None,
    read_as: Kind[ControllerRevision] = CONTROLLER_REVISION,
) -> Create:
    metadata: Object = {
        "name": f"{owner.metadata.name[:_MAX_BASE_CHARS]}-{suffix}",
        "namespace": owner.metadata.namespace,
        "labels": dict(labels),
        "ownerReferences": [controller_reference(kind, owner)],
    }
    if annotations:
        metadata["annotations"] = dict(annotations)
    return Create(read_as, {"metadata": metadata, "data": with_sorted_keys(data), "revision": number})


def template_revision(
    kind: Kind[Any],
    owner: HasMeta,
    template: Object,
    collisions: int | None,
    number: int,
    *,
    hash_label: str,
    annotations: Mapping[str, str],
) -> Create:
    """The revision of a pod template, labelled as its pods are and with its hash."""
    revision_hash = content_hash(template, collisions)
    labels = {**(template.get("metadata", {}).get("labels") or {}), hash_label: revision_hash}
    data = {"spec": {"template": {**template, "$patch": "replace"}}}
    return controller_revision(kind, owner, revision_hash, data, number, labels=labels, annotations=annotations)


def surplus(
    revisions: Iterable[ControllerRevision],
    is_used: Callable[[ControllerRevision], bool],
    limit: int | None,
    *,
    used_count: bool = False,
    read_as: Kind[ControllerRevision] = CONTROLLER_REVISION,
) -> tuple[Write, ...]:
    """What falls out of a history, oldest first. A revision that is used stays, and counts if `used_count` says so."""
    if limit is None:
        return ()
    history = list(revisions)
    unused = [revision for revision in history if not is_used(revision)]
    excess = len(history if used_count else unused) - limit
    return tuple(Delete(read_as, key_of(old)) for old in unused[: max(0, excess)])
