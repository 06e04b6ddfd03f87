"""Node lifecycle: a node that is not heard of any more is unknown, and taints say what its conditions are.

It knows nothing of who keeps a node alive; a Lease that is renewed is all it goes by. What taints do to the pods is
decided elsewhere: whether they must go in node_lifecycle_outages, when in node_lifecycle_evictions.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from mooring.api.conditions import changed_conditions, find_condition
from mooring.api.coordination.views import Lease
from mooring.api.core.views import Node, Pod
from mooring.api.kinds import Key, key_of
from mooring.api.meta import Condition
from mooring.kube.times import moment, timestamp
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Event, Patch, status
from mooring.runtime.view import View
from mooring.workloads.conditions import pod_conditions
from mooring.workloads.kinds import LEASE, NODE, POD
from mooring.workloads.leases import LEASE_DURATION, LEASE_NAMESPACE
from mooring.workloads.taints import (
    CORDONED,
    DISK_PRESSURE,
    MEMORY_PRESSURE,
    NETWORK_UNAVAILABLE,
    NOT_READY,
    OUTAGES,
    PID_PRESSURE,
    UNREACHABLE,
    Name,
    swap_taints,
)

# How long a node may be silent, and how long a new one may take to say its first word.
NODE_MONITOR_GRACE_PERIOD: Final = timedelta(seconds=50)
NODE_STARTUP_GRACE_PERIOD: Final = timedelta(seconds=60)

# What a silent node is not asked about any more. The network is not its own business.
_KUBELETS: Final = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_TAINTED_BY: Final = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): MEMORY_PRESSURE,
    ("DiskPressure", "True"): DISK_PRESSURE,
    ("PIDPressure", "True"): PID_PRESSURE,
    ("NetworkUnavailable", "True"): NETWORK_UNAVAILABLE,
}
_CORDONED: Final = (CORDONED, "NoSchedule")
_OURS: Final = frozenset({_CORDONED, *((key, "NoSchedule") for key in _TAINTED_BY.values())})


class Sign(NamedTuple):
    """The last sign of life, and when it was seen here: the clock of a node may be wrong."""

    renewed: str
    said: tuple[str, str]
    at: datetime


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    node = view.get(NODE, *key)
    if node is None:
        return Decision()
    lease = view.get(LEASE, LEASE_NAMESPACE, key.name)
    sign = _listen(view.memory(Sign), node, lease, now)

    # 1. A node that has been silent for too long is unknown.
    if _is_silent(node, lease, sign, view) and (conditions := _unknown(node, lease, now)):
        was_ready = node.ready
        return Decision(status=conditions, events=(_lost(key),) if was_ready else (), memory=sign)

    # 2. Taints say what the conditions are.
    if (tainted := _taints(node, now)) is not None:
        return Decision(intent=(tainted,), memory=sign)

    # 3. Pods on a node that does not report are not ready, so that no Service sends requests to them.
    if node.readiness is None or node.ready:
        return Decision(memory=sign)
    marked = [(pod, write) for pod in view.list(POD, "node", key.name) if (write := _not_ready(pod, now)) is not None]
    return Decision(
        children=tuple(write for _, write in marked),
        events=tuple(Event(POD, key_of(pod), "Warning", "NodeNotReady", "Node is not ready") for pod, _ in marked),
        memory=sign,
    )


def _listen(known: Sign | None, node: Node, lease: Lease | None, now: datetime) -> Sign:
    renewed = "" if lease is None else lease.spec.renew_time or ""
    ready = node.readiness
    said = ("", "") if ready is None else (ready.status, ready.reason)
    if known is not None:
        heard = renewed != known.renewed or (said != known.said and said[0] != "Unknown")
        return Sign(renewed, said, now if heard else known.at)
    created = node.metadata.creation_timestamp
    return Sign(renewed, said, moment(created) if ready is None and created is not None else now)


def _is_silent(node: Node, lease: Lease | None, sign: Sign, view: View) -> bool:
    ready = node.readiness
    if ready is not None and ready.status == "Unknown":
        return True
    deadline = sign.at + (NODE_STARTUP_GRACE_PERIOD if ready is None else NODE_MONITOR_GRACE_PERIOD)
    if deadline <= view.now:
        return True
    overdue = (
        moment(lease.spec.renew_time) + LEASE_DURATION if lease is not None and lease.spec.renew_time else view.now
    )
    if overdue <= view.now:
        return view.reached(deadline)
    view.poll_again(min(overdue, deadline))
    return False


def _unknown(node: Node, lease: Lease | None, now: datetime) -> tuple[Patch, ...]:
    changed = []
    for kind in _KUBELETS:
        known = find_condition(node.status.conditions, kind)
        if known is None:
            reason, message = "NodeStatusNeverUpdated", "Kubelet never posted node status."
        elif known.status != "Unknown":
            reason, message = "NodeStatusUnknown", "Kubelet stopped posting node status."
        else:
            continue
        changed.append(Condition(kind, "Unknown", reason, message))
    renewed = lease.spec.renew_time if lease is not None else None
    heard = timestamp(moment(renewed)) if renewed else node.metadata.creation_timestamp or timestamp(now)
    written = changed_conditions(node.status.conditions, changed, now, heartbeat=heard)
    return () if written is None else (status(NODE, node, {"conditions": written}),)


def _lost(key: Key) -> Event:
    return Event(NODE, key, "Normal", "NodeNotReady", f"Node {key.name} status is now: NodeNotReady")


def _taints(node: Node, now: datetime) -> Patch | None:
    conditions = ((condition.type, condition.status) for condition in node.status.conditions)
    wanted: list[Name] = [(_TAINTED_BY[said], "NoSchedule") for said in conditions if said in _TAINTED_BY]
    if node.spec.unschedulable:
        wanted.append(_CORDONED)
    unwanted = _OURS.difference(wanted)
    if node.ready:
        unwanted = unwanted.union((key, "NoExecute") for key in OUTAGES)
    return swap_taints(node, unwanted, wanted, now)


def _not_ready(pod: Pod, now: datetime) -> Patch | None:
    ready = pod.readiness
    if ready is None or ready.status != "True":
        return None
    conditions = pod_conditions(pod, now, Condition("Ready", "False", ready.reason, ready.message))
    return None if conditions is None else status(POD, pod, {"conditions": conditions})


CONTROLLER: Final = Controller(
    "node-lifecycle",
    reconcile,
    of=NODE,
    reads=(LEASE, POD),
    writes={NODE: ("patch", "status"), POD: ("status",)},
    reporter="node-controller",
    memory=Sign,
)
