"""Simulated nodes: they become ready, keep a Lease, and run the pods that are bound to them.

A node is simulated when it is annotated `kwok.x-k8s.io/node: fake`, or when all are. One annotated `mooring.dev/lost`
says nothing any more and does nothing about its pods; what follows from that is for others to decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from mooring.api.workloads import Lease, Node, Pod
from mooring.builtin.kinds import LEASE, NODE, POD
from mooring.builtin.node_lifecycle import LEASE_DURATION, LEASE_NAMESPACE
from mooring.builtin.nodes_addresses import Addresses, host_address, pod_address
from mooring.builtin.nodes_conditions import is_ready
from mooring.builtin.nodes_kubelet import make_lease, node_status, renew_lease, renewed_at
from mooring.builtin.nodes_pods import START_DELAY, due, is_started, recover, step
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Write
from mooring.runtime.kinds import Key
from mooring.runtime.view import View

HEARTBEAT = timedelta(seconds=10)


def simulated_nodes(*, every_node: bool = False, start_delay: timedelta = START_DELAY) -> Controller:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        node = view.get(NODE, *key)
        if node is None or not (every_node or node.metadata.annotations.fake == "fake"):
            return Decision()
        lease = view.get(LEASE, LEASE_NAMESPACE, key.name)
        if node.metadata.annotations.lost:
            if lease is not None:
                # A simulation must not come to rest before anybody could notice.
                view.reached(renewed_at(lease, now) + LEASE_DURATION)
            return Decision()
        return Decision(
            intent=_heartbeat(node, lease, view),
            children=tuple(_tend(node, view, start_delay)),
            status=node_status(node, now),
        )

    return Controller("nodes", reconcile, of=NODE, reads=(POD, LEASE), writes=(NODE, POD, LEASE))


def _heartbeat(node: Node, lease: Lease | None, view: View) -> tuple[Write, ...]:
    """Renew the Lease in time. This alone never keeps a simulation from settling."""
    if lease is None:
        return (make_lease(node, view.now),)
    due_at = renewed_at(lease, view.now) + HEARTBEAT
    if due_at <= view.now:
        return (renew_lease(node, lease, view.now),)
    view.poll_again(due_at)
    return ()


def _tend(node: Node, view: View, start_delay: timedelta) -> Iterator[Write]:
    """What is to be done about each pod now."""
    pods = view.list(POD, "node", node.metadata.name)
    taken: set[str] | None = None
    for pod in pods:
        when = due(pod, start_delay)
        if when is None or not view.reached(when):
            if is_ready(node) and (again := recover(pod, view.now)) is not None:
                yield again
            continue
        if is_started(pod) or pod.metadata.deleting:
            yield step(pod, view.now)
            continue
        if taken is None:
            taken = {other.status.pod_ip for other in pods if not other.finished}
        yield step(pod, view.now, _place(node, pod, taken))


def _place(node: Node, pod: Pod, taken: set[str]) -> Addresses:
    address = pod_address(node, pod, taken)
    if not pod.spec.host_network:
        taken.add(address)
    return Addresses(address, host_address(node))
