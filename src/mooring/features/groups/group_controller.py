"""One group: its workers follow its leader, and when a member fails the whole group is made anew.

The key is the leader pod. Workers are made once and never changed: a group of another template has another leader.
Deleting the leader takes everything with it, since the workers' StatefulSet belongs to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple

from mooring.api.apps.views import StatefulSet
from mooring.api.core.views import Pod
from mooring.api.kinds import Key, key_of
from mooring.features.groups.api import (
    EXCLUSIVE_TOPOLOGY,
    GROUP_INDEX,
    NAME,
    RECREATE_AFTER_START,
    WORKER_INDEX,
    LeaderWorkerSet,
)
from mooring.features.groups.kinds import LEADER_WORKER_SET
from mooring.features.groups.objects import group_service, workers_of
from mooring.features.groups.revisions import Blueprint, blueprint_of, label_of
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete, Event, Write
from mooring.runtime.view import View
from mooring.workloads.kinds import CONTROLLER_REVISION, NODE, POD, SERVICE, STATEFUL_SET
from mooring.workloads.ownerrefs import is_controlled_by

_ON_RESTART: Final = "RecreateGroupOnPodRestart"
_AFTER_START: Final = "RecreateGroupAfterStart"


class Seen(NamedTuple):
    """The workers of one StatefulSet by name and uid: one that went, or was replaced, unseen is noticed by it."""

    workers: str
    uids: frozenset[tuple[str, str]]


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    leader = view.get(POD, *key)
    if leader is None or leader.metadata.labels.get(WORKER_INDEX) != "0":
        return Decision()
    lws = _set_of(view, leader)
    if lws is None:
        return Decision()
    blueprint = _blueprint(view, lws, leader)
    workers = view.get(STATEFUL_SET, *key)
    if workers is not None and not is_controlled_by(workers, leader):
        workers = None

    # 1. A group whose member failed is made anew, by way of its leader.
    members = () if workers is None else view.owned(POD, workers)
    current = [pod for pod in members if label_of(pod) == label_of(leader)]
    seen = None if workers is None else Seen(workers.metadata.uid, frozenset(_identities(current)))
    failed = _failed(view, lws, blueprint, leader, workers, current)
    if failed and not leader.metadata.deleting:
        index = leader.metadata.labels.get(GROUP_INDEX, "")
        text = f"Worker pod {failed} failed, deleted leader pod {key.name} to recreate group {index}"
        gone = Delete(POD, key, propagation="Foreground")
        return Decision(children=(gone,), events=(_event(lws, "Normal", "RecreateGroup", text),), memory=seen)

    # 2. Nothing is made for a leader that goes away.
    if leader.metadata.deleting or blueprint is None:
        return Decision(memory=seen)

    # 3. A Service of its own, if the set wants one for every group.
    children: list[Write] = []
    if blueprint.apart and view.get(SERVICE, *key) is None:
        children.append(group_service(lws, leader))

    # 4. The workers, unless they are there, are not wanted, or have to wait for their leader.
    if blueprint.template.size <= 1 or view.get(STATEFUL_SET, *key) is not None:
        return Decision(children=tuple(children), memory=seen)
    if lws.spec.startup_policy == "LeaderReady" and not leader.ready:
        return Decision(children=tuple(children))
    domain = _domain(view, lws, leader)
    if isinstance(domain, str):
        events = (_event(lws, "Warning", "FailedCreate", domain),) if domain else ()
        return Decision(children=tuple(children), events=events)
    children.append(workers_of(lws, leader, blueprint, domain))
    return Decision(children=tuple(children), events=(_made(view, lws, leader),))


def _set_of(view: View, leader: Pod) -> LeaderWorkerSet | None:
    """The set that a leader belongs to by its owners; a pod that only says so is nobody's leader."""
    name, owner = leader.metadata.labels.get(NAME, ""), leader.metadata.controller
    if not name or owner is None or (owner.kind, owner.name) != ("StatefulSet", name):
        return None
    lws = view.get(LEADER_WORKER_SET, leader.metadata.namespace, name)
    leaders = view.get(STATEFUL_SET, leader.metadata.namespace, name)
    if lws is None or leaders is None or lws.metadata.deleting:
        return None
    return lws if is_controlled_by(leader, leaders) and is_controlled_by(leaders, lws) else None


def _blueprint(view: View, lws: LeaderWorkerSet, leader: Pod) -> Blueprint | None:
    """What the group is made from: the revision of its leader, whatever the set says by now."""
    word = label_of(leader)
    found = [each for each in view.owned(CONTROLLER_REVISION, lws) if label_of(each) == word]
    return blueprint_of(max(found, key=lambda each: each.revision)) if found else None


def _failed(
    view: View,
    lws: LeaderWorkerSet,
    blueprint: Blueprint | None,
    leader: Pod,
    workers: StatefulSet | None,
    members: Sequence[Pod],
) -> str:
    """The pod for which the group must be made anew; empty if there is none."""
    policy = lws.spec.leader_worker_template.get("restartPolicy", _ON_RESTART)
    if policy not in (_ON_RESTART, _AFTER_START):
        return ""
    after_start = policy == _AFTER_START or RECREATE_AFTER_START in lws.metadata.annotations
    everybody = (leader, *members)
    if after_start:
        size = 1 if blueprint is None else blueprint.template.size
        if len(everybody) < size or any(pod.status.phase == "Pending" for pod in everybody):
            return ""
    for pod in everybody:
        if _restarted(pod) or (pod is not leader and pod.metadata.deleting):
            return pod.metadata.name
    before = view.memory
    if after_start or workers is None or not isinstance(before, Seen) or before.workers != workers.metadata.uid:
        return ""
    there = set(_identities(members))
    return min((name for name, uid in before.uids if (name, uid) not in there), default="")


def _identities(pods: Sequence[Pod]) -> list[tuple[str, str]]:
    return [(pod.metadata.name, pod.metadata.uid) for pod in pods]


def _restarted(pod: Pod) -> bool:
    if pod.status.phase not in ("Running", "Pending"):
        return False
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    return any(container.restart_count > 0 for container in statuses)


def _domain(view: View, lws: LeaderWorkerSet, leader: Pod) -> dict[str, str] | str:
    """The label that keeps workers in their leader's domain; or, if they must wait, why, where somebody must act."""
    topology = lws.metadata.annotations.get(EXCLUSIVE_TOPOLOGY)
    if not topology:
        return {}
    name = leader.spec.node_name
    if not name:
        return ""
    node = view.get(NODE, "", name)
    if node is None:
        return f"Failed to create worker statefulset for leader pod {leader.metadata.name}: there is no node {name}"
    value = node.metadata.labels.get(topology)
    if value is None:
        return (
            f"Failed to create worker statefulset for leader pod {leader.metadata.name}: "
            f"node {name} has no label {topology}"
        )
    return {topology: value}


def _made(view: View, lws: LeaderWorkerSet, leader: Pod) -> Event:
    name = leader.metadata.name
    if problem := view.problem:
        text = f"Failed to create worker statefulset for leader pod {name}: {problem}"
        return _event(lws, "Warning", "FailedCreate", text)
    return _event(lws, "Normal", "GroupsProgressing", f"Created worker statefulset for leader pod {name}")


def _event(lws: LeaderWorkerSet, kind: Literal["Normal", "Warning"], reason: str, text: str) -> Event:
    return Event(LEADER_WORKER_SET, key_of(lws), kind, reason, text)


CONTROLLER: Final = Controller(
    name="lws-groups",
    reporter="leaderworkerset",
    reconcile=reconcile,
    of=POD,
    reads=(LEADER_WORKER_SET, STATEFUL_SET, SERVICE, CONTROLLER_REVISION, NODE),
    writes=(POD, STATEFUL_SET, SERVICE),
)
