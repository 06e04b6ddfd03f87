"""The kubelet of the process node: registers it, watches the pods bound to it, and runs one worker for each."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mooring.client.reflector import Reflector
from mooring.client.transport import AsyncTransport, Change, Item, Scope, plain
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.nodes.process.allocations import Allocations
from mooring.nodes.process.containers.environment.fields import NodeFields
from mooring.nodes.process.containers.environment.service_links import ApiAddress, ServiceLister
from mooring.nodes.process.containers.proc import kill_marked, mark_of
from mooring.nodes.process.containers.processes import ContainerProcess
from mooring.nodes.process.containers.sandbox.isolation import Isolation, find_isolation
from mooring.nodes.process.containers.sandbox.machine_view import sandbox_problem
from mooring.nodes.process.gpu_assignments import GpuAssignments
from mooring.nodes.process.gpus import find_gpus
from mooring.nodes.process.logs import LogWriter
from mooring.nodes.process.machine_info import MachineInfo, storage_of
from mooring.nodes.process.node_context import NodeContext
from mooring.nodes.process.node_object import hostname_label
from mooring.nodes.process.node_server import NodeServer
from mooring.nodes.process.pods.model import RecordEvent
from mooring.nodes.process.pods.worker import NoLog, PodWorker
from mooring.nodes.process.registration import RENEW_SECONDS, NodeRegistration, RegistrationRefused
from mooring.nodes.process.streams.endpoint import NotRunning, StreamEndpoint
from mooring.nodes.process.usage import RunningContainer, UsageSampler
from mooring.nodes.process.volumes.disk import Disk
from mooring.nodes.process.volumes.local_volumes import LocalVolumeDeleter
from mooring.nodes.process.volumes.tokens import TokenManager
from mooring.runtime.events.broadcaster import EventBroadcaster
from mooring.runtime.events.recorder import EventRecorder

__all__ = ["Kubelet", "KubeletSettings", "run_node"]


HALT_SECONDS: Final = 2.0
_RETRY_SECONDS: Final = 0.2
# How often nvidia-smi is asked which GPUs work.
_GPU_SECONDS: Final = 60.0
# How long the events of the last moments may take to be written.
_LAST_EVENTS_SECONDS: Final = 1.0
# The source component of the events of this node.
EVENT_COMPONENT: Final = "process-node"
_log = logging.getLogger("mooring.node")


@dataclass(frozen=True, slots=True)
class KubeletSettings:
    """`folder` is the node's own, `data` the folder of the whole cluster, which pods do not see.

    `tls` has the serving certificate of the node's endpoint; `caller` is the SHA-256 of the API server's token. `api`
    is where the API is, for pods.
    """

    folder: Path
    data: Path
    tls: ssl.SSLContext | None
    caller: str
    api: ApiAddress


def _now() -> datetime:
    return datetime.now(UTC)


async def run_node(
    transport: AsyncTransport,
    machine: MachineInfo,
    settings: KubeletSettings,
    stop: asyncio.Event,
    announce: Callable[[str], None],
) -> None:
    """Run the node until `stop` is set. `announce` gets one sentence for the terminal when it is registered.

    Only pods with this node in `spec.nodeName` are listed and watched.
    """
    folder = settings.folder
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    mark = mark_of(folder)
    if left := await asyncio.to_thread(kill_marked, mark):
        _log.info("%d processes of an earlier node were still there and are killed", left)
    problem = await asyncio.to_thread(sandbox_problem)
    machine = machine._replace(
        storage=storage_of(folder),
        gpus=tuple(await find_gpus() or ()),
        local_volumes=str(Disk(folder.absolute()).local_volumes),
    )
    agent = Kubelet(transport, machine, folder, mark, problem, settings.api, data=settings.data)
    server = NodeServer(agent.log_of, StreamEndpoint(agent), settings.caller, agent.summary)
    port = await server.start(settings.tls)
    registration = NodeRegistration(transport, machine, port, _now)
    try:
        if not await _register(registration, agent, stop):
            return
        announce(_welcome(machine, problem))
        await agent.run(registration, stop)
    finally:
        await server.close()


def _welcome(machine: MachineInfo, problem: str) -> str:
    text = f"This machine is node {machine.name}: pods that tolerate mooring.dev/process run on it as processes"
    return f"{text}, but without volumes and not kept apart from it, because {problem}." if problem else f"{text}."


async def _register(registration: NodeRegistration, agent: Kubelet, stop: asyncio.Event) -> bool:
    pause = _RETRY_SECONDS
    while not stop.is_set():
        try:
            agent.node = await registration.ensure()
            return True
        except RegistrationRefused as error:
            _log.error("this machine cannot be a node: %s", error)
            pause = RENEW_SECONDS
        except MooringError as error:
            _log.info("the node waits: %s", error)
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await stop.wait()
    return False


class Kubelet:
    """The pod workers of the node, by uid; the informer handler of its pods."""

    def __init__(
        self,
        transport: AsyncTransport,
        machine: MachineInfo,
        folder: Path,
        mark: str,
        problem: str,
        api: ApiAddress,
        *,
        data: Path | None = None,
    ) -> None:
        """`data` is the folder that no pod sees, the node's own if not given."""
        self.node: Object = {}
        self._machine = machine
        self._context = NodeContext(
            transport=transport,
            recorder=EventRecorder(EVENT_COMPONENT, machine.name),
            broadcaster=EventBroadcaster(transport),
            disk=Disk(folder.absolute()),
            node_fields=NodeFields(machine.name, machine.address, machine.allocatable),
            problem=problem,
            isolation=find_isolation(data or folder, folder, mark),
            gpus=GpuAssignments(folder / "gpus.json", machine.gpus),
            user=os.geteuid(),
            mark=mark,
            clock=_now,
            tokens=TokenManager(transport, _now),
            services=ServiceLister(transport),
            api=api,
            allocations=Allocations(machine.allocatable),
        )
        self._workers: dict[str, PodWorker] = {}
        self._usage = UsageSampler(self._running_containers, _now)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._listing: list[Object] = []
        self._first = True

    async def run(self, registration: NodeRegistration, stop: asyncio.Event) -> None:
        scope = Scope(fields=f"spec.nodeName={self._machine.name}")
        reflector = Reflector(self._context.transport, "v1", "Pod", self, draw=random.Random(), scope=scope)
        deleter = LocalVolumeDeleter(self._context.transport, self._context.disk, hostname_label(self._machine))
        volumes = Reflector(self._context.transport, "v1", "PersistentVolume", deleter, draw=random.Random())
        tasks = [
            asyncio.create_task(reflector.run()),
            asyncio.create_task(registration.keep(self._take_node)),
            asyncio.create_task(stop.wait()),
            asyncio.create_task(self._watch_gpus(registration)),
            asyncio.create_task(volumes.run()),
            asyncio.create_task(deleter.run()),
        ]
        recording = asyncio.create_task(self._context.broadcaster.run())
        if self._context.problem:
            self._record_problem()
        try:
            await asyncio.wait(tasks[:3], return_when=asyncio.FIRST_COMPLETED)
            for task in tasks[:2]:
                if task.done():
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._halt()
            await asyncio.to_thread(self._context.isolation.leave, self._context.disk.root)
            with suppress(TimeoutError):
                async with asyncio.timeout(_LAST_EVENTS_SECONDS):
                    await self._context.broadcaster.finish()
            recording.cancel()
            await asyncio.gather(recording, return_exceptions=True)

    def log_of(self, namespace: str, pod: str, container: str, *, previous: bool) -> tuple[Path, LogWriter | None]:
        """The log of a container. Raises NoLog."""
        worker = self._worker(namespace, pod)
        if worker is None:
            raise NoLog(f'pod "{pod}" is not known to node {self._machine.name}')
        return worker.log_of(container, previous=previous)

    async def summary(self) -> Object:
        """What the machine and the containers use now."""
        return await self._usage.summary(self._machine.name)

    def _running_containers(self) -> list[RunningContainer]:
        return [each for worker in self._workers.values() for each in worker.running_containers()]

    def running(self, namespace: str, pod: str, container: str) -> tuple[Object, ContainerProcess]:
        """The spec and the process of a running container. Raises NotRunning."""
        worker = self._worker(namespace, pod)
        if worker is None:
            raise NotRunning("pod does not exist")
        found = worker.running(container)
        if found is None:
            raise NotRunning(f'container not found ("{container}")')
        return found

    def uid_of(self, namespace: str, pod: str) -> str:
        """Raises NotRunning for a pod that is not here, or over."""
        worker = self._worker(namespace, pod)
        if worker is None or worker.pod.over:
            raise NotRunning(f'pod not found ("{pod}_{namespace}")')
        return worker.uid

    def _worker(self, namespace: str, pod: str) -> PodWorker | None:
        for worker in self._workers.values():
            meta = worker.spec["metadata"]
            if meta["namespace"] == namespace and meta["name"] == pod and not worker.gone:
                return worker
        return None

    @property
    def isolation(self) -> Isolation:
        return self._context.isolation

    def _take_node(self, node: Object) -> None:
        self.node = node

    async def _watch_gpus(self, registration: NodeRegistration) -> None:
        """Where the driver does not answer, the node keeps to what it knew."""
        while True:
            await asyncio.sleep(_GPU_SECONDS)
            found = await find_gpus()
            if found is None:
                _log.warning("nvidia-smi does not answer; the GPUs of this node are taken to be as they were")
            elif found != self._context.gpus.healthy:
                self._context.gpus.observe(found)
                registration.observe_gpus(found)

    def _record_problem(self) -> None:
        text = (
            "Containers share the file system of this machine, see the data folder of the cluster and get no volumes: "
            f"{self._context.problem}"
        )
        self._context.record(self.node, "Node", RecordEvent("Warning", "NoSandbox", text))

    async def _halt(self) -> None:
        for worker in self._workers.values():
            worker.freeze()
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await asyncio.gather(*(worker.halt(HALT_SECONDS) for worker in self._workers.values()))

    # What the watch brings

    def begin(self) -> None:
        self._listing = []

    def page(self, items: Sequence[Item]) -> None:
        self._listing += map(plain, items)

    def listed(self, resource_version: str) -> None:
        found = {pod["metadata"]["uid"]: pod for pod in self._listing}
        self._listing = []
        if self._first:
            self._first = False
            self._context.disk.keep_only(found)
            self._context.gpus.keep_only(found)
        for uid, worker in self._workers.items():
            if uid not in found:
                worker.vanish()
        for pod in found.values():
            self._take(pod)

    def changed(self, changes: Sequence[Change]) -> None:
        for kind, item in changes:
            if kind in ("ADDED", "MODIFIED"):
                self._take(plain(item))
            elif kind == "DELETED":
                worker = self._workers.get(plain(item)["metadata"]["uid"])
                if worker is not None:
                    worker.vanish()

    def lost(self, why: str) -> None:
        _log.error("pods cannot be followed: the kind %s", why)

    def troubled(self, why: str) -> None:
        if why:
            _log.info("pods cannot be followed at the moment: %s", why)

    def _take(self, pod: Object) -> None:
        # A server that does not know field selectors would send all of them.
        if pod["spec"].get("nodeName") != self._machine.name:
            return
        uid = pod["metadata"]["uid"]
        worker = self._workers.get(uid)
        if worker is not None:
            worker.update(pod)
            return
        worker = self._workers[uid] = PodWorker(self._context, pod)
        task = self._tasks[uid] = asyncio.create_task(worker.run())
        task.add_done_callback(lambda task: self._finished(uid, task))

    def _finished(self, uid: str, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        self._tasks.pop(uid, None)
        worker = self._workers.pop(uid, None)
        if (error := task.exception()) is not None:
            _log.error("the worker of pod %s failed: %s: %s", uid, type(error).__name__, error, exc_info=error)
            if worker is not None:
                # Nobody looks after its processes any more; a new worker takes the pod up with the next change.
                self._tasks[uid] = asyncio.create_task(worker.halt(0.0))
