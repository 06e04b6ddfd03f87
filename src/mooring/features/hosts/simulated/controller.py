"""Plays the agent of hosts that have none: heartbeat, detection, a simulated Node for a claim, and cleaning.

A real agent says so on its host (annotation `byoh.infrastructure.cluster.x-k8s.io/agent`) and is left alone. A host
that is annotated `mooring.dev/lost` plays dead: nothing is heard of it, and it does not clean.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.conditions import find_condition
from mooring.api.kinds import Key, key_of
from mooring.features.hosts.api import conditions as told
from mooring.features.hosts.api.hosts import ByoHost
from mooring.features.hosts.api.kinds import BYO_HOST_HEARTBEAT
from mooring.features.hosts.api.names import AGENT, HOST_LABEL, PAUSED, UNREGISTERING, provider_id
from mooring.features.hosts.settings import HostSettings
from mooring.features.hosts.simulated.detection import DEFAULT_CAPACITY, detected_labels, detected_status
from mooring.features.hosts.statuses import holds, status_patch, waiting
from mooring.kube.objects import Object
from mooring.kube.times import moment, timestamp
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.kinds import NODE

LOST: Final = "mooring.dev/lost"
# Simulated nodes are those with this annotation, as kwok has it.
_FAKE: Final = {"kwok.x-k8s.io/node": "fake"}
_AGENT_CONDITIONS: Final = (told.COMPONENTS_INSTALLED, told.NODE_BOOTSTRAPPED)


def simulated_hosts(settings: HostSettings) -> Controller:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        host = view.get(BYO_HOST_HEARTBEAT, *key)
        if host is None or host.metadata.deleting or {AGENT, LOST} & host.metadata.annotations.keys():
            return Decision()
        intent = _detected(host)
        beat = _heartbeat(host, view, settings)
        if PAUSED in host.metadata.annotations:
            return Decision(intent=intent, status=status_patch(BYO_HOST_HEARTBEAT, host, host.status, (), now, beat))
        if UNREGISTERING in host.metadata.annotations or _is_dirty(host):
            return _clean(host, view, now, beat)
        if host.status.machine_ref is None or host.spec.bootstrap_secret is None:
            return Decision(intent=intent, status=status_patch(BYO_HOST_HEARTBEAT, host, host.status, (), now, beat))
        joined = _join(host, view, now, beat)
        return joined._replace(intent=intent)

    return Controller(
        "simulated-hosts",
        reconcile,
        of=BYO_HOST_HEARTBEAT,
        reads=(NODE,),
        writes={BYO_HOST_HEARTBEAT: ("patch", "status"), NODE: ("create", "delete")},
    )


def _detected(host: ByoHost) -> tuple[Write, ...]:
    labels = {k: v for k, v in detected_labels(host).items() if host.metadata.labels.get(k) != v}
    body: Object = {"metadata": {"labels": labels}} if labels else {}
    if not host.spec.capacity:
        body["spec"] = {"capacity": DEFAULT_CAPACITY}
    return (Patch(BYO_HOST_HEARTBEAT, key_of(host), body),) if body else ()


def _heartbeat(host: ByoHost, view: View, settings: HostSettings) -> Object:
    """What is due to be told. This alone never keeps a simulation from settling."""
    last = host.status.last_heartbeat_time
    due_at = view.now if last is None else moment(last) + settings.simulated_heartbeat
    beat: Object = detected_status(host)
    if due_at <= view.now:
        beat["lastHeartbeatTime"] = timestamp(view.now)
    else:
        view.poll_again(due_at)
    return beat


def _join(host: ByoHost, view: View, now: datetime, beat: Object) -> Decision:
    name = host.metadata.name
    node = view.get(NODE, "", name)
    if node is None:
        return Decision(children=(Create(NODE, _node(host)),))
    if node.spec.provider_id != provider_id(name):
        message = f"there is another Node {name} already, with providerID {node.spec.provider_id or '(none)'}"
        failed = waiting(told.NODE_BOOTSTRAPPED, told.BOOTSTRAP_FAILED, message, "Error")
        return Decision(status=status_patch(BYO_HOST_HEARTBEAT, host, host.status, (failed,), now, beat))
    done = tuple(map(holds, _AGENT_CONDITIONS))
    return Decision(status=status_patch(BYO_HOST_HEARTBEAT, host, host.status, done, now, beat))


def _node(host: ByoHost) -> Object:
    """The Node as a kubelet of the wanted version would register it."""
    name, info = host.metadata.name, host.status.hostinfo
    capacity = {"pods": "110", **host.spec.capacity}
    labels = {
        **host.spec.labels,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": info.osname or "linux",
        "kubernetes.io/arch": info.architecture or "amd64",
        HOST_LABEL: name,
    }
    taints = [
        {field: text for field, text in (("key", t.key), ("value", t.value), ("effect", t.effect)) if text}
        for t in host.spec.taints
    ]
    addresses = [
        {"type": "InternalIP", "address": address.partition("/")[0]}
        for network in host.status.network
        for address in network.ip_addrs
    ]
    spec: Object = {"providerID": provider_id(name)}
    return {
        "metadata": {"name": name, "labels": labels, "annotations": _FAKE},
        "spec": spec | ({"taints": taints} if taints else {}),
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "addresses": [*addresses, {"type": "Hostname", "address": name}],
            "nodeInfo": {
                "kubeletVersion": host.spec.kubernetes_version,
                "osImage": info.osimage,
                "operatingSystem": info.osname or "linux",
                "architecture": info.architecture or "amd64",
                **dict.fromkeys(("bootID", "kernelVersion", "kubeProxyVersion", "machineID", "systemUUID"), ""),
                "containerRuntimeVersion": "mooring://simulated",
            },
        },
    }


def _is_dirty(host: ByoHost) -> bool:
    clean = find_condition(host.status.conditions, told.HOST_CLEAN)
    return host.status.machine_ref is None and clean is not None and clean.status == "False"


def _clean(host: ByoHost, view: View, now: datetime, beat: Object) -> Decision:
    """Stop the Node, and say in one write that the host is clean and free."""
    clean = find_condition(host.status.conditions, told.HOST_CLEAN)
    if host.status.machine_ref is None and clean is not None and clean.status == "True":
        return Decision(status=status_patch(BYO_HOST_HEARTBEAT, host, host.status, (), now, beat))
    node = view.get(NODE, "", host.metadata.name)
    ours = node is not None and node.spec.provider_id == provider_id(host.metadata.name) and not node.metadata.deleting
    cleaned = holds(told.HOST_CLEAN, told.CLEANED)
    return Decision(
        children=(Delete(NODE, Key("", host.metadata.name)),) if ours else (),
        status=status_patch(
            BYO_HOST_HEARTBEAT,
            host,
            host.status,
            (cleaned,),
            now,
            {**beat, "machineRef": None},
            without=_AGENT_CONDITIONS,
        ),
    )
