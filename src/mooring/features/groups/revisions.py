"""Revisions of a LeaderWorkerSet: what one group consists of, kept so that an old group can be made again as it was.

A revision holds `leaderWorkerTemplate` and `networkConfig` and nothing else, so a change of anything else rolls
nothing. Every leader pod, workers'
StatefulSet and revision carries the revision hash as the label `template-revision-hash`: two objects with one value
were made from one template.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mooring.api.apps.views import ControllerRevision
from mooring.api.kinds import HasMeta, key_of
from mooring.features.groups.api import NAME, REVISION, UNIQUE_PER_REPLICA, LeaderWorkerSet, LeaderWorkerTemplate
from mooring.features.groups.api import read_template as typed_template
from mooring.features.groups.kinds import GROUP_REVISION, LEADER_WORKER_SET
from mooring.features.groups.revision_data import canonical_data, data_of
from mooring.kube.go_json import go_json, has_sorted_keys
from mooring.kube.objects import Object
from mooring.runtime.decision import Create, Decision, Delete
from mooring.runtime.view import View
from mooring.workloads.revisions import controller_revision, next_number, safe_encoded


class Blueprint(NamedTuple):
    """What a group is made from: a template as it is written and as it is read, and whether it has its own Service."""

    revision_hash: str
    plain: Object
    template: LeaderWorkerTemplate
    subdomain: str

    @property
    def unique_subdomain(self) -> bool:
        """Whether every group has a Service of its own, and with it a DNS subdomain."""
        return self.subdomain == UNIQUE_PER_REPLICA

    @property
    def leader_template(self) -> Object:
        own = self.template.leader_template
        return self.template.worker_template if own is None else own


def data_hash(data: Object, taken: Iterable[str] = ()) -> str:
    """The revision hash of `data`: FNV-1a as upstream computes it, salted until it differs from those in `taken`."""
    used = set(taken)
    text = go_json(data)
    while True:
        number = 0x811C9DC5
        for byte in text:
            number = (number * 0x01000193 & 0xFFFFFFFF) ^ byte
        revision_hash = safe_encoded(number)
        if revision_hash not in used:
            return revision_hash
        text += b" "


def revision_of(obj: HasMeta) -> str:
    """The revision hash on an object's label; empty on an object without one."""
    return obj.metadata.labels.get(REVISION, "")


def blueprint_of(revision: ControllerRevision) -> Blueprint:
    return blueprint_from(revision.data, revision_of(revision))


def blueprint_from(data: Object, revision_hash: str) -> Blueprint:
    spec = data.get("spec", {})
    plain = {name: value for name, value in (spec.get("leaderWorkerTemplate") or {}).items() if name != "$patch"}
    network = spec.get("networkConfig") or {}
    subdomain = network.get("subdomainPolicy") or "Shared"
    return Blueprint(revision_hash, plain, typed_template(plain), subdomain)


def is_revision_of(revision: ControllerRevision, lws: LeaderWorkerSet) -> bool:
    """Whether a revision is one of a set of this name. Those of its StatefulSets carry the same label."""
    named = revision.metadata.labels.get(NAME) == lws.metadata.name
    return named and "leaderWorkerTemplate" in (revision.data.get("spec") or {})


def equal_revision(
    revisions: Sequence[ControllerRevision], lws: LeaderWorkerSet, revision_hash: str = ""
) -> ControllerRevision | None:
    """The newest revision that holds what the set says today; of several, the one with this hash."""
    wanted = data_of(lws)
    equal = [each for each in reversed(revisions) if canonical_data(each.data) == wanted]
    return next((each for each in equal if revision_of(each) == revision_hash), equal[0] if equal else None)


def new_revision(lws: LeaderWorkerSet, revisions: Sequence[ControllerRevision], revision_hash: str = "") -> Create:
    """A revision of today's set; with the hash that its StatefulSet carries if that revision was deleted."""
    data = data_of(lws)
    number = next_number(revisions)
    revision_hash = revision_hash or data_hash(data, map(revision_of, revisions))
    labels = {NAME: lws.metadata.name, REVISION: revision_hash}
    return controller_revision(
        LEADER_WORKER_SET, lws, f"{revision_hash}-{number}", data, number, labels=labels, read_as=GROUP_REVISION
    )


def rewrite_unsorted(view: View, lws: LeaderWorkerSet, revisions: Iterable[ControllerRevision]) -> Decision | None:
    """Replace the revisions whose keys are not sorted by sorted copies; None where all are.

    Early versions of Mooring wrote such revisions, and a real API server refuses every change of them (see `go_json`):
    they can be neither adopted nor orphaned. The copy of a set that is being deleted has no owner, as if orphaned.
    """
    unsorted = [each for each in revisions if not has_sorted_keys(each.data)]
    if not unsorted:
        return None
    copies = [_sorted_copy(lws, each) for each in unsorted]
    missing = tuple(copy for copy in copies if view.get(GROUP_REVISION, *copy.key) is None)
    # A revision is deleted when its copy exists, for groups may have to be made from it.
    return Decision(intent=missing, children=tuple(Delete(GROUP_REVISION, key_of(each)) for each in unsorted))


def _sorted_copy(lws: LeaderWorkerSet, revision: ControllerRevision) -> Create:
    suffix = f"{revision_of(revision)}-{revision.revision}-sorted"
    made = controller_revision(
        LEADER_WORKER_SET,
        lws,
        suffix,
        revision.data,
        revision.revision,
        labels=revision.metadata.labels,
        read_as=GROUP_REVISION,
    )
    if lws.metadata.deleting:
        del made.object["metadata"]["ownerReferences"]
    return made
