"""The scheduler: decides for all waiting pods at once, in batches, what the engine would decide one after another.

Each pod that is placed is held as bound before the next is looked at, so a batch is what a scheduler does that waits
for every binding. All of that lies in an overlay, which the decision hands on: deciding changes nothing.

A pod whose claims are to be given devices is bound once they are seen to have them (`device_claims.py`).
A pod whose volume claims wait for it is bound in two steps: the volumes that they are given, or the node that they are
to be made for, are written with a nomination, and the pod is bound once all of them are.

A pod that finds no node may preempt. Its nomination and the marks of its victims are written first, and marked pods
are deleted in the next run, after the nominations of that run: whatever is lost in between, a marked pod goes, and the
one that it makes room for is known not to need another victim.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mooring.api.core.views import Pod
from mooring.api.kinds import Key, Kind, key_of
from mooring.api.meta import Condition
from mooring.builtin.scheduler import device_claims
from mooring.builtin.scheduler.queue import Attempt, Queue, equivalence_class, ready_pods, requeued
from mooring.placement import messages
from mooring.placement.devices.dynamic_resources import pre_enqueue
from mooring.placement.engine import Explanation
from mooring.placement.overlay import Overlay
from mooring.placement.pods import PodInfo
from mooring.placement.reservations import Reservation, assume, reservation
from mooring.placement.verdicts import Verdicts
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Assume, Bind, Decision, Delete, Event, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.claimed_volumes import claimed
from mooring.workloads.cluster_state import CLUSTER, ClusterState, is_victim
from mooring.workloads.conditions import disruption_mark, pod_conditions
from mooring.workloads.kinds import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, POD, RESOURCE_CLAIM

NAME = "default-scheduler"
# Writes of one decision. A bound lets the next decision see what happens meanwhile; a bind costs more to execute than
# to decide.
MAX_WRITES = 1000

SELECTED_NODE = "volume.kubernetes.io/selected-node"


class Failure(NamedTuple):
    """Why a pod was not placed, and what is done about it."""

    message: str
    error: bool
    blockers: frozenset[str]
    # The node it is nominated to, "" for none; None leaves its nomination as it is.
    nominated: str | None
    victims: tuple[PodInfo, ...] = ()
    # Whether it has a node and waits for its volumes there: nothing is said of that.
    binding_volumes: bool = False


class SchedulingBatch:
    """What one run decides, as it grows."""

    def __init__(self, view: View, state: ClusterState, overlay: Overlay, queue: Queue) -> None:
        self._view = view
        self._state = state
        self._cluster = state.cluster
        self._engine = state.engine
        self._overlay = overlay
        # Where the search for the next pod begins.
        self.start = queue.start
        self._now = view.now
        self.binds: list[Write] = []
        self.marks: dict[str, Write] = {}
        # What resource claims are given, or lose.
        self.claims: dict[str, Write] = {}
        # What claims are given, by claim or volume.
        self.volumes: dict[tuple[Kind[Any], Key], Write] = {}
        # The status of pods that gain or lose a nomination.
        self.nominations: dict[str, Patch] = {}
        self.statuses: list[Write] = []
        # What is said of pods, by pod: the uid, and the condition. A write of one may fail as well.
        self.said: dict[str, tuple[str, Condition]] = {}
        self.events: list[Event] = []
        # By what pods have in common: why they fail, and how far the search for each moves on.
        self._memo: dict[tuple[object, ...], tuple[Failure, int]] = {}
        self._memo_position = -1
        # Nominations by pod that may not be on record: a write of one may still fail, and its victims are on their way.
        self._nominations = self._held(queue)

    def _held(self, queue: Queue) -> dict[str, str]:
        """Hold again, and write again, what was nominated before and is not on record."""
        held = {}
        for name, (uid, node) in queue.nominations.items():
            pod = self._state.pending.get(name)
            if pod is not None and pod.metadata.uid == uid and not pod.status.nominated_node_name:
                self._overlay.nominate(self._cluster.pods[name], node)
                self.nominations[name] = _status(pod, {"nominatedNodeName": node})
                held[name] = node
        return held

    def unrecorded(self) -> Mapping[str, tuple[str, str]]:
        """Nominations to be remembered until they are on record."""
        pending = self._state.pending
        return MappingProxyType({name: (pending[name].metadata.uid, node) for name, node in self._nominations.items()})

    @property
    def writes(self) -> int:
        decided = (self.binds, self.marks, self.claims, self.volumes, self.nominations, self.statuses)
        return sum(map(len, decided))

    def place(self, pod: Pod) -> Failure | None:
        """Bind a pod, or say why it cannot be bound."""
        self._overlay.settle()
        key = key_of(pod)
        info = self._cluster.pods[str(key)]
        alike = equivalence_class(info)
        # What is assumed of volumes and claims is in no journal.
        known = None if info.volumes or info.claims else self._known(alike)
        if known is not None:
            failure, moved = known
            self.start += moved
            return failure
        placed = self._engine.place(info, self.start)
        if placed.slot < 0:
            # A search that finds nothing moves on as well.
            failure = self._explain(info)
            self._memo[alike] = failure, placed.next_start - self.start
            self.start = placed.next_start
            return failure
        self.start = placed.next_start
        reserved = reservation(self._cluster, info, placed.slot)
        if reserved.error:
            return Failure(reserved.error, True, frozenset(), None)
        if reserved.claims:
            self._write_claims(info, placed.slot, reserved)
            return None
        if reserved.volumes:
            self._bind_volumes(pod, info, placed.slot, reserved)
            return Failure("", False, frozenset({"VolumeBinding"}), None, binding_volumes=True)
        if self._nominations.pop(info.key, None):
            self.nominations.pop(info.key, None)
        self._overlay.bind(info, placed.slot)
        node = self._cluster.names[placed.slot]
        self.binds.append(Bind(POD, key, node))
        said = f"Successfully assigned {info.key} to {node}"
        self.events.append(Event(POD, key, "Normal", "Scheduled", said, action="Binding"))
        return None

    def _write_claims(self, info: PodInfo, slot: int, reserved: Reservation) -> None:
        """Write what the pod's claims get, and hold its place; seeing that is the reason for the next run."""
        claims = [(self._cluster.devices.observed(write.claim), write) for write in reserved.claims]
        missing = [patch for claim, _ in claims if (patch := device_claims.protected(claim))]
        written = [device_claims.reserved(claim, write) for claim, write in claims]
        self.claims.update({str(patch.key): patch for patch in missing or written})
        assume(self._cluster, reserved)
        self._overlay.bind(info, slot)

    def _bind_volumes(self, pod: Pod, info: PodInfo, slot: int, reserved: Reservation) -> None:
        """Write what the pod's claims are given, and hold its place meanwhile."""
        storage, node = self._cluster.storage, self._cluster.names[slot]
        for claim_key, volume, _ in reserved.volumes:
            claim = storage.claims[claim_key]
            if volume:
                if (write := claimed(storage.volumes[volume].view, claim)) is not None:
                    self.volumes[PERSISTENT_VOLUME, Key("", volume)] = write
            elif claim.metadata.annotations.selected_node != node:
                noted = {"metadata": {"annotations": {SELECTED_NODE: node}}}
                self.volumes[PERSISTENT_VOLUME_CLAIM, key_of(claim)] = Patch(
                    PERSISTENT_VOLUME_CLAIM, key_of(claim), noted
                )
        assume(self._cluster, reserved)
        if pod.status.nominated_node_name != node:
            self.nominations[info.key] = _status(pod, {"nominatedNodeName": node})
            self._nominations[info.key] = node
        self._overlay.bind(info, slot)

    def _known(self, alike: tuple[object, ...]) -> tuple[Failure, int] | None:
        """The answer to a pod like this one, if the cluster is still as it was."""
        cluster = self._cluster
        position = cluster.journal_start + len(cluster.journal)
        if position != self._memo_position:
            self._memo.clear()
            self._memo_position = position
        return self._memo.get(alike)

    def _explain(self, info: PodInfo) -> Failure:
        found = self._engine.explain(info)
        if found.deallocated:
            claim = self._cluster.devices.claims[found.deallocated]
            self.claims[found.deallocated] = device_claims.deallocated(claim)
        if found.error:
            return Failure(found.error, True, frozenset(), "")
        preemption = found.preemption
        if preemption is None:
            return Failure(found.message, False, frozenset(), "")
        blockers = _blockers(found)
        if preemption.slot >= 0 and self._makes_room(info):
            return Failure(f"{found.message} preemption: {messages.VICTIM_LEAVING}", False, blockers, None)
        if preemption.slot >= 0:
            node = self._cluster.names[preemption.slot]
            return Failure(found.message, False, blockers, node, preemption.victims)
        return Failure(found.message, False, blockers, "" if preemption.is_eligible else None)

    def _makes_room(self, info: PodInfo) -> bool:
        """Whether victims are marked on the pod's nominated node and will go: as good as on their way out."""
        return any(
            victim.spec.node_name == info.nominated and (victim.spec.priority or 0) < info.priority
            for victim in self._state.victims.values()
        )

    def fail(self, pod: Pod, failure: Failure) -> None:
        """Tell a pod why it waits, and make room for it if others have to go."""
        key, text = key_of(pod), messages.note(failure.message)
        self.events.append(Event(POD, key, "Warning", "FailedScheduling", text, action="Scheduling"))
        reason = "SchedulerError" if failure.error else "Unschedulable"
        # A nomination that is not on record yet is written again, whatever became of the write before.
        nominated = self._nominations.get(str(key)) if failure.nominated is None else failure.nominated
        if failure.nominated == "" and self._nominations.pop(str(key), ""):
            self.nominations.pop(str(key), None)
            self._overlay.nominate(self._cluster.pods[str(key)], "")
        self._set_status(pod, reason, failure.message, nominated)
        if failure.nominated and failure.victims:
            self._preempt(pod, failure.nominated, failure.victims)

    def gate(self, pod: Pod) -> None:
        self._set_status(pod, "SchedulingGated", messages.GATED, None)

    def _set_status(self, pod: Pod, reason: str, message: str, nominated: str | None) -> None:
        body: dict[str, object] = {}
        condition = Condition("PodScheduled", "False", reason, message)
        self.said[str(key_of(pod))] = pod.metadata.uid, condition
        conditions = pod_conditions(pod, self._now, condition)
        if conditions is not None:
            body["conditions"] = conditions
        if nominated is not None and nominated != pod.status.nominated_node_name:
            body["nominatedNodeName"] = nominated or None
        if body.get("nominatedNodeName"):
            self.nominations[str(key_of(pod))] = _status(pod, body)
        elif body:
            self.statuses.append(_status(pod, body))

    def say_again(self, name: str, uid: str, condition: Condition) -> None:
        """What the last run said of a pod that still waits, where it is not on record and nothing else is said now."""
        pod = self._state.pending.get(name)
        if pod is not None and pod.metadata.uid == uid and name not in self.said:
            conditions = pod_conditions(pod, self._now, condition)
            if conditions is not None:
                self.statuses.append(_status(pod, {"conditions": conditions}))
                self.said[name] = uid, condition

    def _preempt(self, pod: Pod, node: str, victims: tuple[PodInfo, ...]) -> None:
        state, cluster = self._state, self._cluster
        info = cluster.pods[str(key_of(pod))]
        for rival in sorted(cluster.nominated.get(node, {}).values(), key=lambda rival: rival.key):
            # Who counted on this node at a lower priority has to look again.
            if rival.priority < info.priority and rival.key in state.pending:
                said = self.nominations[rival.key].body["status"] if rival.key in self.nominations else {}
                self.nominations[rival.key] = _status(state.pending[rival.key], {**said, "nominatedNodeName": None})
                self._overlay.nominate(rival, "")
                self._nominations.pop(rival.key, None)
        self._overlay.nominate(info, node)
        self._nominations[info.key] = node
        self._memo.clear()
        why = f"{pod.spec.scheduler_name or NAME}: preempting to accommodate a higher priority pod"
        for victim in victims:
            if victim.key not in self.marks and not victim.terminating:
                self._mark(victim, why, f"Preempted by pod {pod.metadata.uid} on node {node}")

    def _mark(self, victim: PodInfo, why: str, said: str) -> None:
        key = Key(victim.namespace, victim.name)
        found = self._view.get(POD, *key)
        if found is None or is_victim(found):
            return
        mark = disruption_mark(found, self._now, "PreemptionByScheduler", why)
        if mark is not None:
            self.marks[victim.key] = mark
        self.events.append(Event(POD, key, "Normal", "Preempted", said, action="Preempting"))


def _status(pod: Pod, body: dict[str, object]) -> Patch:
    return Patch(POD, key_of(pod), {"status": body}, "status")


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    state = view.fold(CLUSTER)
    queue = view.memory(Queue) or Queue()
    with state.supposing() as overlay:
        return _decide(view, state, overlay, queue)


def _decide(view: View, state: ClusterState, overlay: Overlay, queue: Queue) -> Decision:
    now = view.now
    batch = SchedulingBatch(view, state, overlay, queue)
    # 1. Victims that are marked go.
    evictions = [Delete(POD, key_of(pod)) for pod in state.victims.values()]
    # 2. Gates are acknowledged.
    for pod in state.pending.values():
        if pod.spec.scheduling_gates:
            batch.gate(pod)
    # 3. The pods of activeQ and backoffQ are tried, in order.
    attempts = requeued(queue, state)
    position = state.position
    ready = ready_pods(state, attempts, now)
    for pod in ready.pods:
        if batch.writes >= MAX_WRITES:
            # Having written, this runs again.
            break
        name = str(key_of(pod))
        if pre_enqueue(state.cluster, state.cluster.pods[name]) is not None:
            continue
        failure = batch.place(pod)
        if failure is None:
            attempts.pop(name, None)
            continue
        if not failure.binding_volumes:
            batch.fail(pod, failure)
        attempt = attempts.get(name) or Attempt(pod.metadata.uid, now)
        attempts[name] = attempt.again(now, failure.blockers, error=failure.error)
    # 4. What was said and is not on record is said again.
    for name, (uid, condition) in queue.said.items():
        if name in attempts:
            batch.say_again(name, uid, condition)
    # 5. Backoffs that are sat out end at their time.
    if ready.next_backoff is not None:
        view.reached(ready.next_backoff)
    return Decision(
        intent=(*batch.claims.values(), *batch.volumes.values(), *batch.marks.values(), *batch.nominations.values()),
        children=(*evictions, *batch.binds),
        status=tuple(batch.statuses),
        events=tuple(batch.events),
        memory=Queue(
            MappingProxyType(attempts), position, batch.start, batch.unrecorded(), MappingProxyType(batch.said)
        ),
        assumes=(Assume(CLUSTER, overlay.assumed()),),
    )


def _blockers(found: Explanation) -> frozenset[str]:
    """The plugins that reject the pod on some node; their queueing hints decide which events requeue it."""
    verdicts: Verdicts | None = found.verdicts
    if verdicts is None:
        return frozenset()
    kinds = set(verdicts.bits[found.order].tolist())
    return frozenset(reason.plugin for bits in kinds for reason in verdicts.first(bits) if reason.plugin)


CONTROLLER: Final = Controller(
    "scheduler",
    reconcile,
    reads=(POD,),
    writes={
        POD: ("binding", "status", "delete"),
        PERSISTENT_VOLUME_CLAIM: ("patch",),
        PERSISTENT_VOLUME: ("patch",),
        RESOURCE_CLAIM: ("patch", "status"),
    },
    folds=(CLUSTER,),
    reporter="default-scheduler",
    memory=Queue,
)
