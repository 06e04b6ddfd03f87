"""One group: its workers follow its leader, and when a member fails the whole group is made anew.

The key is the leader pod. Workers are made once and never changed: a group of another template has another leader.
Deleting the leader takes everything with it, since the workers' StatefulSet belongs to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

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
from mooring.features.groups.events import CREATE, DELETE, event_about
from mooring.features.groups.kinds import GROUP_REVISION, LEADER_WORKER_SET
from mooring.features.groups.objects import group_service, workers_of
from mooring.features.groups.revisions import Blueprint, blueprint_of, revision_of
from mooring.features.groups.state import is_left_behind
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete, Event, Write
from mooring.runtime.view import View
from mooring.workloads.kinds import NODE, POD, SERVICE, STATEFUL_SET
from mooring.workloads.ownerrefs import adopt, is_controlled_by

_ON_RESTART: Final = "RecreateGroupOnPodRestart"
_AFTER_START: Final = "RecreateGroupAfterStart"


class ObservedWorkers(NamedTuple):
    """The workers of one StatefulSet by name and uid. A worker that was replaced between two passes has another uid.

    `complete`: every pod of the group existed. `started`: and had left Pending.
    """

    workers: str
    uids: frozenset[tuple[str, str]]
    complete: bool
    started: bool


class GroupMemory(NamedTuple):
    """The workers that were observed last, and the last reported reason why they cannot be created."""

    observed: ObservedWorkers | None = None
    reported: str = ""


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
    members = (*(() if workers is None else view.owned(POD, workers)), *view.owned(POD, leader))
    current = [pod for pod in members if revision_of(pod) == revision_of(leader)]
    complete = len(current) + 1 >= (1 if blueprint is None else blueprint.template.size)
    started = complete and _left_pending((leader, *current))
    observed = None
    if workers is not None:
        observed = ObservedWorkers(workers.metadata.uid, frozenset(_identities(current)), complete, started)
    failed = _failed(view, lws, leader, observed, current, started=started)
    if failed and not leader.metadata.deleting:
        index = leader.metadata.labels.get(GROUP_INDEX, "")
        text = f"Worker pod {failed} failed, deleted leader pod {key.name} to recreate group {index}"
        gone = Delete(POD, key, propagation="Foreground")
        event = event_about(lws, "Normal", "RecreateGroup", text, DELETE, (POD, key))
        return Decision(children=(gone,), events=(event,), memory=GroupMemory(observed))

    # 2. Nothing is made for a leader that goes away.
    if leader.metadata.deleting or blueprint is None:
        return Decision(memory=GroupMemory(observed))

    # 3. A Service of its own, if the set wants one for every group.
    children: list[Write] = []
    if blueprint.unique_subdomain and view.get(SERVICE, *key) is None:
        children.append(group_service(lws, leader))

    # 4. The workers, unless they are there, are not wanted, or have to wait for their leader.
    there = view.get(STATEFUL_SET, *key)
    if there is not None and is_left_behind(there, lws.metadata.name, leader):
        children.append(adopt(STATEFUL_SET, there, POD, leader))
    if blueprint.template.size <= 1 or there is not None:
        return Decision(children=tuple(children), memory=GroupMemory(observed))
    if lws.spec.startup_policy == "LeaderReady" and not leader.ready:
        return Decision(children=tuple(children))
    domain = _domain(view, lws, leader)
    problem = domain if isinstance(domain, str) else view.problem
    if isinstance(domain, dict):
        children.append(workers_of(lws, leader, blueprint, domain))
    return Decision(
        children=tuple(children), events=_events(view, lws, leader, domain, problem), memory=GroupMemory(None, problem)
    )


def _set_of(view: View, leader: Pod) -> LeaderWorkerSet | None:
    """The set that a leader belongs to by its owners; a pod that only carries the label is no leader."""
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
    revision_hash = revision_of(leader)
    found = [each for each in view.owned(GROUP_REVISION, lws) if revision_of(each) == revision_hash]
    return blueprint_of(max(found, key=lambda each: each.revision)) if found else None


def _left_pending(pods: Sequence[Pod]) -> bool:
    return all(pod.status.phase != "Pending" for pod in pods)


def _failed(
    view: View,
    lws: LeaderWorkerSet,
    leader: Pod,
    observed: ObservedWorkers | None,
    members: Sequence[Pod],
    *,
    started: bool,
) -> str:
    """The pod for which the group must be made anew; empty if there is none."""
    policy = lws.spec.leader_worker_template.get("restartPolicy", _ON_RESTART)
    if policy not in (_ON_RESTART, _AFTER_START):
        return ""
    after_start = policy == _AFTER_START or RECREATE_AFTER_START in lws.metadata.annotations
    for pod in (leader, *members) if started or not after_start else ():
        if _restarted(pod) or (pod is not leader and pod.metadata.deleting):
            return pod.metadata.name
    known = view.memory(GroupMemory)
    before = None if known is None else known.observed
    if observed is None or before is None or before.workers != observed.workers:
        return ""
    # A worker that started and went between two observations counts as started if all the others are.
    if after_start and not before.started and not (before.complete and _left_pending((leader, *members))):
        return ""
    missed = before.uids - observed.uids
    return min((name for name, uid in missed if not _stays(view, leader, name, uid)), default="")


def _stays(view: View, leader: Pod, name: str, uid: str) -> bool:
    """Whether a worker is only let go by its StatefulSet: one that is deleted and leaves its pods behind."""
    pod = view.get(POD, leader.metadata.namespace, name)
    return pod is not None and pod.metadata.uid == uid and not pod.metadata.deleting


def _identities(pods: Sequence[Pod]) -> list[tuple[str, str]]:
    return [(pod.metadata.name, pod.metadata.uid) for pod in pods]


def _restarted(pod: Pod) -> bool:
    if pod.status.phase not in ("Running", "Pending"):
        return False
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    return any(container.restart_count > 0 for container in statuses)


def _domain(view: View, lws: LeaderWorkerSet, leader: Pod) -> dict[str, str] | str:
    """The label that keeps workers in their leader's domain; or why they must wait; empty where waiting is enough."""
    topology = lws.metadata.annotations.get(EXCLUSIVE_TOPOLOGY)
    if not topology:
        return {}
    name = leader.spec.node_name
    if not name:
        return ""
    node = view.get(NODE, "", name)
    if node is None:
        return f"there is no node {name}"
    value = node.metadata.labels.get(topology)
    if value is None:
        return f"node {name} has no label {topology}"
    return {topology: value}


def _events(
    view: View, lws: LeaderWorkerSet, leader: Pod, domain: dict[str, str] | str, problem: str
) -> tuple[Event, ...]:
    """That the workers' StatefulSet is created; or, once per reason, why it cannot be."""
    name = leader.metadata.name
    if not problem:
        if isinstance(domain, str):
            return ()
        text = f"Created worker statefulset for leader pod {name}"
        return (event_about(lws, "Normal", "GroupsProgressing", text, CREATE, (STATEFUL_SET, key_of(leader))),)
    known = view.memory(GroupMemory)
    if known is not None and known.reported == problem:
        return ()
    text = f"Failed to create worker statefulset for leader pod {name}: {problem}"
    return (event_about(lws, "Warning", "FailedCreate", text, CREATE),)


CONTROLLER: Final = Controller(
    name="lws-groups",
    reporter="leaderworkerset",
    reconcile=reconcile,
    of=POD,
    reads=(LEADER_WORKER_SET, STATEFUL_SET, SERVICE, GROUP_REVISION, NODE),
    writes={
        POD: ("delete", "finalizers"),
        STATEFUL_SET: ("create", "patch", "delete"),
        SERVICE: ("create",),
    },
    memory=GroupMemory,
)
