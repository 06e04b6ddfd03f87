"""The revisions of a DaemonSet: one per template it has had, numbered; pods carry the hash of theirs.

Going back to an earlier template finds its revision again and gives it the newest number, which is what
`kubectl rollout undo` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import NamedTuple

from msgspec.structs import replace

from mooring.api.apps.daemonsets import DaemonSet, DaemonSetStatus
from mooring.api.apps.views import ControllerRevision
from mooring.api.core.views import Pod
from mooring.api.kinds import key_of
from mooring.kube.times import moment
from mooring.runtime.decision import Create, Decision, Delete, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.incarnations import without_record
from mooring.workloads.kinds import CONTROLLER_REVISION, DAEMON_SET, POD, REVISION_LABEL
from mooring.workloads.podcontrol import status_change
from mooring.workloads.revisions import in_order, next_number, renumbered, surplus, template_of, template_revision

# These are written even where they are zero.
ALWAYS = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")

# A real controller does not look at a revision that is added at all; it finds the twin when something else happens.
TWIN_DELAY = timedelta(seconds=10)


class DaemonSetHistory(NamedTuple):
    """The revision of today's template, by its hash, and all others from the oldest to the newest."""

    hash: str
    old: Sequence[ControllerRevision]


def read_history(view: View, daemon_set: DaemonSet, pods: Iterable[Pod]) -> DaemonSetHistory | Decision:
    """The history, or what has to be written for today's template to be the newest in it."""
    revisions = in_order(view.owned(CONTROLLER_REVISION, daemon_set))
    if unnamed := [revision for revision in revisions if not _hash(revision)]:
        # Adopted from somewhere that did not label them.
        return Decision(intent=tuple(_labelled(r, r.metadata.name) for r in unnamed))
    template = daemon_set.spec.template
    current = [revision for revision in revisions if template_of(revision) == template]
    old = [revision for revision in revisions if revision not in current]
    number = next_number(old)
    if not current:
        return _first(view, daemon_set, number)
    *twins, newest = _settled(view, current)
    if twins:
        return Decision(
            intent=tuple(_relabelled(pods, {_hash(twin) for twin in twins}, _hash(newest))),
            children=tuple(Delete(CONTROLLER_REVISION, key_of(twin)) for twin in twins),
        )
    if newest.revision < number:
        return Decision(intent=(renumbered(newest, number),))
    return DaemonSetHistory(_hash(newest), old)


def _settled(view: View, current: Sequence[ControllerRevision]) -> Sequence[ControllerRevision]:
    """The revisions of one template without a twin that was made just now: whoever made it may not be done yet."""
    *older, newest = current
    born = newest.metadata.creation_timestamp
    if not older or born is None or view.reached(moment(born) + TWIN_DELAY):
        return current
    return _settled(view, older)


def _hash(revision: ControllerRevision) -> str:
    return revision.metadata.labels.get(REVISION_LABEL, "")


def _labelled(revision: ControllerRevision, word: str) -> Patch:
    return Patch(CONTROLLER_REVISION, key_of(revision), {"metadata": {"labels": {REVISION_LABEL: word}}})


def _relabelled(pods: Iterable[Pod], twins: set[str], kept: str) -> Iterable[Write]:
    for pod in pods:
        if pod.metadata.labels.get(REVISION_LABEL) in twins:
            yield Patch(POD, key_of(pod), {"metadata": {"labels": {REVISION_LABEL: kept}}})


def _first(view: View, daemon_set: DaemonSet, number: int) -> Decision:
    made = new_revision(daemon_set, number)
    if view.get(CONTROLLER_REVISION, *made.key) is None:
        return Decision(intent=(made,))
    # The word for this template is taken: count it, and the next run finds another.
    old: DaemonSetStatus = daemon_set.status
    collided = replace(old, collision_count=(old.collision_count or 0) + 1)
    return Decision(status=status_change(DAEMON_SET, daemon_set, old, collided, ALWAYS))


def new_revision(daemon_set: DaemonSet, number: int) -> Create:
    template, collisions = daemon_set.spec.template, daemon_set.status.collision_count
    notes = without_record(daemon_set.metadata.annotations)
    return template_revision(
        DAEMON_SET, daemon_set, template, collisions, number, hash_label=REVISION_LABEL, annotations=notes
    )


def forgotten(old: Sequence[ControllerRevision], pods: Iterable[Pod], limit: int) -> tuple[Write, ...]:
    """What falls out of the history, oldest first. A revision that a pod still runs stays, and counts."""
    live = {pod.metadata.labels.get(REVISION_LABEL) for pod in pods}
    return surplus(old, lambda revision: _hash(revision) in live, limit, used_count=True)
