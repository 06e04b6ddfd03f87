"""Simulated nodes: they become ready, keep a Lease, and run the pods that are bound to them.

A node is simulated when it is annotated `kwok.x-k8s.io/node: fake`, or when all are, as in a plan. One annotated
`mooring.dev/lost` says nothing any more: its Lease runs out, it is marked unreachable, and after the time that pods
tolerate that for they are evicted. They stay, terminating, until the node itself is deleted.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec

from mooring.api.workloads import Lease, Node, Pod
from mooring.builtin.kinds import LEASE, NODE, POD
from mooring.builtin.nodes_pods import START_DELAY, tend
from mooring.kube.times import moment, timestamp
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Event, Patch, Write, status
from mooring.runtime.kinds import Key, key_of
from mooring.runtime.view import View

LEASE_NAMESPACE = "kube-node-lease"
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"

HEARTBEAT = timedelta(seconds=10)
# How long a node may be silent before it is taken to be lost, and how long its pods put up with that.
SILENCE = timedelta(seconds=50)
TOLERATED = timedelta(seconds=300)


def simulated_nodes(*, every_node: bool = False, start_delay: timedelta = START_DELAY) -> Controller:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        node = view.get(NODE, *key)
        if node is None or not (every_node or node.metadata.annotations.fake == "fake"):
            return Decision()
        lease = view.get(LEASE, LEASE_NAMESPACE, key.name)
        if node.metadata.annotations.lost:
            return _fade(node, lease, view)
        return Decision(
            intent=_heartbeat(node, lease, view),
            children=tuple(write for pod in _pods(view, node) if (write := tend(pod, view, start_delay)) is not None),
            status=_conditions(node, "True", "KubeletReady", "kubelet is posting ready status", now),
            # Nothing lands before the node has said that it is ready.
            release=_taints(node, (), now) if _is_ready(node) else (),
        )

    return Controller("nodes", reconcile, of=NODE, reads=(POD, LEASE), writes=(NODE, POD, LEASE))


def _pods(view: View, node: Node) -> tuple[Pod, ...]:
    return view.list(POD, "node", node.metadata.name)


def _heartbeat(node: Node, lease: Lease | None, view: View) -> tuple[Write, ...]:
    """Renew the Lease in time. This alone never keeps a simulation from settling."""
    now, name = view.now, node.metadata.name
    spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": _precise(now)}
    if lease is None:
        owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node.metadata.uid}
        metadata = {"name": name, "namespace": LEASE_NAMESPACE, "ownerReferences": [owner]}
        return (Create(LEASE, {"metadata": metadata, "spec": spec}),)
    due = _renewed(lease, now) + HEARTBEAT
    if due <= now:
        return (Patch(LEASE, key_of(lease), {"spec": spec}),)
    view.poll_again(due)
    return ()


def _renewed(lease: Lease, now: datetime) -> datetime:
    return moment(lease.spec.renew_time) if lease.spec.renew_time else now


def _precise(now: datetime) -> str:
    return f"{now.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def _fade(node: Node, lease: Lease | None, view: View) -> Decision:
    """A lost node: unreachable when its Lease has run out, and without pods some time after."""
    silent_since = _renewed(lease, view.now) if lease is not None else view.now - SILENCE
    if not view.reached(silent_since + SILENCE):
        return Decision()
    said = "Kubelet stopped posting node status."
    told = _conditions(node, "Unknown", "NodeStatusUnknown", said, view.now)
    tainted = _taints(node, (UNREACHABLE,), view.now)
    if not view.reached(silent_since + SILENCE + TOLERATED):
        return Decision(intent=tainted, status=told)
    evicted = [pod for pod in _pods(view, node) if pod.active]
    return Decision(
        intent=tainted,
        children=tuple(Delete(POD, key_of(pod)) for pod in evicted),
        status=told,
        events=tuple(
            Event(POD, key_of(pod), "Normal", "TaintManagerEviction", f"Marking for deletion Pod {key_of(pod)}")
            for pod in evicted
        ),
    )


def _is_ready(node: Node) -> bool:
    return any(condition.type == "Ready" and condition.status == "True" for condition in node.status.conditions)


def _conditions(node: Node, value: str, reason: str, message: str, now: datetime) -> tuple[Patch, ...]:
    """The node's own word on itself. Other conditions are left as they are, save for what the view does not hold."""
    known = next((c for c in node.status.conditions if c.type == "Ready"), None)
    if known is not None and known.status == value:
        return ()
    moments = {"lastHeartbeatTime": timestamp(now), "lastTransitionTime": timestamp(now)}
    ready = {"type": "Ready", "status": value, "reason": reason, "message": message, **moments}
    others = [
        {name: said for name, said in msgspec.to_builtins(condition).items() if said}
        for condition in node.status.conditions
        if condition.type != "Ready"
    ]
    return (status(NODE, node, {"conditions": [*others, ready]}),)


def _taints(node: Node, wanted: tuple[str, ...], now: datetime) -> tuple[Patch, ...]:
    """The taints that follow from whether the node is ready; all others stay."""
    kept = [taint for taint in node.spec.taints or () if taint.key not in (NOT_READY, UNREACHABLE)]
    ours = {(taint.key, taint.effect) for taint in node.spec.taints or () if taint.key in (NOT_READY, UNREACHABLE)}
    effects = [(key, effect) for key in wanted for effect in ("NoSchedule", "NoExecute")]
    if ours == set(effects):
        return ()
    taints: list[dict[str, Any]] = [{k: v for k, v in msgspec.to_builtins(taint).items() if v} for taint in kept]
    for name, effect in effects:
        since = {"timeAdded": timestamp(now)} if effect == "NoExecute" else {}
        taints.append({"key": name, "effect": effect, **since})
    return (Patch(NODE, key_of(node), {"spec": {"taints": taints or None}}),)
