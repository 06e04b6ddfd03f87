"""The status and the Lease of a simulated node: ready, with an address, and with a capacity where it has none."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.conditions import changed_conditions, find_condition
from mooring.api.coordination.views import Lease
from mooring.api.core.views import Node
from mooring.api.kinds import key_of
from mooring.api.meta import Condition
from mooring.kube.objects import Object
from mooring.kube.times import moment, timestamp
from mooring.nodes.addresses import host_address
from mooring.runtime.decision import Create, Patch, Write, status
from mooring.workloads.kinds import LEASE, NODE
from mooring.workloads.leases import LEASE_DURATION, LEASE_NAMESPACE
from mooring.workloads.ownerrefs import owner_reference

_WELL: Final = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)
# As large as kwok makes a node that says nothing of its size.
_CAPACITY: Final = {"cpu": "1k", "memory": "1Ti", "pods": "1M"}
_INFO: Final = {
    "architecture": "amd64",
    "bootID": "",
    "containerRuntimeVersion": "mooring://simulated",
    "kernelVersion": "",
    "kubeProxyVersion": "",
    "kubeletVersion": "v1.35.0",
    "machineID": "",
    "operatingSystem": "linux",
    "osImage": "Mooring simulated node",
    "systemUUID": "",
}


def make_lease(node: Node, now: datetime) -> Create:
    name = node.metadata.name
    metadata = {"name": name, "namespace": LEASE_NAMESPACE, "ownerReferences": [owner_reference(NODE, node)]}
    return Create(LEASE, {"metadata": metadata, "spec": _spec(node, now)})


def renew_lease(node: Node, lease: Lease, now: datetime) -> Patch:
    return Patch(LEASE, key_of(lease), {"spec": _spec(node, now)})


def renewed_at(lease: Lease | None, now: datetime) -> datetime:
    return moment(lease.spec.renew_time) if lease is not None and lease.spec.renew_time else now


def _spec(node: Node, now: datetime) -> Object:
    renewed = f"{now.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
    seconds = int(LEASE_DURATION.total_seconds())
    return {"holderIdentity": node.metadata.name, "leaseDurationSeconds": seconds, "renewTime": renewed}


def node_status(node: Node, now: datetime) -> tuple[Write, ...]:
    """The status that the node writes. Pressure conditions and capacity that are set already are kept."""
    body: Object = {}
    changed = [
        Condition(kind, value, reason, message)
        for kind, value, reason, message in _WELL
        if (known := find_condition(node.status.conditions, kind)) is None
        or known.status == "Unknown"
        or (kind == "Ready" and known.status != value)
    ]
    written = changed_conditions(node.status.conditions, changed, now, heartbeat=timestamp(now))
    if written is not None:
        body["conditions"] = written
        # Deprecated in the API, but the Stages that kwok ships read it.
        body["phase"] = "Running"
    if not any(address.type == "InternalIP" for address in node.status.addresses):
        told = [{"type": address.type, "address": address.address} for address in node.status.addresses]
        if not any(address["type"] == "Hostname" for address in told):
            told.append({"type": "Hostname", "address": node.metadata.name})
        body["addresses"] = [{"type": "InternalIP", "address": host_address(node)}, *told]
    if not node.status.capacity:
        body["capacity"] = node.status.allocatable or _CAPACITY
    if not node.status.allocatable:
        body["allocatable"] = node.status.capacity or _CAPACITY
    if not (node.status.node_info or {}).get("kubeletVersion"):
        body["nodeInfo"] = {**_INFO, **{k: v for k, v in (node.status.node_info or {}).items() if v}}
    return (status(NODE, node, body),) if body else ()
