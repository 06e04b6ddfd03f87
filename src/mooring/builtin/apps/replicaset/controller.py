"""As many pods of one template as a spec says: ReplicaSets, and ReplicationControllers, their older form.

A set whose pods are all alike, which is nearly always, is looked at by counting: ten thousand pods cost no more than
three. Pods are listed only when some must be created, deleted, claimed or timed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from mooring.api.apps.views import ReplicaSet, ReplicaSetStatus
from mooring.api.conditions import dated, find_condition, without_condition
from mooring.api.core.views import Pod, ReplicationController
from mooring.api.kinds import Indexers, Key, Kind, key_of
from mooring.api.meta import Condition
from mooring.builtin.apps.replicaset.ranking import least_valuable
from mooring.kube.selectors import Selector
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Event, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.incarnations import Incarnations, Issued
from mooring.workloads.kinds import POD, REPLICA_SET, REPLICATION_CONTROLLER
from mooring.workloads.ownerrefs import claims
from mooring.workloads.podcontrol import MAX_WRITES_PER_PASS, annotated, is_available, pod_from_template, status_change

FAILURE = "ReplicaFailure"
# Labels that a pod gets from the node it is bound to.
_OF_A_PLACE = frozenset({"topology.kubernetes.io/zone", "topology.kubernetes.io/region"})
_COUNTED_OWNERS = frozenset({"ReplicaSet", "ReplicationController"})

# Both kinds under one name: what is said of a set holds for both.
AnySet = ReplicaSet | ReplicationController


class Census(NamedTuple):
    """What is seen of a set's pods."""

    replicas: int
    fully_labeled: int
    ready: int
    available: int
    terminating: int


def reconcile(kind: Kind[Any], key: Key, view: View, now: datetime) -> Decision:
    replica_set = view.get(kind, *key)
    if replica_set is None:
        return Decision()
    selector = replica_set.spec.label_selector
    uniform = _is_uniform(view, replica_set)

    known = view.memory(Issued)

    # 1. Ownership agrees with the selector before anything is counted on.
    owned = () if uniform else tuple(pod for pod in view.owned(POD, replica_set) if pod.active)
    orphans = [pod for pod in view.list(POD, "orphan", key.namespace) if pod.active]
    if claimed := claims(POD, kind, replica_set, selector, owned, orphans):
        return Decision(intent=claimed, memory=known)

    # 2. What there is.
    census = _count(view, replica_set) if uniform else _inspect(view, replica_set, selector)

    # 3. Which names are spent; a status that counts fewer pods than before would be the last to tell of them.
    difference = replica_set.spec.replicas - census.replicas
    names = None
    if not replica_set.metadata.deleting and (difference > 0 or census.replicas < replica_set.status.replicas):
        names = _incarnations(view, replica_set, census, known)
    record = names.annotations if names is not None else {}

    # 4. A refusal of the last pass is reported before the write is tried again, because a refusal ends a decision.
    if difference > 0 and (untold := _untold_failure(view, replica_set)):
        event = Event(kind, key, "Warning", "FailedCreate", f"Error creating: {untold}")
        failure = _failure(replica_set, untold, now)
        failed = annotated(kind, replica_set, _status(kind, replica_set, census, failure), record)
        return Decision(status=failed, events=(event,), memory=names.issued if names is not None else known)

    # 5. What is missing or too many.
    children: tuple[Write, ...] = ()
    events: tuple[Event, ...] = ()
    if replica_set.metadata.deleting:
        pass
    elif difference > 0 and names is not None:
        children, events = _grow(kind, view, replica_set, names, min(difference, MAX_WRITES_PER_PASS))
    elif difference < 0:
        children, events = _shrink(kind, view, replica_set, selector, min(-difference, MAX_WRITES_PER_PASS), now)
    memory = names.issued if names is not None else known

    # 6. Status says what was seen, not what was just decided. A record goes with it, before any pod is made.
    if record or (difference > 0 and view.problem):
        # Whether a failure is over is not known before the pods are made; while it is not, this pass ends at them.
        said = _status(kind, replica_set, census, _standing_failure(replica_set))
        intent = annotated(kind, replica_set, said, record)
        return Decision(intent, children, events=events, memory=memory)
    return Decision(children=children, status=_status(kind, replica_set, census), events=events, memory=memory)


def _incarnations(view: View, replica_set: AnySet, census: Census, known: Issued | None) -> Incarnations:
    # A refused creation is no pod that has gone.
    known = None if view.problem else known
    counted = replica_set.status.replicas
    most = max(replica_set.spec.replicas, counted)
    pods = view.owned(POD, replica_set)
    return Incarnations(replica_set, pods, most, known, counted - census.replicas)


def _standing_failure(replica_set: AnySet) -> Condition | None:
    return next((condition for condition in replica_set.status.conditions if condition.type == FAILURE), None)


def _untold_failure(view: View, replica_set: AnySet) -> str:
    known = find_condition(replica_set.status.conditions, FAILURE)
    return "" if known is not None and view.problem == known.message else view.problem


def _failure(replica_set: AnySet, problem: str, now: datetime) -> Condition:
    known = find_condition(replica_set.status.conditions, FAILURE)
    return dated(Condition(FAILURE, "True", "FailedCreate", problem), known, now)


def _owned_alike(uid: str, labels: dict[str, str]) -> str:
    """A value of index `alike`: a set's pods that carry exactly these labels, where they were bound aside."""
    return uid + "".join([f"\n{name}={labels[name]}" for name in sorted(labels) if name not in _OF_A_PLACE])


def _alike(pod: Pod) -> Iterable[str]:
    owner = pod.metadata.controller
    if owner is None or owner.kind not in _COUNTED_OWNERS:
        return ()
    return (_owned_alike(owner.uid, pod.metadata.labels),)


def _labels(replica_set: AnySet) -> dict[str, str]:
    labels: dict[str, str] = replica_set.spec.template.get("metadata", {}).get("labels") or {}
    return labels


def _is_uniform(view: View, replica_set: AnySet) -> bool:
    """Whether every pod carries exactly the template's labels, and counting tells all."""
    if replica_set.spec.min_ready_seconds > 0:
        return False
    uid = replica_set.metadata.uid
    alike = view.count(POD, "alike", _owned_alike(uid, _labels(replica_set)), "any")
    return alike == view.count(POD, "owner", uid, "any")


def _count(view: View, replica_set: AnySet) -> Census:
    uid = replica_set.metadata.uid
    active = view.count(POD, "owner", uid, "active")
    ready = view.count(POD, "owner", uid, "ready")
    return Census(active, active, ready, ready, view.count(POD, "owner", uid, "terminating"))


def _inspect(view: View, replica_set: AnySet, selector: Selector) -> Census:
    pods = [pod for pod in view.owned(POD, replica_set) if selector.matches(pod.metadata.labels)]
    active = [pod for pod in pods if pod.active]
    template = _labels(replica_set).items()
    return Census(
        replicas=len(active),
        fully_labeled=sum(template <= pod.metadata.labels.items() for pod in active),
        ready=sum(pod.ready for pod in active),
        available=sum(is_available(view, pod, replica_set.spec.min_ready_seconds) for pod in active),
        terminating=sum(pod.terminating for pod in pods),
    )


def _grow(
    kind: Kind[Any], view: View, replica_set: AnySet, names: Incarnations, count: int
) -> tuple[tuple[Write, ...], tuple[Event, ...]]:
    chosen = list(islice(names.names(view, replica_set.metadata.name), count))
    template = replica_set.spec.template
    writes = tuple(Create(POD, pod_from_template(kind, replica_set, template, name)) for name in chosen)
    return writes, _events(kind, replica_set, "SuccessfulCreate", "Created pod", chosen)


def _shrink(
    kind: Kind[Any], view: View, replica_set: AnySet, selector: Selector, count: int, now: datetime
) -> tuple[tuple[Write, ...], tuple[Event, ...]]:
    pods = [p for p in view.owned(POD, replica_set) if p.active and selector.matches(p.metadata.labels)]
    victims = least_valuable(pods, _related(kind, view, replica_set), count, now)
    writes = tuple(Delete(POD, key_of(pod)) for pod in victims)
    return writes, _events(kind, replica_set, "SuccessfulDelete", "Deleted pod", [pod.metadata.name for pod in victims])


def _related(kind: Kind[Any], view: View, replica_set: AnySet) -> list[Pod]:
    """The pods of every set of the same Deployment: a node that several of them share can spare one."""
    owner = replica_set.metadata.controller
    if owner is None:
        return []
    return [pod for sibling in view.list(kind, "owner", owner.uid) for pod in view.owned(POD, sibling)]


def _events(kind: Kind[Any], replica_set: AnySet, reason: str, verb: str, names: Sequence[str]) -> tuple[Event, ...]:
    key = key_of(replica_set)
    pods = {name: (POD, Key(key.namespace, name)) for name in names}
    return tuple(Event(kind, key, "Normal", reason, f"{verb}: {name}", pod) for name, pod in pods.items())


def _status(
    kind: Kind[Any], replica_set: AnySet, census: Census, failure: Condition | None = None
) -> tuple[Patch, ...]:
    old = replica_set.status
    # The older form does not tell of pods on their way out.
    told = {"terminating_replicas": census.terminating} if isinstance(old, ReplicaSetStatus) else {}
    new = msgspec.structs.replace(
        old,
        replicas=census.replicas,
        fully_labeled_replicas=census.fully_labeled,
        ready_replicas=census.ready,
        available_replicas=census.available,
        observed_generation=replica_set.metadata.generation,
        # A failure is over when the writes before this one have gone through.
        conditions=(
            *without_condition(old.conditions, FAILURE),
            *((failure,) if failure is not None else ()),
        ),
        **told,
    )
    always = ("replicas", "terminatingReplicas")
    return status_change(kind, replica_set, old, new, always)


def _controller(kind: Kind[Any], name: str, reporter: str) -> Controller:
    return Controller(
        name=name,
        reporter=reporter,
        reconcile=partial(reconcile, kind),
        of=kind,
        reads=(POD,),
        writes={kind: ("patch", "status", "finalizers"), POD: ("create", "patch", "delete")},
        indexers=(ALIKE,),
        memory=Issued,
    )


ALIKE = Indexers(POD, indexes={"alike": _alike}, placed_by=())
CONTROLLER = _controller(REPLICA_SET, "replicaset", "replicaset-controller")
REPLICATION = _controller(REPLICATION_CONTROLLER, "replicationcontroller", "replication-controller")
