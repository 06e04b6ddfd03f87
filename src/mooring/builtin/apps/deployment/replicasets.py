"""The ReplicaSets of a Deployment: one per template, found by comparing templates and numbered in an annotation.

Going back to an earlier template finds its set again and gives it the newest number, so a rollback is a rollout like
any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mooring.api.apps.views import Deployment, ReplicaSet
from mooring.api.kinds import key_of
from mooring.builtin.apps.deployment.scaling import max_surge
from mooring.kube.objects import Object
from mooring.runtime.decision import Create, Delete, Patch, Write
from mooring.workloads.incarnations import RECORD
from mooring.workloads.kinds import DEPLOYMENT, REPLICA_SET
from mooring.workloads.ownerrefs import controller_reference
from mooring.workloads.revisions import content_hash

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MAXIMUM = "deployment.kubernetes.io/max-replicas"
# These belong to the object they are on.
_NOT_COPIED = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "deprecated.deployment.rollback.to",
        REVISION,
        HISTORY,
        DESIRED,
        MAXIMUM,
        RECORD,
    }
)
_MAX_HISTORY_CHARS = 2000
_MAX_NAME_CHARS = 253


class Sets(NamedTuple):
    """The set of today's template, if there is one, and the others from the oldest to the youngest."""

    new: ReplicaSet | None
    old: tuple[ReplicaSet, ...]

    @property
    def all(self) -> tuple[ReplicaSet, ...]:
        return self.old if self.new is None else (*self.old, self.new)

    @property
    def active(self) -> tuple[ReplicaSet, ...]:
        return tuple(one for one in self.all if one.spec.replicas > 0)


def by_age(sets: Iterable[ReplicaSet]) -> list[ReplicaSet]:
    return sorted(sets, key=lambda one: (one.metadata.creation_timestamp or "", one.metadata.name))


def sort_out(deployment: Deployment, owned: Iterable[ReplicaSet]) -> Sets:
    ordered = by_age(owned)
    wanted = _bare(deployment.spec.template)
    new = next((one for one in ordered if _bare(one.spec.template) == wanted), None)
    return Sets(new, tuple(one for one in ordered if one is not new))


def _bare(template: Object) -> Object:
    """A template without the hash that was added to it."""
    metadata = template.get("metadata") or {}
    labels = {name: value for name, value in (metadata.get("labels") or {}).items() if name != HASH_LABEL}
    return {**template, "metadata": {**{k: v for k, v in metadata.items() if v is not None}, "labels": labels}}


def revision_of(replica_set: ReplicaSet) -> int:
    text = replica_set.metadata.annotations.get(REVISION, "")
    return int(text) if text.isdecimal() else 0


def next_revision(sets: Sets) -> int:
    return max((revision_of(one) for one in sets.old), default=0) + 1


def size_notes(deployment: Deployment) -> dict[str, str]:
    """What a set remembers of its Deployment's size, so that a later change of size is noticed."""
    replicas = deployment.spec.replicas
    return {DESIRED: str(replicas), MAXIMUM: str(replicas + max_surge(deployment))}


def new_set(deployment: Deployment, sets: Sets, replicas: int) -> Create:
    """The set for today's template."""
    meta, spec = deployment.metadata, deployment.spec
    word = content_hash(spec.template, deployment.status.collision_count)
    stamped = spec.template.get("metadata") or {}
    labels = {**(stamped.get("labels") or {}), HASH_LABEL: word}
    selector = dict(spec.selector or {})
    selector["matchLabels"] = {**(selector.get("matchLabels") or {}), HASH_LABEL: word}
    body: Object = {
        "replicas": replicas,
        "selector": selector,
        "template": {**spec.template, "metadata": {**stamped, "labels": labels}},
    }
    if spec.min_ready_seconds:
        body["minReadySeconds"] = spec.min_ready_seconds
    metadata: Object = {
        "name": f"{meta.name[: _MAX_NAME_CHARS - 1 - len(word)]}-{word}",
        "namespace": meta.namespace,
        "labels": dict(labels),
        "annotations": {**_copied(deployment), REVISION: str(next_revision(sets)), **size_notes(deployment)},
        "ownerReferences": [controller_reference(DEPLOYMENT, deployment)],
    }
    return Create(REPLICA_SET, {"metadata": metadata, "spec": body})


def _copied(deployment: Deployment) -> dict[str, str]:
    return {name: value for name, value in deployment.metadata.annotations.items() if name not in _NOT_COPIED}


def edits_of_new(deployment: Deployment, sets: Sets) -> Object:
    """What the set of today's template lacks of its Deployment: annotations, its number, the time to be ready."""
    if sets.new is None:
        return {}
    has = sets.new.metadata.annotations
    notes = {name: value for name, value in _copied(deployment).items() if has.get(name) != value}
    number = next_revision(sets)
    if revision_of(sets.new) < number:
        notes[REVISION] = str(number)
        if REVISION in has:
            notes[HISTORY] = _history(has.get(HISTORY, ""), has[REVISION])
    edits: Object = {"metadata": {"annotations": notes}} if notes else {}
    if sets.new.spec.min_ready_seconds != deployment.spec.min_ready_seconds:
        edits["spec"] = {"minReadySeconds": deployment.spec.min_ready_seconds}
    return edits


def _history(history: str, number: str) -> str:
    numbers = [*history.split(","), number] if history else [number]
    while len(",".join(numbers)) > _MAX_HISTORY_CHARS:
        numbers.pop(0)
    return ",".join(numbers)


def scaled(deployment: Deployment, replica_set: ReplicaSet, size: int, edits: Object) -> tuple[Patch, ...]:
    """One patch for a set's new size together with other edits, or nothing."""
    body = {name: dict(value) for name, value in edits.items()}
    if size != replica_set.spec.replicas:
        body.setdefault("spec", {})["replicas"] = size
    has = replica_set.metadata.annotations
    notes = {name: value for name, value in size_notes(deployment).items() if has.get(name) != value}
    if notes:
        metadata = body.setdefault("metadata", {})
        metadata["annotations"] = {**metadata.get("annotations", {}), **notes}
    return (Patch(REPLICA_SET, key_of(replica_set), body),) if body else ()


def surplus_sets(deployment: Deployment, old: Sequence[ReplicaSet]) -> tuple[Write, ...]:
    """Old sets beyond the history limit, lowest number first; one that has or may have pods stays."""
    limit = deployment.spec.revision_history_limit
    if limit is None:
        return ()
    alive = [one for one in old if not one.metadata.deleting]
    ranked = sorted(alive, key=lambda one: (revision_of(one), one.metadata.creation_timestamp or "", one.metadata.name))
    return tuple(
        Delete(REPLICA_SET, key_of(one))
        for one in ranked[: max(0, len(alive) - limit)]
        if one.spec.replicas == 0
        and one.status.replicas == 0
        and one.status.observed_generation >= one.metadata.generation
    )
