"""What all pod workers of the node share: the transport, the event recorder, the pods' folders, the clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from mooring.client.transport import AsyncTransport
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.nodes.process.allocations import Allocations
from mooring.nodes.process.containers.environment.fields import NodeFields
from mooring.nodes.process.containers.environment.service_links import ApiAddress, ServiceLister
from mooring.nodes.process.containers.environment.variables import Sources
from mooring.nodes.process.containers.sandbox.isolation import Isolation
from mooring.nodes.process.gpu_assignments import GpuAssignments
from mooring.nodes.process.pods.model import RecordEvent
from mooring.nodes.process.pods.references import reference_to
from mooring.nodes.process.volumes.disk import Disk
from mooring.nodes.process.volumes.tokens import TokenManager
from mooring.runtime.events.broadcaster import EventBroadcaster
from mooring.runtime.events.recorder import EventRecorder

__all__ = ["NodeContext"]


@dataclass(frozen=True)
class NodeContext:
    """`problem` is why this machine cannot sandbox containers, empty if it can. `user` is the node's own uid."""

    transport: AsyncTransport
    recorder: EventRecorder
    broadcaster: EventBroadcaster
    disk: Disk
    node_fields: NodeFields
    problem: str
    isolation: Isolation
    gpus: GpuAssignments
    user: int
    mark: str
    clock: Callable[[], datetime]
    tokens: TokenManager
    services: ServiceLister
    api: ApiAddress
    allocations: Allocations

    def record(self, about: Object, kind: str, told: RecordEvent) -> None:
        """Write an event about an object. A lost event never matters to anything else."""
        reference = reference_to(about, kind, told.container)
        request = self.recorder.request(reference, told.type, told.reason, told.message, self.clock())
        self.broadcaster.add([] if request is None else [request])

    async def sources(self, namespace: str, references: Iterable[tuple[str, str]]) -> Sources:
        """The objects of these kinds and names as they are now."""
        wanted = sorted(set(references))
        found = dict(zip(wanted, await asyncio.gather(*(self._get(namespace, *each) for each in wanted)), strict=True))
        return lambda kind, name: found.get((kind, name))

    async def _get(self, namespace: str, kind: str, name: str) -> Object | None:
        try:
            return await self.transport.get("v1", kind, namespace, name)
        except NotFoundError:
            return None
