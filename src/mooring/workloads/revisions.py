"""Revisions: the hash that names a template, and the history that a StatefulSet keeps of its templates.

A hash is a short word that follows from the template and from how often such a word was taken already. Two templates
may share one; the count of collisions, kept in status, then moves on to another word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from mooring.api.apps.views import ControllerRevision, StatefulSet
from mooring.api.kinds import key_of
from mooring.kube.objects import Object
from mooring.runtime.decision import Create, Delete, Write
from mooring.workloads.kinds import CONTROLLER_REVISION, STATEFUL_SET
from mooring.workloads.podcontrol import ALPHABET, owner_reference

HASH_LABEL = "controller.kubernetes.io/hash"
_LONGEST_BASE = 223


def content_hash(content: Any, collisions: int | None) -> str:
    """A word for some content, the same for equal content in any order of keys."""
    number = 0x811C9DC5
    for byte in msgspec.json.encode((content, collisions), order="sorted"):
        number = (number ^ byte) * 0x01000193 & 0xFFFFFFFF
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


def new_revision(stateful_set: StatefulSet, number: int) -> Create:
    template = stateful_set.spec.template
    word = content_hash(template, stateful_set.status.collision_count or 0)
    meta = stateful_set.metadata
    metadata: Object = {
        "name": f"{meta.name[:_LONGEST_BASE]}-{word}",
        "namespace": meta.namespace,
        "labels": {**(template.get("metadata", {}).get("labels") or {}), HASH_LABEL: word},
        "ownerReferences": [owner_reference(STATEFUL_SET, stateful_set)],
    }
    if meta.annotations:
        metadata["annotations"] = dict(meta.annotations)
    data = {"spec": {"template": {**template, "$patch": "replace"}}}
    return Create(CONTROLLER_REVISION, {"metadata": metadata, "data": data, "revision": number})


def surplus(revisions: Sequence[ControllerRevision], live: Iterable[str], limit: int | None) -> tuple[Write, ...]:
    """What falls out of the history, oldest first. A revision that a pod still runs stays."""
    if limit is None:
        return ()
    used = set(live)
    history = [revision for revision in revisions if revision.metadata.name not in used]
    return tuple(Delete(CONTROLLER_REVISION, key_of(old)) for old in history[: max(0, len(history) - limit)])
