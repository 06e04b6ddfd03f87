"""A LeaderWorkerSet as it is: which groups there are, and how each of them stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mooring.api.apps.views import StatefulSet
from mooring.api.core.views import Pod
from mooring.api.kinds import HasMeta
from mooring.features.groups.api import NAME, LeaderWorkerSet
from mooring.features.groups.identity import ordinal_of
from mooring.features.groups.revisions import Blueprint, label_of
from mooring.features.groups.rollout import GroupState
from mooring.runtime.view import View
from mooring.workloads.kinds import POD, STATEFUL_SET
from mooring.workloads.ownerrefs import is_controlled_by


class Group(NamedTuple):
    """One group. It is complete once its workers have been asked for, if it is to have any.

    `led` says that its leader runs and is ready, `leaving` that it is on its way out, `homeless` how many of its pods
    no node takes.
    """

    number: int
    word: str
    ready: bool
    updated: bool
    complete: bool
    led: bool
    leaving: bool
    homeless: int


class Picture(NamedTuple):
    groups: Mapping[int, Group]

    def states(self, replicas: int) -> Sequence[GroupState]:
        """The groups below a number; one that is not there is neither ready nor updated."""
        nobody = GroupState(ready=False, updated=False)
        found = (self.groups.get(index) for index in range(replicas))
        return [nobody if group is None else GroupState(group.ready, group.updated) for group in found]


def take_picture(
    view: View, lws: LeaderWorkerSet, leaders: StatefulSet | None, blueprints: Mapping[str, Blueprint], word: str
) -> Picture:
    """Look at all groups. `blueprints` are known by their words; `word` is that of the newest."""
    groups: dict[int, Group] = {}
    usual = lws.spec.leader_worker_template.get("size", 1)
    for pod in () if leaders is None else view.owned(POD, leaders):
        ordinal = ordinal_of(pod.metadata.name)
        if ordinal is not None:
            known = blueprints.get(label_of(pod))
            size = usual if known is None else known.template.size
            groups[ordinal.number] = _group(view, pod, ordinal.number, size, word)
    return Picture(groups)


def _group(view: View, leader: Pod, number: int, size: int, word: str) -> Group:
    own, led, leaving = label_of(leader), leader.healthy, leader.metadata.deleting
    homeless = int(leader.unschedulable is not None)
    if size <= 1:
        return Group(number, own, led, own == word, True, led, leaving, homeless)
    workers = view.get(STATEFUL_SET, leader.metadata.namespace, leader.metadata.name)
    # A set of the same name may be that of an earlier leader, on its way out.
    if workers is None or not is_controlled_by(workers, leader):
        return Group(number, own, False, False, False, led, leaving, homeless)
    updated, ready = own == word == label_of(workers), led and workers_ready(workers)
    if not ready:
        homeless += view.count(POD, "owner", workers.metadata.uid, "unschedulable")
    return Group(number, own, ready, updated, True, led, leaving, homeless)


def workers_ready(workers: StatefulSet) -> bool:
    status = workers.status
    return workers.spec.replicas == status.available_replicas and status.current_revision == status.update_revision


def was_of(child: HasMeta, lws: LeaderWorkerSet) -> bool:
    """Whether nobody controls an object that a set of this name made, which a deletion that leaves orphans leaves."""
    return child.metadata.controller is None and child.metadata.labels.get(NAME) == lws.metadata.name
