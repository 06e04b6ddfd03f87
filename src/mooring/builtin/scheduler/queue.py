"""The scheduling queue: which pods are tried next, and which wait for a cluster event.

As in the scheduler of 1.35, with its three queues: activeQ has pods of higher priority first, then those that have
waited longer. An unschedulable pod waits until a cluster event might help it, by its queueing hints. It then goes to
backoffQ while it is within its backoff, which is tried after activeQ is empty; a pod whose attempt ended in an error
sits its backoff out.

The queue is what the scheduler remembers from one run to the next. It may be lost: then every pod is as good as new.
Nothing is retried for the sake of time alone, as the real one does every five minutes: no change is missed, and an
answer that follows from the cluster does not change while the cluster does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from mooring.api.core.views import Pod
from mooring.api.meta import Condition
from mooring.placement.pods import PodInfo
from mooring.placement.verdicts import UNSCHEDULABLE, code_of
from mooring.workloads.cluster_state import ClusterEvent, ClusterState

INITIAL_BACKOFF = timedelta(seconds=1)
MAX_BACKOFF = timedelta(seconds=10)
# Backoffs end on whole seconds, so that pods that failed together come back together.
BACKOFF_WINDOW = timedelta(seconds=1)

# Plugins whose verdict on one node depends on pods on others.
_CROSS_NODE = frozenset({"InterPodAffinity", "PodTopologySpread", "VolumeRestrictions"})


class Attempt(NamedTuple):
    """A pod that could not be placed: when, how often, and which plugins rejected it."""

    uid: str
    failed_at: datetime
    # Attempts that found no node, and attempts in a row that ended in an error.
    unschedulable: int = 0
    errors: int = 0
    blockers: frozenset[str] = frozenset()
    # Whether it is among the unschedulable pods: no cluster event since could help it.
    waiting: bool = True

    @property
    def backoff_ends(self) -> datetime:
        """The first moment at which the backoff is over: the whole second after the one in which it runs out."""
        count = self.errors or self.unschedulable
        if not count:
            return self.failed_at
        backoff = min(INITIAL_BACKOFF * 2 ** min(count - 1, 10), MAX_BACKOFF)
        return _window(self.failed_at + backoff) + BACKOFF_WINDOW

    def again(self, now: datetime, blockers: frozenset[str], *, error: bool) -> Attempt:
        if error:
            return self._replace(failed_at=now, errors=self.errors + 1, blockers=blockers, waiting=True)
        count = self.unschedulable + 1
        return self._replace(failed_at=now, unschedulable=count, errors=0, blockers=blockers, waiting=True)


class Queue(NamedTuple):
    """Failed attempts by pod, up to which cluster event the scheduler has read, and where its next search begins.

    `nominations` and what was `said` are what may not be on record yet, by pod: its uid, and the node or the condition.
    """

    attempts: Mapping[str, Attempt] = MappingProxyType({})
    position: int = -1
    start: int = 0
    nominations: Mapping[str, tuple[str, str]] = MappingProxyType({})
    said: Mapping[str, tuple[str, Condition]] = MappingProxyType({})


class ReadyPods(NamedTuple):
    """The pods to try, in order, and the first moment at which another one's backoff ends."""

    pods: Sequence[Pod]
    next_backoff: datetime | None


def requeued(queue: Queue, state: ClusterState) -> dict[str, Attempt]:
    """The attempts of pods that still wait; those that an event could help leave the unschedulable pods."""
    if not queue.attempts:
        return {}
    events = state.since(queue.position)
    attempts = {}
    hints = _QueueingHints(state, events)
    for key, attempt in queue.attempts.items():
        pod = state.pending.get(key)
        if pod is None or pod.metadata.uid != attempt.uid:
            continue
        if attempt.waiting and (events is None or hints.queues(key, attempt)):
            attempt = attempt._replace(waiting=False)
        attempts[key] = attempt
    return attempts


def ready_pods(state: ClusterState, attempts: Mapping[str, Attempt], now: datetime) -> ReadyPods:
    active_q: list[tuple[tuple[int, datetime, int], Pod]] = []
    backoff_q: list[tuple[tuple[datetime, int, datetime, int], Pod]] = []
    next_backoff: datetime | None = None
    for arrival, (key, pod) in enumerate(state.pending.items()):
        if pod.spec.scheduling_gates:
            continue
        attempt = attempts.get(key)
        priority = -(pod.spec.priority or 0)
        if attempt is None:
            active_q.append(((priority, _created(pod, now), arrival), pod))
        elif attempt.waiting:
            continue
        elif attempt.backoff_ends <= now:
            active_q.append(((priority, attempt.failed_at, arrival), pod))
        elif attempt.errors:
            next_backoff = min(next_backoff or attempt.backoff_ends, attempt.backoff_ends)
        else:
            backoff_q.append(((attempt.backoff_ends, priority, attempt.failed_at, arrival), pod))
    active_q.sort(key=_rank)
    backoff_q.sort(key=_rank)
    return ReadyPods([pod for _, pod in active_q] + [pod for _, pod in backoff_q], next_backoff)


class _QueueingHints:
    """Whether any of some events could make a pod schedulable; one answer serves all pods of an equivalence class."""

    def __init__(self, state: ClusterState, events: Sequence[ClusterEvent] | None) -> None:
        self._state = state
        events = events or ()
        self._touched = {h.name for h in events if h.what in ("node", "left")}
        self._changed = {h.name for h in events if h.what == "pod"}
        self._namespaces = any(h.what == "namespace" for h in events)
        self._devices = any(h.what == "devices" for h in events)
        self._storage = any(h.what == "storage" for h in events)
        self._came = [h for h in events if h.what == "came"]
        self._nothing = not events
        self._answers: dict[object, bool] = {}

    def queues(self, key: str, attempt: Attempt) -> bool:
        if self._nothing:
            return False
        if key in self._changed:
            return True
        info = self._state.cluster.pods[key]
        alike = (*equivalence_class(info), attempt.blockers)
        if alike not in self._answers:
            self._answers[alike] = self._could_help(info, attempt.blockers)
        return self._answers[alike]

    def _could_help(self, info: PodInfo, blockers: frozenset[str]) -> bool:
        template = info.template
        # What a pod asks of other pods may hide behind what blocks it now.
        asks = template.affinity_required or template.anti_required or template.spread_hard
        crossing = bool(asks) or bool(blockers & _CROSS_NODE)
        if self._touched and (crossing or not blockers):
            return True
        if (self._devices and info.claims) or (self._storage and info.volumes):
            return True
        if self._namespaces and crossing:
            return True
        if crossing and any(_concerns(info, event) for event in self._came):
            return True
        return bool(self._touched) and self._helped_by_nodes(info)

    def _helped_by_nodes(self, info: PodInfo) -> bool:
        """Whether the pod fits on a node where something changed, or would if others made room."""
        cluster = self._state.cluster
        slots = [cluster.slots[name] for name in self._touched if name in cluster.slots]
        if not slots or info.template.rejection is not None:
            return False
        _, verdicts = self._state.engine.judge(info)
        return any(
            not (bits := int(verdicts.bits[slot])) or code_of(verdicts.first(bits)) == UNSCHEDULABLE for slot in slots
        )


def equivalence_class(info: PodInfo) -> tuple[object, ...]:
    """Pods that share this get the same answer from the same cluster."""
    labels = id(info.labels) if info.labels else 0
    return (
        id(info.template),
        info.namespace,
        labels,
        info.priority,
        info.preempts,
        info.nominated,
        info.volumes,
        info.claims,
    )


def _concerns(info: PodInfo, came: ClusterEvent) -> bool:
    """Whether a pod that came to a node is one that this pod's terms or constraints select."""
    template, labels = info.template, came.labels or {}
    terms = (*template.affinity_required, *template.anti_required)
    if any(term.selector.matches(labels) for term in terms):
        return True
    return came.namespace == info.namespace and any(c.selector.matches(labels) for c in template.spread_hard)


def _rank(pair: tuple[tuple[object, ...], Pod]) -> tuple[object, ...]:
    return pair[0]


def _created(pod: Pod, now: datetime) -> datetime:
    created = pod.metadata.creation_timestamp
    return datetime.fromisoformat(created) if created else now


def _window(moment: datetime) -> datetime:
    return datetime.fromtimestamp(moment.timestamp() // 1, UTC)
