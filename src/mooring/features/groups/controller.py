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
from mooring.features.groups.kinds import LEADER_WORKER_SET
from mooring.features.groups.objects import leaders_of, shared_service
from mooring.features.groups.placeable import tell_placing
from mooring.features.groups.revisions import (
    Blueprint,
    blueprint_of,
    equal_revision,
    is_revision_of,
    label_of,
    new_revision,
)
from mooring.features.groups.rollout import Limits, Standing, Step, limits_of, next_step
from mooring.features.groups.state import Picture, take_picture, was_of
from mooring.features.groups.status import report, report_conflict, without_conflict
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete, Event, Write
from mooring.runtime.view import View
from mooring.workloads.cluster_state import CLUSTER
from mooring.workloads.kinds import CONTROLLER_REVISION, POD, SERVICE, STATEFUL_SET
from mooring.workloads.ownerrefs import adopt, is_controlled_by
from mooring.workloads.placeable import Advice
from mooring.workloads.podcontrol import status_change
from mooring.workloads.revisions import in_order, next_number, renumbered, surplus

_ALWAYS: Final = ("replicas", "readyReplicas", "updatedReplicas")


# A set of so many groups is not looked at more often than this: every pod of it would have all of it looked at.
MANY: Final = 50
REST: Final = timedelta(milliseconds=200)


class Memory(NamedTuple):
    """When the groups were looked at last, what would help the first that cannot land, and the refusal told last."""

    looked: datetime
    advice: Advice | None = None
    told: str = ""


class History(NamedTuple):
    """All revisions in order, what each stands for by its word, and the one that groups shall be of."""

    revisions: Sequence[ControllerRevision]
    blueprints: Mapping[str, Blueprint]
    current: Blueprint


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    lws = view.get(LEADER_WORKER_SET, *key)
    if lws is None or lws.metadata.deleting:
        return Decision()

    memory = view.memory(Memory)
    if memory is not None and lws.spec.replicas > MANY and not view.reached(memory.looked + REST):
        return Decision(memory=memory)

    # 1. The leaders' StatefulSet is ours, and stays. One that goes away must be gone before there is another.
    leaders = view.get(STATEFUL_SET, *key)
    if leaders is not None and leaders.metadata.deleting:
        return Decision()
    if leaders is not None and not (is_controlled_by(leaders, lws) or was_of(leaders, lws)):
        return _conflict(lws, leaders, now, memory)

    # 2. What groups are made from is on record before any is made.
    history = _history(view, lws, leaders)
    if isinstance(history, Decision):
        return history._replace(memory=memory)

    # 3. Where the update stands, and where it goes next.
    picture = take_picture(view, lws, leaders, history.blueprints, history.current.word)
    limits = limits_of(lws.spec)
    changed = leaders is not None and label_of(leaders) != history.current.word
    standing = None if leaders is None else _standing(leaders)
    states = () if standing is None else picture.states(standing.replicas)
    step = next_step(limits, standing, states, changed=changed)
    children: list[Write] = [leaders_of(lws, history.current, limits, step)]

    if leaders is not None and standing is not None and not changed:
        children += _stuck(leaders, standing, limits, picture, history.current.word)

    # 4. Members find each other by name.
    if not history.current.apart and view.get(SERVICE, *key) is None:
        children.append(shared_service(lws))

    # 5. Status tells what was seen, and revisions that no group is of are forgotten.
    placing = tell_placing(view, lws, leaders, picture, None if memory is None else memory.advice)
    told = report(lws, leaders, picture, now, (*placing.conditions, *without_conflict(lws)))
    forgotten = _forgotten(history, picture) if told.finished and not changed else ()
    status = status_change(LEADER_WORKER_SET, lws, lws.status, told.status, _ALWAYS)
    refused = _refusal(lws, standing, view.problem)
    if refused is None:
        events = _progress(lws, standing, limits, step, changed=changed)
    else:
        # A write is tried again and again; that it is refused is told once.
        events = [] if memory is not None and memory.told == refused.message else [refused]
    memory = Memory(now, placing.advice, "" if refused is None else refused.message)
    return Decision((), tuple(children), status, forgotten, (*events, *told.events), memory=memory)


def _conflict(lws: LeaderWorkerSet, leaders: StatefulSet, now: datetime, memory: Memory | None) -> Decision:
    """Somebody else has the name of the leaders' StatefulSet, and nothing can be made until it is free."""
    owner = leaders.metadata.controller
    whose = "has no controller" if owner is None else f"is controlled by {owner.kind} {owner.name}"
    text = f"StatefulSet {leaders.metadata.name} exists and {whose}; delete it, or choose another name for this set"
    told = report_conflict(lws, now, text)
    return Decision(
        status=status_change(LEADER_WORKER_SET, lws, lws.status, told.status, _ALWAYS),
        events=told.events,
        memory=memory,
    )


def _history(view: View, lws: LeaderWorkerSet, leaders: StatefulSet | None) -> History | Decision:
    """The revisions, or what has to be written for today's template to be the newest."""
    orphans = view.list(CONTROLLER_REVISION, "orphan", lws.metadata.namespace)
    adopted = tuple(adopt(CONTROLLER_REVISION, o, LEADER_WORKER_SET, lws) for o in orphans if is_revision_of(o, lws))
    if adopted:
        # A set of this name was deleted and left its groups behind.
        return Decision(intent=adopted)
    revisions = in_order(view.owned(CONTROLLER_REVISION, lws))
    word = "" if leaders is None else label_of(leaders)
    current = equal_revision(revisions, lws, word)
    if current is None:
        lost = bool(word) and all(label_of(each) != word for each in revisions)
        made = new_revision(lws, revisions, word if lost else "")
        key = made.object["metadata"]["labels"][REVISION]
        about = "a newly created LeaderWorkerSet" if leaders is None else "updated LWS"
        text = f"Creating revision with key {key} for {about}"
        if lost:
            text = f"Creating missing revision with key {key} for existing LeaderWorkerSet"
        event = event_about(lws, "Normal", "CreatingRevision", text, CREATE, (CONTROLLER_REVISION, made.key))
        return Decision(intent=(made,), events=(event,))
    if current is not revisions[-1]:
        return Decision(intent=(renumbered(current, next_number(revisions)),))
    blueprints = {label_of(each): blueprint_of(each) for each in revisions}
    return History(revisions, blueprints, blueprints[label_of(current)])


def _standing(leaders: StatefulSet) -> Standing:
    rolling = leaders.spec.update_strategy.rolling_update
    made_for = leaders.metadata.annotations.get(REPLICAS, "")
    return Standing(
        replicas=leaders.spec.replicas,
        partition=0 if rolling is None else rolling.partition,
        made_for=int(made_for) if made_for.isdecimal() else None,
    )


def _stuck(leaders: StatefulSet, standing: Standing, limits: Limits, picture: Picture, word: str) -> list[Write]:
    """Outdated leaders that are not ready, where the StatefulSet replaces none because too many are away.

    It would wait for them for ever, though replacing them takes nothing from anybody: a set whose first template was
    broken could not be repaired by a better one.
    """
    if leaders.status.observed_generation != leaders.metadata.generation:
        # It would make them again as they are.
        return []
    present = [group for number, group in picture.groups.items() if number < standing.replicas]
    if standing.replicas - sum(group.led for group in present) < limits.away:
        return []
    broken = [group for group in present if group.word != word and not group.led and not group.leaving]
    meta = leaders.metadata
    return [
        Delete(POD, Key(meta.namespace, f"{meta.name}-{group.number}"))
        for group in broken
        if group.number >= standing.partition
    ]


def _forgotten(history: History, picture: Picture) -> tuple[Write, ...]:
    used = {history.current.word, *(group.word for group in picture.groups.values())}
    return surplus(history.revisions, lambda revision: label_of(revision) in used, limit=0)


def _refusal(lws: LeaderWorkerSet, standing: Standing | None, problem: str) -> Event | None:
    """What an API server said to the last try, if it refused."""
    if not problem:
        return None
    verb, reason, action = (
        ("create", "FailedCreate", CREATE) if standing is None else ("update", "FailedUpdate", UPDATE)
    )
    text = f"Failed to {verb} leader statefulset {lws.metadata.name}: {problem}"
    return event_about(lws, "Warning", reason, text, action)


def _progress(
    lws: LeaderWorkerSet, standing: Standing | None, limits: Limits, step: Step, *, changed: bool
) -> list[Event]:
    """What happens now, in words."""
    name, leaders = lws.metadata.name, (STATEFUL_SET, key_of(lws))
    if standing is None:
        text = f"Created leader statefulset {name}"
        return [event_about(lws, "Normal", "GroupsProgressing", text, CREATE, leaders)]
    events = []
    if not changed and step.partition < standing.partition:
        first, last = step.partition, standing.partition - 1
        text = f"Updating replica {first}" if first == last else f"Updating replicas {first} to {last} (inclusive)"
        events.append(event_about(lws, "Normal", "GroupsUpdating", text, UPDATE, leaders))
    if max(step.replicas, limits.replicas) < standing.replicas:
        first, last = step.replicas, standing.replicas - 1
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
    reads=(STATEFUL_SET, POD, SERVICE, CONTROLLER_REVISION),
    folds=(CLUSTER,),
    writes={
        LEADER_WORKER_SET: ("status", "finalizers"),
        POD: ("delete",),
        STATEFUL_SET: ("create", "patch"),
        SERVICE: ("create",),
        CONTROLLER_REVISION: ("create", "patch", "delete"),
    },
    memory=Memory,
)
