"""Revisions of a LeaderWorkerSet: what one group consists of, kept so that an old group can be made again as it was.

A revision holds `leaderWorkerTemplate` and `networkConfig` and nothing else, so a change of anything else rolls
nothing. Its word is a label on all that is made from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mooring.api.apps.views import ControllerRevision
from mooring.api.kinds import HasMeta
from mooring.features.groups.api import NAME, REVISION, UNIQUE_PER_REPLICA, LeaderWorkerSet, LeaderWorkerTemplate
from mooring.features.groups.api import read_template as typed_template
from mooring.features.groups.kinds import LEADER_WORKER_SET
from mooring.features.groups.revision_data import canonical_data, data_of
from mooring.kube.go_json import go_json
from mooring.kube.objects import Object
from mooring.runtime.decision import Create
from mooring.workloads.revisions import controller_revision, next_number, safe_encoded


class Blueprint(NamedTuple):
    """What a group is made from: a template as it is written and as it is read, and whether it has its own Service."""

    word: str
    plain: Object
    template: LeaderWorkerTemplate
    subdomain: str

    @property
    def apart(self) -> bool:
        return self.subdomain == UNIQUE_PER_REPLICA

    @property
    def leader_template(self) -> Object:
        own = self.template.leader_template
        return self.template.worker_template if own is None else own


def word_of(data: Object, taken: Iterable[str] = ()) -> str:
    """A short word for what a revision holds, other than the words that stand for something else."""
    used = set(taken)
    text = go_json(data)
    while True:
        number = 0x811C9DC5
        for byte in text:
            number = (number * 0x01000193 & 0xFFFFFFFF) ^ byte
        word = safe_encoded(number)
        if word not in used:
            return word
        text += b" "


def label_of(obj: HasMeta) -> str:
    """The word of the revision that something was made from."""
    return obj.metadata.labels.get(REVISION, "")


def blueprint_of(revision: ControllerRevision) -> Blueprint:
    return blueprint_from(revision.data, label_of(revision))


def blueprint_from(data: Object, word: str) -> Blueprint:
    spec = data.get("spec", {})
    plain = {name: value for name, value in (spec.get("leaderWorkerTemplate") or {}).items() if name != "$patch"}
    network = spec.get("networkConfig") or {}
    subdomain = network.get("subdomainPolicy") or "Shared"
    return Blueprint(word, plain, typed_template(plain), subdomain)


def is_revision_of(revision: ControllerRevision, lws: LeaderWorkerSet) -> bool:
    """Whether a revision is one of a set of this name. Those of its StatefulSets carry the same label."""
    named = revision.metadata.labels.get(NAME) == lws.metadata.name
    return named and "leaderWorkerTemplate" in (revision.data.get("spec") or {})


def equal_revision(
    revisions: Sequence[ControllerRevision], lws: LeaderWorkerSet, word: str = ""
) -> ControllerRevision | None:
    """The newest revision that holds what the set says today; of several, the one of this word."""
    wanted = data_of(lws)
    equal = [each for each in reversed(revisions) if canonical_data(each.data) == wanted]
    return next((each for each in equal if label_of(each) == word), equal[0] if equal else None)


def new_revision(lws: LeaderWorkerSet, revisions: Sequence[ControllerRevision], word: str = "") -> Create:
    """A revision of today's set; with the word that its StatefulSet carries if its own revision got lost."""
    data = data_of(lws)
    number = next_number(revisions)
    word = word or word_of(data, map(label_of, revisions))
    labels = {NAME: lws.metadata.name, REVISION: word}
    return controller_revision(LEADER_WORKER_SET, lws, f"{word}-{number}", data, number, labels=labels)
