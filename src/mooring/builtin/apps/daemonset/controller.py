"""DaemonSet: one pod on every node that its template chooses.

The controller makes each pod for one node and the scheduler binds it there. Nodes that come, go, or change their labels
or taints change what is wanted; everything else about them does not matter here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from mooring.api.apps.daemonsets import DaemonSet, DaemonSetStatus
from mooring.api.core.views import Pod
from mooring.api.kinds import Key, key_of
from mooring.builtin.apps.daemonset.history import ALWAYS, forgotten, read_history
from mooring.builtin.apps.daemonset.nodes import NODES, NodeVerdict
from mooring.builtin.apps.daemonset.pods import by_node, demand_of, is_updated, make_pod
from mooring.builtin.apps.daemonset.pods_on_nodes import DaemonPlacing, DaemonSetMemory, Moves
from mooring.builtin.apps.daemonset.rollout import roll
from mooring.kube.selectors import selector_from_dict
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Event, Write
from mooring.runtime.view import View
from mooring.workloads.incarnations import Incarnations, Issued
from mooring.workloads.kinds import CONTROLLER_REVISION, DAEMON_SET, NODE, POD
from mooring.workloads.ownerrefs import claims
from mooring.workloads.podcontrol import MAX_WRITES_PER_PASS, annotated, is_available, status_change


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    daemon_set = view.get(DAEMON_SET, *key)
    # A set that goes away is left to garbage collection: what it owned may be gone in part.
    if daemon_set is None or daemon_set.metadata.deleting:
        return Decision()
    memory = view.memory(DaemonSetMemory) or DaemonSetMemory()

    # 1. Ownership agrees with the selector before anything is counted on.
    owned = view.owned(POD, daemon_set)
    if claimed := _claims(view, daemon_set, owned):
        return Decision(intent=claimed, memory=memory)

    # 2. Today's template is a revision, and the newest one, before any pod is made from it.
    history = read_history(view, daemon_set, owned)
    if isinstance(history, Decision):
        return history._replace(memory=memory)

    # 3. What there is, and what the status says of it.
    verdicts = view.fold(NODES).verdicts(demand_of(daemon_set))
    pods = by_node(owned)
    seen = _status(view, daemon_set, history.hash, verdicts, pods)
    status = status_change(DAEMON_SET, daemon_set, daemon_set.status, seen, ALWAYS)

    # 4. Every node gets what it lacks and loses what it should not have; only then are outdated pods replaced.
    placing = DaemonPlacing(view, daemon_set, history.hash, memory)
    moves = placing.place(verdicts, pods)
    if not any(moves) and daemon_set.spec.update_strategy.type == "RollingUpdate":
        moves = roll(daemon_set, history.hash, verdicts, pods, placing.available)

    # 5. Which names are spent; a status that counts fewer pods than before would be the last to tell of them.
    problem = view.problem
    names: Incarnations | None = None
    intent: tuple[Write, ...] = ()
    if moves.nodes or _counted(seen) < _counted(daemon_set.status):
        # A refused creation is no pod that has gone.
        names = _incarnations(daemon_set, seen, owned, None if problem else memory.issued)
        if names.annotations:
            intent, status = annotated(DAEMON_SET, daemon_set, status, names.annotations), ()

    # 6. What was refused the last time is told before it is tried again, because a refusal ends a decision.
    if moves.nodes and problem and problem != memory.reported:
        event = Event(DAEMON_SET, key, "Warning", "FailedCreate", f"Error creating: {problem}")
        remembered = memory._replace(reported=problem, issued=_issued(memory, names))
        return Decision(intent, status=status, events=(event,), memory=remembered)

    # 7. Revisions that no pod runs fall out of the history.
    children, events = _carry_out(view, daemon_set, history.hash, moves, names)
    old = forgotten(history.old, owned, daemon_set.spec.revision_history_limit)
    reported = memory.reported if moves.nodes else ""
    remembered = placing.remembered._replace(reported=reported, issued=_issued(memory, names))
    if problem and moves.nodes:
        # A pod that is refused again ends this pass, and must not keep the status from being written.
        intent, status = (*intent, *status), ()
    return Decision(intent, children, status, old, (*placing.events, *events), memory=remembered)


def _issued(memory: DaemonSetMemory, names: Incarnations | None) -> Issued | None:
    return memory.issued if names is None else names.issued


def _counted(status: DaemonSetStatus) -> int:
    return status.current_number_scheduled + status.number_misscheduled


def _incarnations(
    daemon_set: DaemonSet, seen: DaemonSetStatus, owned: Sequence[Pod], known: Issued | None
) -> Incarnations:
    counted = _counted(daemon_set.status)
    most = max(seen.desired_number_scheduled, counted)
    return Incarnations(daemon_set, owned, most, known, counted - _counted(seen))


def _claims(view: View, daemon_set: DaemonSet, owned: Sequence[Pod]) -> tuple[Write, ...]:
    selector = selector_from_dict(daemon_set.spec.selector)
    namespace = daemon_set.metadata.namespace
    revisions = view.owned(CONTROLLER_REVISION, daemon_set)
    orphans = view.list(CONTROLLER_REVISION, "orphan", namespace)
    strays = view.list(POD, "orphan", namespace)
    return (
        *claims(CONTROLLER_REVISION, DAEMON_SET, daemon_set, selector, revisions, orphans),
        *claims(POD, DAEMON_SET, daemon_set, selector, owned, strays),
    )


def _carry_out(
    view: View, daemon_set: DaemonSet, revision: str, moves: Moves, incarnations: Incarnations | None
) -> tuple[tuple[Write, ...], tuple[Event, ...]]:
    key = key_of(daemon_set)
    writes: list[Write] = []
    events: list[Event] = []
    names = () if incarnations is None else incarnations.names(view, key.name)
    for node, name in zip(moves.nodes[:MAX_WRITES_PER_PASS], names, strict=False):
        writes.append(Create(POD, make_pod(daemon_set, node, revision, name)))
        events.append(
            Event(
                DAEMON_SET, key, "Normal", "SuccessfulCreate", f"Created pod: {name}", (POD, Key(key.namespace, name))
            )
        )
    for pod in moves.pods[:MAX_WRITES_PER_PASS]:
        writes.append(Delete(POD, key_of(pod)))
        text = f"Deleted pod: {pod.metadata.name}"
        events.append(Event(DAEMON_SET, key, "Normal", "SuccessfulDelete", text, (POD, key_of(pod))))
    return tuple(writes), tuple(events)


def _status(
    view: View,
    daemon_set: DaemonSet,
    revision: str,
    verdicts: Mapping[str, NodeVerdict],
    pods: Mapping[str, Sequence[Pod]],
) -> DaemonSetStatus:
    """Of several pods on a node, the one that was there first counts."""
    wanted = [node for node, verdict in verdicts.items() if verdict.run]
    counted = [pods[node][0] for node in wanted if node in pods]
    ready = [pod for pod in counted if pod.ready]
    available = sum(is_available(view, pod, daemon_set.spec.min_ready_seconds) for pod in ready)
    return DaemonSetStatus(
        current_number_scheduled=len(counted),
        number_misscheduled=sum(not verdict.run and node in pods for node, verdict in verdicts.items()),
        desired_number_scheduled=len(wanted),
        number_ready=len(ready),
        observed_generation=daemon_set.metadata.generation,
        updated_number_scheduled=sum(is_updated(daemon_set, pod, revision) for pod in counted),
        number_available=available,
        number_unavailable=len(wanted) - available,
        collision_count=daemon_set.status.collision_count,
    )


CONTROLLER = Controller(
    name="daemonset",
    reconcile=reconcile,
    of=DAEMON_SET,
    reads=(POD, NODE, CONTROLLER_REVISION),
    writes={
        DAEMON_SET: ("patch", "status", "finalizers"),
        POD: ("create", "patch", "delete"),
        CONTROLLER_REVISION: ("create", "patch", "delete"),
    },
    folds=(NODES,),
    reporter="daemonset-controller",
    memory=DaemonSetMemory,
)
