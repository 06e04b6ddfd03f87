"""The registration of the node: creates the Node when it is missing, writes its status, and renews its Lease.

The node lifecycle controller marks a node as lost whose Lease was not renewed for forty seconds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mooring.client.transport import AsyncTransport, Request
from mooring.kube.conditions import conditions_of, find_condition, set_conditions
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.status import AlreadyExistsError, NotFoundError
from mooring.kube.times import timestamp
from mooring.nodes.process.gpus import Gpu, gpu_labels
from mooring.nodes.process.machine_info import MachineInfo
from mooring.nodes.process.node_object import node_annotations, node_object, node_status

__all__ = ["NodeRegistration", "RegistrationRefused"]


MANAGER: Final = "mooring-process-node"
LEASES: Final = "kube-node-lease"
LEASE_SECONDS: Final = 40
RENEW_SECONDS: Final = 10.0
# How often the whole status is written though nothing changed.
_STATUS_SECONDS: Final = 300.0
_SIMULATED: Final = "kwok.x-k8s.io/node"
_WELL: Final = tuple(
    {"type": kind, "status": value, "reason": reason, "message": message}
    for kind, value, reason, message in (
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    )
)
_log = logging.getLogger("mooring.node")


class RegistrationRefused(MooringError):
    """The API has a node of this name that is not this machine."""


@dataclass
class NodeRegistration:
    transport: AsyncTransport
    machine: MachineInfo
    port: int
    clock: Callable[[], datetime]

    def observe_gpus(self, gpus: Sequence[Gpu]) -> None:
        """Take over the GPUs that work now. One that is missing stays in the capacity, but is not allocatable."""
        uuids = {gpu.uuid for gpu in gpus}
        lost = [gpu for gpu in self.machine.gpus if gpu.uuid not in uuids]
        everyone = tuple(sorted((*gpus, *lost), key=lambda gpu: gpu.number))
        self.machine = self.machine._replace(gpus=everyone, broken_gpus=len(lost))

    async def ensure(self) -> Object:
        """The node, made or found, with a status that says it is ready."""
        node = await self._node()
        if (node["metadata"].get("annotations") or {}).get(_SIMULATED) == "fake":
            raise RegistrationRefused(
                f"node {self.machine.name} is a simulated one (annotation {_SIMULATED}: fake); "
                "delete it, or leave this machine out with --controllers=-process-node"
            )
        await self._lease(node)
        node = await self._write_metadata(node)
        if not self._is_current(node):
            node = await self._write_status(node)
        return node

    async def keep(self, seen: Callable[[Object], None]) -> None:
        """Renew until cancelled. `seen` gets the Node of every renewal."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            try:
                seen(await self.ensure())
            except MooringError as error:
                _log.warning("the node cannot be kept in the API: %s", error)

    async def _node(self) -> Object:
        name = self.machine.name
        try:
            return await self.transport.get("v1", "Node", "", name)
        except NotFoundError:
            pass
        request = Request("create", "v1", "Node", "", name, node_object(self.machine), manager=MANAGER)
        try:
            return await self.transport.write(request)
        except AlreadyExistsError:
            return await self.transport.get("v1", "Node", "", name)

    def _is_current(self, node: Object) -> bool:
        status = node.get("status") or {}
        ready = find_condition(conditions_of(node), "Ready")
        port = ((status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get("Port")
        if ready is None or ready["status"] != "True" or port != self.port:
            return False
        if (status.get("capacity"), status.get("allocatable")) != (self.machine.capacity, self.machine.allocatable):
            return False
        beat = datetime.fromisoformat(ready.get("lastHeartbeatTime") or "1970-01-01T00:00:00Z")
        return (self.clock() - beat).total_seconds() < _STATUS_SECONDS

    async def _write_metadata(self, node: Object) -> Object:
        """The labels of GPUs and the folder of volumes are kept current; all else is the administrator's."""
        current = {"labels": gpu_labels(self.machine.gpus), "annotations": node_annotations(self.machine)}
        metadata, changes = node["metadata"], {}
        for field, wanted in current.items():
            known = metadata.get(field) or {}
            if stale := {name: value for name, value in wanted.items() if known.get(name) != value}:
                changes[field] = stale
        if not changes:
            return node
        body = {"metadata": changes}
        return await self.transport.write(Request("patch", "v1", "Node", "", self.machine.name, body, manager=MANAGER))

    async def _write_status(self, node: Object) -> Object:
        now = timestamp(self.clock())
        wanted = [{**condition, "lastHeartbeatTime": now} for condition in _WELL]
        known = conditions_of(node)
        conditions = set_conditions(known, wanted, now) or known
        body = {"status": node_status(self.machine, self.port, conditions)}
        version = node["metadata"]["resourceVersion"]
        request = Request(
            "patch", "v1", "Node", "", self.machine.name, body, "status", MANAGER, resource_version=version
        )
        return await self.transport.write(request)

    async def _lease(self, node: Object) -> None:
        name = self.machine.name
        renewed = self.clock().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {"holderIdentity": name, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": renewed}
        try:
            await self.transport.write(
                Request("patch", "coordination.k8s.io/v1", "Lease", LEASES, name, {"spec": spec}, manager=MANAGER)
            )
        except NotFoundError:
            owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
            metadata = {"name": name, "namespace": LEASES, "ownerReferences": [owner]}
            body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}
            await self.transport.write(
                Request("create", "coordination.k8s.io/v1", "Lease", LEASES, name, body, manager=MANAGER)
            )
