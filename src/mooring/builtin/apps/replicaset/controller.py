"""ReplicaSet: as many pods of one template as the spec says.

A set whose pods are all alike, which is nearly always, is looked at by counting: ten thousand pods cost no more than
three. Pods are listed only when some must be created, deleted, claimed or timed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from mooring.api.apps.views import ReplicaSet, ReplicaSetStatus
from mooring.api.conditions import dated, find_condition, without_condition
from mooring.api.core.views import Pod
from mooring.api.kinds import Indexers, Key, key_of
from mooring.api.meta import Condition
from mooring.builtin.apps.replicaset.ranking import least_valuable
from mooring.kube.selectors import Selector, selector_from_dict
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Event, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.incarnations import Incarnations, Issued
from mooring.workloads.kinds import POD, REPLICA_SET
from mooring.workloads.ownerrefs import claims
from mooring.workloads.podcontrol import MAX_WRITES_PER_PASS, annotated, is_available, pod_from_template, status_change

FAILURE = "ReplicaFailure"
# Labels that a pod gets from the node it is bound to.
_OF_A_PLACE = frozenset({"topology.kubernetes.io/zone", "topology.kubernetes.io/region"})


class Census(NamedTuple):
    """What is seen of a set's pods."""

    replicas: int
    fully_labeled: int
    ready: int
    available: int
    terminating: int


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    replica_set = view.get(REPLICA_SET, *key)
    if replica_set is None:
        return Decision()
    selector = selector_from_dict(replica_set.spec.selector)
    uniform = _is_uniform(view, replica_set)

    known = view.memory(Issued)

    # 1. Ownership agrees with the selector before anything is counted on.
    owned = () if uniform else tuple(pod for pod in view.owned(POD, replica_set) if pod.active)
    orphans = [pod for pod in view.list(POD, "orphan", key.namespace) if pod.active]
    if claimed := claims(POD, REPLICA_SET, replica_set, selector, owned, orphans):
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
        event = Event(REPLICA_SET, key, "Warning", "FailedCreate", f"Error creating: {untold}")
        failure = _failure(replica_set, untold, now)
        failed = annotated(REPLICA_SET, replica_set, _status(replica_set, census, failure), record)
        return Decision(status=failed, events=(event,), memory=names.issued if names is not None else known)

    # 5. What is missing or too many.
    children: tuple[Write, ...] = ()
    events: tuple[Event, ...] = ()
    if replica_set.metadata.deleting:
        pass
    elif difference > 0 and names is not None:
        children, events = _grow(view, replica_set, names, min(difference, MAX_WRITES_PER_PASS))
    elif difference < 0:
        children, events = _shrink(view, replica_set, selector, min(-difference, MAX_WRITES_PER_PASS), now)
    memory = names.issued if names is not None else known

    # 6. Status says what was seen, not what was just decided. A record goes with it, before any pod is made.
    if record:
        # Whether a failure is over is not known before the pods are made.
        said = _status(replica_set, census, _standing_failure(replica_set))
        intent = annotated(REPLICA_SET, replica_set, said, record)
        return Decision(intent, children, events=events, memory=memory)
    return Decision(children=children, status=_status(replica_set, census), events=events, memory=memory)


def _incarnations(view: View, replica_set: ReplicaSet, census: Census, known: Issued | None) -> Incarnations:
    # A refused creation is no pod that has gone.
    known = None if view.problem else known
    counted = replica_set.status.replicas
    most = max(replica_set.spec.replicas, counted)
    pods = view.owned(POD, replica_set)
    return Incarnations(replica_set, pods, most, known, counted - census.replicas)


def _standing_failure(replica_set: ReplicaSet) -> Condition | None:
    return next((condition for condition in replica_set.status.conditions if condition.type == FAILURE), None)


def _untold_failure(view: View, replica_set: ReplicaSet) -> str:
    known = find_condition(replica_set.status.conditions, FAILURE)
    return "" if known is not None and view.problem == known.message else view.problem


def _failure(replica_set: ReplicaSet, problem: str, now: datetime) -> Condition:
    known = find_condition(replica_set.status.conditions, FAILURE)
    return dated(Condition(FAILURE, "True", "FailedCreate", problem), known, now)


def _owned_alike(uid: str, labels: dict[str, str]) -> str:
    """A value of index `alike`: a set's pods that carry exactly these labels, where they were bound aside."""
    return uid + "".join([f"\n{name}={labels[name]}" for name in sorted(labels) if name not in _OF_A_PLACE])


def _alike(pod: Pod) -> Iterable[str]:
    owner = pod.metadata.controller
    if owner is None or owner.kind != "ReplicaSet":
        return ()
    return (_owned_alike(owner.uid, pod.metadata.labels),)


def _labels(replica_set: ReplicaSet) -> dict[str, str]:
    labels: dict[str, str] = replica_set.spec.template.get("metadata", {}).get("labels") or {}
    return labels


def _is_uniform(view: View, replica_set: ReplicaSet) -> bool:
    """Whether every pod carries exactly the template's labels, and counting tells all."""
    if replica_set.spec.min_ready_seconds > 0:
        return False
    uid = replica_set.metadata.uid
    alike = view.count(POD, "alike", _owned_alike(uid, _labels(replica_set)), "any")
    return alike == view.count(POD, "owner", uid, "any")


def _count(view: View, replica_set: ReplicaSet) -> Census:
    uid = replica_set.metadata.uid
    active = view.count(POD, "owner", uid, "active")
    ready = view.count(POD, "owner", uid, "ready")
    return Census(active, active, ready, ready, view.count(POD, "owner", uid, "terminating"))


def _inspect(view: View, replica_set: ReplicaSet, selector: Selector) -> Census:
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
    view: View, replica_set: ReplicaSet, names: Incarnations, count: int
) -> tuple[tuple[Write, ...], tuple[Event, ...]]:
    chosen = list(islice(names.names(view, replica_set.metadata.name), count))
    template = replica_set.spec.template
    writes = tuple(Create(POD, pod_from_template(REPLICA_SET, replica_set, template, name)) for name in chosen)
    return writes, _events(replica_set, "SuccessfulCreate", "Created pod", chosen)


def _shrink(
    view: View, replica_set: ReplicaSet, selector: Selector, count: int, now: datetime
) -> tuple[tuple[Write, ...], tuple[Event, ...]]:
    pods = [p for p in view.owned(POD, replica_set) if p.active and selector.matches(p.metadata.labels)]
    victims = least_valuable(pods, _related(view, replica_set), count, now)
    writes = tuple(Delete(POD, key_of(pod)) for pod in victims)
    return writes, _events(replica_set, "SuccessfulDelete", "Deleted pod", [pod.metadata.name for pod in victims])


def _related(view: View, replica_set: ReplicaSet) -> list[Pod]:
    """The pods of every set of the same Deployment: a node that several of them share can spare one."""
    owner = replica_set.metadata.controller
    if owner is None:
        return []
    return [pod for sibling in view.list(REPLICA_SET, "owner", owner.uid) for pod in view.owned(POD, sibling)]


def _events(replica_set: ReplicaSet, reason: str, verb: str, names: Sequence[str]) -> tuple[Event, ...]:
    key = key_of(replica_set)
    pods = {name: (POD, Key(key.namespace, name)) for name in names}
    return tuple(Event(REPLICA_SET, key, "Normal", reason, f"{verb}: {name}", pod) for name, pod in pods.items())


def _status(replica_set: ReplicaSet, census: Census, failure: Condition | None = None) -> tuple[Patch, ...]:
    old = replica_set.status
    new = ReplicaSetStatus(
        replicas=census.replicas,
        fully_labeled_replicas=census.fully_labeled,
        ready_replicas=census.ready,
        available_replicas=census.available,
        terminating_replicas=census.terminating,
        observed_generation=replica_set.metadata.generation,
        # A failure is over when the writes before this one have gone through.
        conditions=(
            *without_condition(old.conditions, FAILURE),
            *((failure,) if failure is not None else ()),
        ),
    )
    always = ("replicas", "terminatingReplicas")
    return status_change(REPLICA_SET, replica_set, old, new, always)


ALIKE = Indexers(POD, indexes={"alike": _alike}, placed_by=())
CONTROLLER = Controller(
    name="replicaset",
    reporter="replicaset-controller",
    reconcile=reconcile,
    of=REPLICA_SET,
    reads=(POD,),
    writes={REPLICA_SET: ("patch", "status", "finalizers"), POD: ("create", "patch", "delete")},
    indexers=(ALIKE,),
    memory=Issued,
)
