"""Simulated nodes: they become ready, keep a Lease, and run the pods that are bound to them.

A node is simulated when it is annotated `kwok.x-k8s.io/node: fake`, or when all nodes are. Stages decide what happens
on it; where no Stage matches, pods start and stop as on any node. A node annotated `mooring.dev/lost` renews no Lease
and leaves its pods as they are, so the node lifecycle controller takes it for lost. A node annotated
`mooring.dev/quiet` starts and stops pods without the events and statuses in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from types import MappingProxyType

from mooring.api.coordination.views import Lease
from mooring.api.core.views import Node, Pod
from mooring.api.kinds import Key
from mooring.nodes.addresses import Addresses, host_address, pod_address
from mooring.nodes.simulated.kubelet import make_lease, node_status, renew_lease, renewed_at
from mooring.nodes.simulated.pod_changes import changes_of, is_changed
from mooring.nodes.simulated.pod_events import creating, is_being_created, start_events, stop_events
from mooring.nodes.simulated.pods import START_DELAY, due, is_started, recover, step
from mooring.nodes.stages.kinds import STAGE, WHOLE_NODE, WHOLE_POD
from mooring.nodes.stages.lifecycle import STAGES
from mooring.nodes.stages.player import StagePlayer, stage_player
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Event, Write
from mooring.runtime.view import View
from mooring.workloads.kinds import LEASE, NODE, POD
from mooring.workloads.leases import LEASE_DURATION, LEASE_NAMESPACE

HEARTBEAT = timedelta(seconds=10)


def simulated_nodes(*, every_node: bool = False, start_delay: timedelta = START_DELAY) -> Controller:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        node = view.get(NODE, *key)
        if node is None or not (every_node or node.metadata.annotations.fake == "fake"):
            return Decision()
        lease = view.get(LEASE, LEASE_NAMESPACE, key.name)
        if node.metadata.annotations.lost:
            if lease is not None:
                # A simulation must not settle before the lease has run out and the loss is observed.
                view.reached(renewed_at(lease, now) + LEASE_DURATION)
            return Decision()
        stages = stage_player(view, node)
        staged, own = stages.node() if stages is not None else (False, [])
        pods = _Pods(node, view, start_delay, stages)
        return Decision(
            intent=_heartbeat(node, lease, view),
            children=tuple(pods.writes()),
            status=tuple(own) if staged else node_status(node, now),
            events=(*(stages.events if stages is not None else ()), *pods.events),
            memory=MappingProxyType(stages.pending) if stages is not None else None,
        )

    return Controller(
        "nodes",
        reconcile,
        of=NODE,
        reads=(POD, LEASE, STAGE, WHOLE_POD, WHOLE_NODE),
        writes={
            NODE: ("status",),
            POD: ("delete", "status"),
            LEASE: ("create", "patch"),
            # A Stage may say anything.
            WHOLE_NODE: ("patch", "delete", "status"),
            WHOLE_POD: ("patch", "delete", "status"),
        },
        folds=(STAGES,),
        reporter="kubelet",
        memory=MappingProxyType,
    )


def _heartbeat(node: Node, lease: Lease | None, view: View) -> tuple[Write, ...]:
    """Renew the Lease in time. This alone never keeps a simulation from settling."""
    if lease is None:
        return (make_lease(node, view.now),)
    due_at = renewed_at(lease, view.now) + HEARTBEAT
    if due_at <= view.now:
        return (renew_lease(node, lease, view.now),)
    view.poll_again(due_at)
    return ()


class _Pods:
    """The pods of one node, and the addresses that they have."""

    def __init__(self, node: Node, view: View, start_delay: timedelta, stages: StagePlayer | None) -> None:
        self._node, self._view, self._delay, self._stages = node, view, start_delay, stages
        self._all = view.list(POD, "node", node.metadata.name)
        self._taken: set[str] | None = None
        self._records_events = not node.metadata.annotations.quiet
        self._changed: list[Pod] = []
        self.events: list[Event] = []

    def writes(self) -> Iterator[Write]:
        """The writes that are due for the pods now."""
        for pod in self._all:
            if self._stages is not None:
                staged, writes = self._stages.pod(pod, self._addresses)
                yield from writes
                if staged or (self._stages.drives_pods and _is_begun(pod)):
                    continue
            yield from self._pod_writes(pod)
        if self._changed:
            yield from self._change_writes()

    def _pod_writes(self, pod: Pod) -> Iterator[Write]:
        when = due(pod, self._delay)
        if when is None or not self._view.reached(when):
            if self._node.ready and (again := recover(pod, self._view.now)) is not None:
                yield again
            elif is_changed(pod):
                self._changed.append(pod)
            elif self._records_events and _is_new(pod):
                yield creating(pod, self._view)
        elif is_started(pod) or pod.metadata.deleting:
            if self._records_events and pod.metadata.deleting:
                self.events += stop_events(pod)
            yield step(pod, self._view.now)
        else:
            if self._records_events:
                self.events += start_events(pod)
            yield step(pod, self._view.now, self._place(pod))

    def _change_writes(self) -> Iterator[Write]:
        for write, events in changes_of(self._changed, self._all, self._node, self._view):
            if self._records_events:
                self.events += events
            yield write

    def _addresses(self) -> set[str]:
        if self._taken is None:
            self._taken = {pod.status.pod_ip for pod in self._all if not pod.finished}
        return self._taken

    def _place(self, pod: Pod) -> Addresses:
        taken = self._addresses()
        address = pod_address(self._node, pod, taken)
        if not pod.spec.host_network:
            taken.add(address)
        return Addresses(address, host_address(self._node))


def _is_new(pod: Pod) -> bool:
    return pod.status.phase == "Pending" and not pod.metadata.deleting and not pod.status.container_statuses


def _is_begun(pod: Pod) -> bool:
    """Whether a Stage has begun a pod that is not started: only a Stage may continue it."""
    return not is_started(pod) and not pod.metadata.deleting and not is_being_created(pod)
