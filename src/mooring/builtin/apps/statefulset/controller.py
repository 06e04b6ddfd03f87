"""StatefulSet: pods with names that stay, in order, each with its own claims.

In order means: a pod comes only when all before it are available, and goes only when all after it are gone. A parallel
set does not wait, save in updates, where at most `maxUnavailable` pods are away at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from mooring.api.apps.views import ControllerRevision, StatefulSet, StatefulSetStatus
from mooring.api.kinds import Key
from mooring.api.meta import Meta
from mooring.builtin.apps.statefulset.claims import drops_claims
from mooring.builtin.apps.statefulset.ordinals import ORDINALS
from mooring.builtin.apps.statefulset.state import ObservedPods, observe_pods, ordinal_of
from mooring.builtin.apps.statefulset.steps import MAX_UNAVAILABLE, Steps, replace_outdated
from mooring.kube.objects import Object
from mooring.kube.selectors import Selector, selector_from_dict
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Write
from mooring.runtime.view import View
from mooring.workloads.kinds import CONTROLLER_REVISION, PERSISTENT_VOLUME_CLAIM, POD, STATEFUL_SET
from mooring.workloads.ownerrefs import claims
from mooring.workloads.podcontrol import is_available, status_change
from mooring.workloads.revisions import (
    equal_revision,
    in_order,
    next_number,
    renumbered,
    surplus,
    template_of,
    template_revision,
)

HASH_LABEL = "controller.kubernetes.io/hash"


class StatefulSetHistory(NamedTuple):
    """The revisions of a set: all of them in order, the one most pods are of, and the one they shall be of."""

    all: Sequence[ControllerRevision]
    current: ControllerRevision
    update: ControllerRevision
    # The templates of these two, by the name of the revision.
    templates: Mapping[str, Object]


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    stateful_set = view.get(STATEFUL_SET, *key)
    if stateful_set is None:
        return Decision()
    selector = selector_from_dict(stateful_set.spec.selector)

    # 1. Ownership agrees with the selector before anything is counted on.
    if adopted := _adoptions(view, stateful_set, selector):
        return Decision(intent=adopted)

    # 2. Today's template is a revision, and the newest one, before any pod is made from it.
    history = _history(view, stateful_set)
    if isinstance(history, Decision):
        return history

    # 3. Which pod is at which ordinal, and whether one of them must be released.
    observed = _observe(view, stateful_set, history)
    if released := claims(POD, STATEFUL_SET, stateful_set, selector, observed.present, ()):
        return Decision(intent=released)
    new = _status(view, stateful_set, history, observed)
    status = _status_change(stateful_set, new)

    # 4. A set that goes away is only described; its pods go with it.
    if stateful_set.metadata.deleting:
        return Decision(status=status)

    # 5. Pods come in order and go in reverse, and only then are outdated ones replaced.
    steps = Steps(view, stateful_set, history.current, history.update, history.templates, observed)
    if steps.raise_replicas() and steps.retire_condemned():
        replace_outdated(steps)

    # 6. Revisions that no pod runs fall out of the history.
    live = {history.current.metadata.name, history.update.metadata.name, *observed.staying}
    old = surplus(history.all, lambda each: each.metadata.name in live, stateful_set.spec.revision_history_limit)
    intent = steps.intent
    if steps.creates_in_order:
        # The pass that observes the new pod writes status once for both. A pod that the API refuses is never observed,
        # and must not keep the rest of status from being written.
        intent, status = [*intent, *(status if view.problem else ())], ()
    elif steps.children and view.problem:
        # Nor must pods that are made all at once, of which the API refuses one.
        intent, status = [*intent, *status], ()
    final = bool(status) and not (intent or steps.children or old) and _inputs(new) == _inputs(stateful_set.status)
    return Decision(tuple(intent), tuple(steps.children), status, old, tuple(steps.events), final=final)


def _adoptions(view: View, stateful_set: StatefulSet, selector: Selector) -> tuple[Write, ...]:
    namespace = stateful_set.metadata.namespace
    pods = [p for p in view.list(POD, "orphan", namespace) if ordinal_of(p.metadata.name, stateful_set) >= 0]
    revisions = view.list(CONTROLLER_REVISION, "orphan", namespace)
    if not (pods or revisions):
        return ()
    return (
        *claims(CONTROLLER_REVISION, STATEFUL_SET, stateful_set, selector, (), revisions),
        *claims(POD, STATEFUL_SET, stateful_set, selector, (), pods),
    )


def _history(view: View, stateful_set: StatefulSet) -> StatefulSetHistory | Decision:
    """The revisions, or what has to be written for today's template to be the newest."""
    revisions = in_order(view.owned(CONTROLLER_REVISION, stateful_set))
    update = equal_revision(revisions, stateful_set.spec.template)
    if update is None and stateful_set.metadata.deleting:
        # Nothing is made for a set that goes away.
        if not revisions:
            # They went before it: what is left of the set is told by the name of the last one.
            gone = ControllerRevision(metadata=Meta(name=stateful_set.status.update_revision or ""))
            return StatefulSetHistory((), gone, gone, {})
        update = revisions[-1]
    elif update is None:
        made = template_revision(
            STATEFUL_SET,
            stateful_set,
            stateful_set.spec.template,
            stateful_set.status.collision_count or 0,
            next_number(revisions),
            hash_label=HASH_LABEL,
            annotations=stateful_set.metadata.annotations,
        )
        if view.get(CONTROLLER_REVISION, *made.key) is None:
            return Decision(intent=(made,))
        # The hash of this template is taken by another one: count the collision, and the next pass computes another.
        collided = replace(stateful_set.status, collision_count=(stateful_set.status.collision_count or 0) + 1)
        return Decision(status=_status_change(stateful_set, collided))
    elif update is not revisions[-1]:
        return Decision(intent=(renumbered(update, next_number(revisions)),))
    named = stateful_set.status.current_revision
    current = next((revision for revision in revisions if revision.metadata.name == named), update)
    templates = {update.metadata.name: template_of(update)}
    if current is not update:
        templates[current.metadata.name] = template_of(current)
    return StatefulSetHistory(revisions, current, update, templates)


def _observe(view: View, stateful_set: StatefulSet, history: StatefulSetHistory) -> ObservedPods:
    # Counting healthy pods says neither which claims they own nor since when they are ready.
    whole = stateful_set.spec.min_ready_seconds > 0
    if stateful_set.spec.volume_claim_templates:
        owned = view.list(PERSISTENT_VOLUME_CLAIM, "any-owner", stateful_set.metadata.uid)
        whole = whole or drops_claims(stateful_set) or bool(owned)
    labels = {name: each.get("metadata", {}).get("labels") or {} for name, each in history.templates.items()}
    return observe_pods(view, stateful_set, labels, whole=whole)


def _status(
    view: View, stateful_set: StatefulSet, history: StatefulSetHistory, observed: ObservedPods
) -> StatefulSetStatus:
    spec, pods = stateful_set.spec, observed.present
    settled = observed.settled_count
    ready = [pod for pod in pods if pod.status.phase == "Running" and pod.ready]
    waits = spec.min_ready_seconds > 0
    available = sum(is_available(view, pod, spec.min_ready_seconds) for pod in ready) if waits else len(ready)
    current, update = history.current.metadata.name, history.update.metadata.name
    new = StatefulSetStatus(
        observed_generation=stateful_set.metadata.generation,
        replicas=settled + len(pods),
        ready_replicas=settled + len(ready),
        available_replicas=settled + available,
        current_replicas=observed.of_revision(current),
        updated_replicas=observed.of_revision(update),
        current_revision=current,
        update_revision=update,
        collision_count=stateful_set.status.collision_count or 0,
    )
    updated = {new.updated_replicas, new.ready_replicas, new.replicas} == {spec.replicas}
    if updated and spec.update_strategy.type == "RollingUpdate":
        new = replace(new, current_replicas=new.updated_replicas, current_revision=update)
    return new


def _inputs(status: StatefulSetStatus) -> tuple[str, int]:
    """The fields of status that a decision reads; it only writes the others."""
    return status.current_revision or "", status.collision_count or 0


def _status_change(stateful_set: StatefulSet, new: StatefulSetStatus) -> tuple[Write, ...]:
    always = ("replicas", "availableReplicas", "collisionCount")
    return status_change(STATEFUL_SET, stateful_set, stateful_set.status, new, always)


CONTROLLER = Controller(
    name="statefulset",
    reporter="statefulset-controller",
    reconcile=reconcile,
    of=STATEFUL_SET,
    reads=(POD, CONTROLLER_REVISION, PERSISTENT_VOLUME_CLAIM),
    writes={
        STATEFUL_SET: ("status", "finalizers"),
        POD: ("create", "patch", "delete", "finalizers"),
        CONTROLLER_REVISION: ("create", "patch", "delete"),
        PERSISTENT_VOLUME_CLAIM: ("create", "patch", "delete"),
    },
    indexers=(ORDINALS,),
    gates={MAX_UNAVAILABLE: True},
)
