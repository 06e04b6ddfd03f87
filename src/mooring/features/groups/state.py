"""The observed state of a LeaderWorkerSet: which groups exist, and how far each of them has come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mooring.api.apps.views import StatefulSet
from mooring.api.core.views import Pod
from mooring.api.kinds import HasMeta
from mooring.features.groups.api import GROUP_KEY, NAME, REVISION, LeaderWorkerSet
from mooring.features.groups.identity import ordinal_of
from mooring.features.groups.revisions import Blueprint, revision_of
from mooring.features.groups.rollout import GroupState
from mooring.runtime.view import View
from mooring.workloads.kinds import POD, STATEFUL_SET
from mooring.workloads.ownerrefs import is_controlled_by


class Group(NamedTuple):
    """The observed state of one group.

    `complete`: the workers' StatefulSet exists, or the group has no workers. `leader_ready`: the leader runs and is
    ready. `terminating`: the leader has a deletionTimestamp. `unschedulable`: how many pods of the group fit no node.
    `in_the_way`: a StatefulSet that has the name of the workers' and belongs to another.
    """

    number: int
    revision_hash: str
    ready: bool
    updated: bool
    complete: bool
    leader_ready: bool
    terminating: bool
    unschedulable: int
    in_the_way: StatefulSet | None = None


class ObservedGroups(NamedTuple):
    """All groups that have a leader pod, by group index. They come from one view, so they are from one moment."""

    groups: Mapping[int, Group]

    def states(self, replicas: int) -> Sequence[GroupState]:
        """The states of groups 0 to `replicas` - 1; a group that does not exist is neither ready nor updated."""
        missing = GroupState(ready=False, updated=False)
        found = (self.groups.get(index) for index in range(replicas))
        return [missing if group is None else GroupState(group.ready, group.updated) for group in found]


def observe_groups(
    view: View,
    lws: LeaderWorkerSet,
    leaders: StatefulSet | None,
    blueprints: Mapping[str, Blueprint],
    revision_hash: str,
) -> ObservedGroups:
    """Observe all groups. `blueprints` are keyed by revision hash; `revision_hash` is that of the newest."""
    groups: dict[int, Group] = {}
    usual = lws.spec.leader_worker_template.get("size", 1)
    for pod in () if leaders is None else view.owned(POD, leaders):
        ordinal = ordinal_of(pod.metadata.name)
        if ordinal is not None:
            known = blueprints.get(revision_of(pod))
            size = usual if known is None else known.template.size
            groups[ordinal.number] = _group(view, pod, ordinal.number, size, revision_hash)
    return ObservedGroups(groups)


def _group(view: View, leader: Pod, number: int, size: int, revision_hash: str) -> Group:
    own, leader_ready, terminating = revision_of(leader), leader.healthy, leader.metadata.deleting
    unschedulable = int(leader.unschedulable is not None)
    if size <= 1:
        return Group(number, own, leader_ready, own == revision_hash, True, leader_ready, terminating, unschedulable)
    workers = view.get(STATEFUL_SET, leader.metadata.namespace, leader.metadata.name)
    if workers is None or not is_controlled_by(workers, leader):
        in_the_way = None if workers is None or _goes_or_is_adopted(workers, leader) else workers
        return Group(number, own, False, False, False, leader_ready, terminating, unschedulable, in_the_way)
    updated, ready = own == revision_hash == revision_of(workers), leader_ready and workers_ready(workers)
    if not ready:
        unschedulable += view.count(POD, "owner", workers.metadata.uid, "unschedulable")
    return Group(number, own, ready, updated, True, leader_ready, terminating, unschedulable)


def is_left_behind(workers: StatefulSet, lws_name: str, leader: Pod) -> bool:
    """Whether the workers of this very group have no controller, since their leader was deleted with orphans."""
    ours, theirs = workers.metadata.labels, leader.metadata.labels
    if workers.metadata.deleting or workers.metadata.controller is not None or ours.get(NAME) != lws_name:
        return False
    return all(ours.get(label) == theirs.get(label) for label in (GROUP_KEY, REVISION))


def _goes_or_is_adopted(workers: StatefulSet, leader: Pod) -> bool:
    """Whether a StatefulSet that is not the leader's waits for nobody: the garbage collector or the leader takes it."""
    if workers.metadata.deleting or is_left_behind(workers, leader.metadata.labels.get(NAME, ""), leader):
        return True
    # That of an earlier leader goes with it.
    owner = workers.metadata.controller
    return owner is not None and (owner.kind, owner.name) == ("Pod", leader.metadata.name)


def workers_ready(workers: StatefulSet) -> bool:
    status = workers.status
    return workers.spec.replicas == status.available_replicas and status.current_revision == status.update_revision


def was_of(child: HasMeta, lws: LeaderWorkerSet) -> bool:
    """Whether an object that a set of this name made has no controller: a deletion with orphans left it behind."""
    return child.metadata.controller is None and child.metadata.labels.get(NAME) == lws.metadata.name
