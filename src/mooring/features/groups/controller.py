"""LeaderWorkerSets: their revisions, the StatefulSet of their leaders, rolling updates, and status.

The workers of each group follow from its leader and are made by the controller of groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from mooring.api.apps.views import ControllerRevision, StatefulSet
from mooring.api.kinds import Key, key_of
from mooring.features.groups.api import REPLICAS, REVISION, LeaderWorkerSet
from mooring.features.groups.events import CREATE, DELETE, UPDATE, event_about
from mooring.features.groups.kinds import GROUP_REVISION, LEADER_WORKER_SET
from mooring.features.groups.objects import leaders_of, shared_service
from mooring.features.groups.placeable import tell_placing
from mooring.features.groups.revisions import (
    Blueprint,
    blueprint_of,
    equal_revision,
    is_revision_of,
    new_revision,
    revision_of,
    rewrite_unsorted,
)
from mooring.features.groups.rollout import LeaderSetState, Limits, Step, limits_of, next_step
from mooring.features.groups.state import ObservedGroups, observe_groups, was_of
from mooring.features.groups.status import report, report_conflict
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete, Event, Write
from mooring.runtime.view import View
from mooring.workloads.cluster_state import CLUSTER
from mooring.workloads.kinds import POD, SERVICE, STATEFUL_SET
from mooring.workloads.ownerrefs import adopt, is_controlled_by
from mooring.workloads.placeable import RememberedAdvice
from mooring.workloads.podcontrol import status_change
from mooring.workloads.revisions import in_order, next_number, renumbered, surplus

# The finalizer with which the garbage collector holds an object whose deletion leaves orphans.
_ORPHAN: Final = "orphan"
_ALWAYS: Final = ("replicas", "readyReplicas", "updatedReplicas")


# Every change of a pod reconciles the whole set, so a set of more than this many groups is reconciled at most so often.
LARGE_SET_GROUPS: Final = 50
LARGE_SET_MIN_INTERVAL: Final = timedelta(milliseconds=200)


class SetMemory(NamedTuple):
    """When groups were observed last, the advice for the first unschedulable one, and the last refusal reported."""

    observed_at: datetime
    advice: RememberedAdvice | None = None
    reported: str = ""


class SetHistory(NamedTuple):
    """All revisions in order, their blueprints by revision hash, and the blueprint of the set as it is now."""

    revisions: Sequence[ControllerRevision]
    blueprints: Mapping[str, Blueprint]
    current: Blueprint


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    lws = view.get(LEADER_WORKER_SET, *key)
    if lws is None:
        return Decision()
    if lws.metadata.deleting:
        orphaned = _ORPHAN in lws.metadata.finalizers
        rewritten = rewrite_unsorted(view, lws, view.owned(GROUP_REVISION, lws)) if orphaned else None
        return rewritten or Decision()

    memory = view.memory(SetMemory)
    if (
        memory is not None
        and lws.spec.replicas > LARGE_SET_GROUPS
        and not view.reached(memory.observed_at + LARGE_SET_MIN_INTERVAL)
    ):
        return Decision(memory=memory)

    # 1. The leaders' StatefulSet is ours, and stays. One that goes away must be gone before there is another.
    leaders = view.get(STATEFUL_SET, *key)
    if leaders is not None and leaders.metadata.deleting:
        return Decision()
    if leaders is not None and not (is_controlled_by(leaders, lws) or was_of(leaders, lws)):
        reported = report_conflict(lws, (leaders,), now)
        status = status_change(LEADER_WORKER_SET, lws, lws.status, reported.status, _ALWAYS)
        return Decision(status=status, events=reported.events, memory=memory)

    # 2. What groups are made from is on record before any is made.
    history = _history(view, lws, leaders)
    if isinstance(history, Decision):
        return history._replace(memory=memory)

    # 3. The next step of the rolling update, from the observed groups.
    observed = observe_groups(view, lws, leaders, history.blueprints, history.current.revision_hash)
    limits = limits_of(lws.spec)
    changed = leaders is not None and revision_of(leaders) != history.current.revision_hash
    leader_set = None if leaders is None else _leader_set_state(leaders)
    states = () if leader_set is None else observed.states(leader_set.replicas)
    step = next_step(limits, leader_set, states, changed=changed)
    children: list[Write] = [leaders_of(lws, history.current, limits, step)]

    if leaders is not None and leader_set is not None and not changed:
        children += _stuck(leaders, leader_set, limits, observed, history.current.revision_hash)

    # 4. Members find each other by name.
    if not history.current.unique_subdomain and view.get(SERVICE, *key) is None:
        children.append(shared_service(lws))

    # 5. Status says what was observed; revisions that no group uses are deleted.
    placing = tell_placing(view, lws, leaders, observed, None if memory is None else memory.advice)
    reported = report(lws, leaders, observed, now, placing.conditions)
    unused = _unused_revisions(history, observed) if reported.finished and not changed else ()
    status = status_change(LEADER_WORKER_SET, lws, lws.status, reported.status, _ALWAYS)
    refused = _refusal(lws, leader_set, view.problem)
    if refused is None:
        events = _progress(lws, leader_set, limits, step, changed=changed)
    else:
        # A refused write is retried with backoff; the event about it is recorded once.
        events = [] if memory is not None and memory.reported == refused.message else [refused]
    memory = SetMemory(now, placing.advice, "" if refused is None else refused.message)
    return Decision((), tuple(children), status, unused, (*events, *reported.events), memory=memory)


def _history(view: View, lws: LeaderWorkerSet, leaders: StatefulSet | None) -> SetHistory | Decision:
    """The revisions, or what has to be written for today's template to be the newest."""
    found = view.list(GROUP_REVISION, "orphan", lws.metadata.namespace)
    orphans = [each for each in found if is_revision_of(each, lws)]
    revisions = in_order(view.owned(GROUP_REVISION, lws))
    rewritten = rewrite_unsorted(view, lws, (*orphans, *revisions))
    if rewritten is not None:
        return rewritten
    if orphans:
        # A set of this name was deleted and left its groups behind.
        return Decision(intent=tuple(adopt(GROUP_REVISION, each, LEADER_WORKER_SET, lws) for each in orphans))
    revision_hash = "" if leaders is None else revision_of(leaders)
    current = equal_revision(revisions, lws, revision_hash)
    if current is None:
        lost = bool(revision_hash) and all(revision_of(each) != revision_hash for each in revisions)
        made = new_revision(lws, revisions, revision_hash if lost else "")
        key = made.object["metadata"]["labels"][REVISION]
        about = "a newly created LeaderWorkerSet" if leaders is None else "updated LWS"
        text = f"Creating revision with key {key} for {about}"
        if lost:
            text = f"Creating missing revision with key {key} for existing LeaderWorkerSet"
        event = event_about(lws, "Normal", "CreatingRevision", text, CREATE, (GROUP_REVISION, made.key))
        return Decision(intent=(made,), events=(event,))
    if current is not revisions[-1]:
        return Decision(intent=(renumbered(current, next_number(revisions), read_as=GROUP_REVISION),))
    blueprints = {revision_of(each): blueprint_of(each) for each in revisions}
    return SetHistory(revisions, blueprints, blueprints[revision_of(current)])


def _leader_set_state(leaders: StatefulSet) -> LeaderSetState:
    rolling = leaders.spec.update_strategy.rolling_update
    observed_replicas = leaders.metadata.annotations.get(REPLICAS, "")
    return LeaderSetState(
        replicas=leaders.spec.replicas,
        partition=0 if rolling is None else rolling.partition,
        observed_replicas=int(observed_replicas) if observed_replicas.isdecimal() else None,
    )


def _stuck(
    leaders: StatefulSet, leader_set: LeaderSetState, limits: Limits, observed: ObservedGroups, revision_hash: str
) -> list[Write]:
    """Outdated leaders that are not ready, where the StatefulSet replaces none because too many are unavailable.

    It would wait for them for ever, though replacing them makes no ready group unavailable: a set whose first template
    was broken could not be repaired by a better one.
    """
    if leaders.status.observed_generation != leaders.metadata.generation:
        # It would make them again as they are.
        return []
    present = [group for number, group in observed.groups.items() if number < leader_set.replicas]
    if leader_set.replicas - sum(group.leader_ready for group in present) < limits.max_disruption:
        return []
    broken = [
        group
        for group in present
        if group.revision_hash != revision_hash and not group.leader_ready and not group.terminating
    ]
    meta = leaders.metadata
    return [
        Delete(POD, Key(meta.namespace, f"{meta.name}-{group.number}"))
        for group in broken
        if group.number >= leader_set.partition
    ]


def _unused_revisions(history: SetHistory, observed: ObservedGroups) -> tuple[Write, ...]:
    used = {history.current.revision_hash, *(group.revision_hash for group in observed.groups.values())}
    return surplus(history.revisions, lambda revision: revision_of(revision) in used, limit=0, read_as=GROUP_REVISION)


def _refusal(lws: LeaderWorkerSet, leader_set: LeaderSetState | None, problem: str) -> Event | None:
    """What an API server said to the last try, if it refused."""
    if not problem:
        return None
    verb, reason, action = (
        ("create", "FailedCreate", CREATE) if leader_set is None else ("update", "FailedUpdate", UPDATE)
    )
    text = f"Failed to {verb} leader statefulset {lws.metadata.name}: {problem}"
    return event_about(lws, "Warning", reason, text, action)


def _progress(
    lws: LeaderWorkerSet, leader_set: LeaderSetState | None, limits: Limits, step: Step, *, changed: bool
) -> list[Event]:
    """Events about the step that is taken now."""
    name, leaders = lws.metadata.name, (STATEFUL_SET, key_of(lws))
    if leader_set is None:
        text = f"Created leader statefulset {name}"
        return [event_about(lws, "Normal", "GroupsProgressing", text, CREATE, leaders)]
    events = []
    if not changed and step.partition < leader_set.partition:
        first, last = step.partition, leader_set.partition - 1
        text = f"Updating replica {first}" if first == last else f"Updating replicas {first} to {last} (inclusive)"
        events.append(event_about(lws, "Normal", "GroupsUpdating", text, UPDATE, leaders))
    if max(step.replicas, limits.replicas) < leader_set.replicas:
        first, last = step.replicas, leader_set.replicas - 1
        text = f"deleting surge replica {name}-{first}"
        if first != last:
            text = f"deleting surge replicas from {name}-{first} to {name}-{last}"
        events.append(event_about(lws, "Normal", "GroupsProgressing", text, DELETE, leaders))
    return events


CONTROLLER: Final = Controller(
    name="lws",
    reporter="leaderworkerset",
    reconcile=reconcile,
    of=LEADER_WORKER_SET,
    reads=(STATEFUL_SET, POD, SERVICE, GROUP_REVISION),
    folds=(CLUSTER,),
    writes={
        LEADER_WORKER_SET: ("status", "finalizers"),
        POD: ("delete",),
        STATEFUL_SET: ("create", "patch"),
        SERVICE: ("create",),
        GROUP_REVISION: ("create", "patch", "delete"),
    },
    memory=SetMemory,
)
