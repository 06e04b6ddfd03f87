"""Deployment: rolls pods from one template to the next by growing one ReplicaSet and shrinking the others.

Each run takes one step and writes down the counts it saw; the sets' answers wake it for the next. Nothing is remembered
in between but what the sets themselves carry: their templates, sizes and annotations.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from mooring.api.apps.views import Deployment, DeploymentStatus
from mooring.api.conditions import find_condition
from mooring.api.kinds import Key, key_of
from mooring.builtin.apps.deployment import status as say
from mooring.builtin.apps.deployment.replicasets import (
    DESIRED,
    MAXIMUM,
    REVISION,
    Sets,
    edits_of_new,
    new_set,
    next_revision,
    revision_of,
    scaled,
    sort_out,
    surplus_sets,
)
from mooring.builtin.apps.deployment.scaling import Sizes, is_rolling, proportional, shrink_old, size_of_new
from mooring.kube.objects import Object
from mooring.kube.selectors import selector_from_dict
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Event, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.kinds import DEPLOYMENT, POD, REPLICA_SET
from mooring.workloads.ownerrefs import claims
from mooring.workloads.podcontrol import annotated, status_change


class DeploymentStep(NamedTuple):
    """What one run does: sizes by set, a set to make, sets to drop."""

    sizes: Sizes
    made: Create | None = None
    dropped: tuple[Write, ...] = ()


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    deployment = view.get(DEPLOYMENT, *key)
    if deployment is None:
        return Decision()
    selector = selector_from_dict(deployment.spec.selector)
    if selector.empty:
        text = "This deployment is selecting all pods. A non-empty selector is required."
        seen = replace(deployment.status, observed_generation=deployment.metadata.generation)
        warning = Event(DEPLOYMENT, key, "Warning", "SelectingAll", text)
        return Decision(status=_status(deployment, seen), events=(warning,))

    # 1. Ownership agrees with the selector before anything is counted on.
    owned = view.owned(REPLICA_SET, deployment)
    orphans = view.list(REPLICA_SET, "orphan", key.namespace)
    if claimed := claims(REPLICA_SET, DEPLOYMENT, deployment, selector, owned, orphans):
        return Decision(intent=claimed)
    sets = sort_out(deployment, owned)
    status = deployment.status

    # 2. A Deployment that goes away is only described; its sets go with it.
    if deployment.metadata.deleting:
        return Decision(status=_status(deployment, say.counted(deployment, sets, status, now)))

    # 3. A pause is noted, so that the time it takes does not count as lack of progress.
    status = _noted_pause(deployment, status, now)

    # 4. A paused Deployment, and one whose size was changed, keeps its proportions and takes no step.
    if deployment.spec.paused or _was_resized(deployment, sets):
        sizes = _resize(deployment, sets)
        # Until every set has noted the new size, the change of size is not over.
        noted = {one.metadata.name: sizes.get(one.metadata.name, one.spec.replicas) for one in sets.active}
        dropped = surplus_sets(deployment, sets.old) if deployment.spec.paused else ()
        step = DeploymentStep({**sizes, **noted}, dropped=dropped)
        return _decide(deployment, sets, step, say.counted(deployment, sets, status, now))

    # 5. Today's template has a set, or gets one once nothing stands against it.
    if sets.new is None and (is_rolling(deployment) or not _old_run(view, sets)):
        return _introduce(deployment, sets, view, status, now)

    # 6. One step of the rollout.
    step = _roll(deployment, sets) if is_rolling(deployment) else _recreate(deployment, sets, view)
    if not step.sizes and say.is_complete(deployment, deployment.status):
        step = step._replace(dropped=surplus_sets(deployment, sets.old))
    if sets.new is not None and say.has_deadline(deployment) and not say.is_told_of(sets.new, status):
        text = f'Found new replica set "{sets.new.metadata.name}"'
        status = say.with_condition(status, now, say.PROGRESSING, "True", "FoundNewReplicaSet", text)
    return _decide(deployment, sets, step, say.rolled(deployment, sets, status, view, now))


def _noted_pause(deployment: Deployment, status: DeploymentStatus, now: datetime) -> DeploymentStatus:
    current = find_condition(status.conditions, say.PROGRESSING)
    reason = current.reason if current is not None else ""
    if not say.has_deadline(deployment) or reason == "ProgressDeadlineExceeded":
        return status
    if deployment.spec.paused and reason != "DeploymentPaused":
        return say.with_condition(status, now, say.PROGRESSING, "Unknown", "DeploymentPaused", "Deployment is paused")
    if not deployment.spec.paused and reason == "DeploymentPaused":
        return say.with_condition(status, now, say.PROGRESSING, "Unknown", "DeploymentResumed", "Deployment is resumed")
    return status


def _was_resized(deployment: Deployment, sets: Sets) -> bool:
    noted = (one.metadata.annotations.get(DESIRED, "") for one in sets.active)
    return any(text.isdecimal() and int(text) != deployment.spec.replicas for text in noted)


def _resize(deployment: Deployment, sets: Sets) -> Sizes:
    """The whole change for the only set that has pods, or a share of it for each."""
    wanted = deployment.spec.replicas
    if len(sets.active) == 1:
        return {sets.active[0].metadata.name: wanted}
    if not sets.active:
        latest = sets.new or (sets.old[-1] if sets.old else None)
        return {latest.metadata.name: wanted} if latest is not None else {}
    new = sets.new
    if new is not None and {new.spec.replicas, new.status.available_replicas} == {wanted}:
        desired = new.metadata.annotations.get(DESIRED, "")
        if desired == str(wanted):
            return {one.metadata.name: 0 for one in sets.old if one.spec.replicas > 0}
    return proportional(deployment, sets.active, MAXIMUM) if is_rolling(deployment) else {}


def _old_run(view: View, sets: Sets) -> bool:
    """Whether a pod of an older template may still run."""
    if any(one.spec.replicas > 0 or one.status.replicas > 0 for one in sets.old):
        return True
    counters = ("active", "terminating")
    return any(view.count(POD, "owner", one.metadata.uid, counter) for one in sets.old for counter in counters)


def _introduce(deployment: Deployment, sets: Sets, view: View, status: DeploymentStatus, now: datetime) -> Decision:
    made = new_set(deployment, sets, size_of_new(deployment, sets.old, 0))
    if view.get(REPLICA_SET, *made.key) is not None:
        # The word for this template is taken: count it, and the next run finds another.
        collided = replace(deployment.status, collision_count=(deployment.status.collision_count or 0) + 1)
        return Decision(status=_status(deployment, collided))
    if say.has_deadline(deployment):
        text = f'Created new replica set "{made.key.name}"'
        status = say.with_condition(status, now, say.PROGRESSING, "True", "NewReplicaSetCreated", text)
    return _decide(deployment, sets, DeploymentStep({}, made), say.rolled(deployment, sets, status, view, now))


def _roll(deployment: Deployment, sets: Sets) -> DeploymentStep:
    """Grow the new set if there is room; only then shrink the old ones."""
    new = sets.new
    if new is None:
        return DeploymentStep({})
    size = size_of_new(deployment, sets.all, new.spec.replicas)
    if size != new.spec.replicas:
        return DeploymentStep({new.metadata.name: size})
    old = [one for one in sets.old if one.spec.replicas > 0]
    sizes = shrink_old(deployment, new, old)
    return DeploymentStep(
        {one.metadata.name: size for one in old if (size := sizes[one.metadata.name]) != one.spec.replicas}
    )


def _recreate(deployment: Deployment, sets: Sets, view: View) -> DeploymentStep:
    """Every old pod is gone before the first new one comes."""
    scaled_down = {one.metadata.name: 0 for one in sets.old if one.spec.replicas > 0}
    if scaled_down:
        return DeploymentStep(scaled_down)
    if sets.new is None or _old_run(view, sets) or sets.new.spec.replicas == deployment.spec.replicas:
        return DeploymentStep({})
    return DeploymentStep({sets.new.metadata.name: deployment.spec.replicas})


def _decide(deployment: Deployment, sets: Sets, step: DeploymentStep, status: DeploymentStatus) -> Decision:
    """A step as writes."""
    edits = edits_of_new(deployment, sets)
    children: list[Write] = [] if step.made is None else [step.made]
    events = []
    if step.made is not None and (size := step.made.object["spec"]["replicas"]):
        events.append(_scaling(deployment, step.made.key.name, 0, size))
    dropped = {write.key.name for write in step.dropped}
    for one in sets.all:
        own: Object = edits if one is sets.new else {}
        name = one.metadata.name
        if name in step.sizes:
            # A paused Deployment may size its latest set and drop it at once, which is told as both.
            children += scaled(deployment, one, step.sizes[name], own) if name not in dropped else ()
            if step.sizes[name] != one.spec.replicas:
                events.append(_scaling(deployment, name, one.spec.replicas, step.sizes[name]))
        elif own:
            children.append(Patch(REPLICA_SET, key_of(one), own))
    said = _status(deployment, status, _number(deployment, sets, step))
    return Decision(children=(*children, *step.dropped), status=said, events=tuple(events))


def _number(deployment: Deployment, sets: Sets, step: DeploymentStep) -> str:
    """The number of the set of today's template, if the Deployment does not carry it yet."""
    if step.made is not None:
        number = step.made.object["metadata"]["annotations"][REVISION]
    elif sets.new is not None:
        number = str(max(revision_of(sets.new), next_revision(sets)))
    else:
        return ""
    return "" if deployment.metadata.annotations.get(REVISION) == number else number


def _scaling(deployment: Deployment, name: str, old: int, new: int) -> Event:
    way = "up" if new > old else "down"
    text = f"Scaled {way} replica set {name} from {old} to {new}"
    return Event(DEPLOYMENT, key_of(deployment), "Normal", "ScalingReplicaSet", text)


def _status(deployment: Deployment, status: DeploymentStatus, number: str = "") -> tuple[Write, ...]:
    always = ("terminatingReplicas",) if status.terminating_replicas is not None else ()
    writes = status_change(DEPLOYMENT, deployment, deployment.status, status, always)
    return annotated(DEPLOYMENT, deployment, writes, {REVISION: number} if number else {})


CONTROLLER = Controller(
    name="deployment",
    reporter="deployment-controller",
    reconcile=reconcile,
    of=DEPLOYMENT,
    reads=(REPLICA_SET, POD),
    writes={DEPLOYMENT: ("patch", "status", "finalizers"), REPLICA_SET: ("create", "patch", "delete")},
)
