"""The worker of one pod on this node: applies events to the pod's state, decides, and executes, until the pod is gone.

All decisions are made in `decisions`; all that takes time is here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from mooring.kube.objects import Object
from mooring.nodes.process.containers.processes import ContainerProcess
from mooring.nodes.process.containers.start import CannotCreate, StartFailed, new_id, start
from mooring.nodes.process.containers.streams.targeted import start_targeted
from mooring.nodes.process.containers.supervisor import ContainerSupervisor
from mooring.nodes.process.logs import LogWriter, has_log
from mooring.nodes.process.node_context import NodeContext
from mooring.nodes.process.pods.decisions import PodDecision, decide, unhealthy
from mooring.nodes.process.pods.model import (
    EVICTED,
    ChangeLimits,
    CreateFailed,
    End,
    Ended,
    Evicted,
    Kill,
    LimitsChanged,
    PodAction,
    PodEvent,
    PodRecord,
    Prepare,
    Prepared,
    RecordEvent,
    Remove,
    Start,
    Started,
    Stop,
    after,
)
from mooring.nodes.process.pods.resizes import admitted, allocated_pod, resize_error, resources_of, wants_resize
from mooring.nodes.process.pods.restored_state import restored_state
from mooring.nodes.process.pods.specs import all_containers, container_named, is_preparing, main_containers
from mooring.nodes.process.pods.status_writer import StatusWriter
from mooring.nodes.process.pods.statuses import container_status, status_of
from mooring.nodes.process.pods.storage_limits import exceeded_limit, limits_storage
from mooring.nodes.process.usage import RunningContainer
from mooring.nodes.process.volumes.contents import is_content
from mooring.nodes.process.volumes.manager import mount_volumes, refresh_volumes
from mooring.nodes.process.volumes.usage import storage_usage

__all__ = ["NoLog", "PodWorker"]


# How often volumes are compared with the ConfigMaps and Secrets that they show.
_REFRESH_SECONDS: Final = 30.0
# How often the files of a pod with limits are counted, as a kubelet does it.
STORAGE_SECONDS: Final = 10.0
_log = logging.getLogger("mooring.node")


class NoLog(Exception):
    """There is nothing to read; the text is the kubelet's."""


class PodWorker:
    def __init__(self, context: NodeContext, spec: Object) -> None:
        self.spec = spec
        self.gone = False
        self.pod: PodRecord = restored_state(spec, context.clock())
        # The allocation that the node was last told of.
        self._held: Mapping[str, Object] | None = None
        self._context = context
        self._events: list[PodEvent] = []
        self._news = asyncio.Event()
        self._supervisors: dict[str, ContainerSupervisor] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._new = not (spec.get("status") or {}).get("startTime")
        # How a pod ended that was over before is not for this node to say, which may never have seen it.
        self._silent = self.pod.over
        self._status_writer = StatusWriter(
            context.transport,
            pod=lambda: self.spec,
            status=self._status,
            seen=self.update,
            gone=self.vanish,
        )

    @property
    def uid(self) -> str:
        return str(self.spec["metadata"]["uid"])

    # Changes from the API

    def update(self, spec: Object) -> None:
        """The pod as it is now in the API."""
        if _version(spec) < _version(self.spec):
            return
        self.spec = spec
        self._news.set()

    def vanish(self) -> None:
        """The pod was deleted from the API."""
        self.gone = True
        self._news.set()

    async def run(self) -> None:
        """Run until no process and no file of the pod is left on this node."""
        self._spawn(self._status_writer.run())
        self._tell_of_images()
        self._tell_of_no_sandbox()
        try:
            while not self.pod.removed:
                await self._wait(self._step())
            await self._leave()
        finally:
            await self._cancel()

    def freeze(self) -> None:
        """From now on nothing is started, and `halt` has to find what runs."""
        self._stopping = True

    async def halt(self, seconds: float) -> None:
        """Stop all processes because the node stops; nothing is told to the API, for the pod is to run again."""
        self.freeze()
        await self._cancel()
        supervised = list(self._supervisors.values())
        for each in supervised:
            each.process.signal(15)
        waits = [asyncio.create_task(each.process.wait()) for each in supervised]
        if waits:
            _, late = await asyncio.wait(waits, timeout=seconds)
            if late:
                for each in supervised:
                    each.process.kill()
                await asyncio.wait(late)

    def log_of(self, name: str, *, previous: bool) -> tuple[Path, LogWriter | None]:
        """The log of a container, with its writer while it is written."""
        container = next((each for each in all_containers(self.spec) if each["name"] == name), None)
        pod = self.spec["metadata"]["name"]
        if container is None:
            raise NoLog(f'container "{name}" in pod "{pod}" is not available')
        known = self.pod.container(name)
        status = container_status(self.spec, container, self.pod, self._context.clock())
        attempt = known.attempt
        if previous:
            if not status["lastState"]:
                raise NoLog(f'previous terminated container "{name}" in pod "{pod}" not found')
            attempt = known.attempt if "waiting" in status["state"] else known.attempt - 1
        elif known.process == "starting" and known.attempt:
            attempt = known.attempt - 1
        elif "waiting" in status["state"] and not status["lastState"]:
            raise NoLog(
                f'container "{name}" in pod "{pod}" is waiting to start: {status["state"]["waiting"]["reason"]}'
            )
        path = self._context.disk.log(self.uid, name, attempt)
        if not has_log(path):
            raise NoLog(f'the logs of container "{name}" in pod "{pod}" are not there any more')
        supervised = self._supervisors.get(name)
        writer = None if supervised is None else supervised.process.order.log
        return path, writer if writer is not None and writer.path == path else None

    def running(self, name: str) -> tuple[Object, ContainerProcess] | None:
        """The spec and the process of a container that runs now."""
        if name not in self._supervisors or self.pod.container(name).process != "running":
            return None
        return container_named(self.spec, name), self._supervisors[name].process

    def running_containers(self) -> list[RunningContainer]:
        meta = self.spec["metadata"]
        names = [each["name"] for each in all_containers(self.spec)]
        found = [(name, each[1].pid) for name in names if (each := self.running(name)) is not None]
        return [RunningContainer(meta["namespace"], meta["name"], self.uid, name, pid) for name, pid in found]

    def _status(self) -> Object:
        if self._silent:
            return {}
        return status_of(self.spec, self.pod, self._context.clock(), address=self._context.node_fields.address)

    # Deciding and acting

    def _step(self) -> PodDecision:
        now = self._context.clock()
        events, self._events = self._events, []
        for each in events:
            self.pod = after(self.pod, each, now)
            if isinstance(each, Ended) and is_preparing(self.spec, each.name):
                # The containers that follow use the same GPUs.
                self._context.gpus.release(self.uid, each.name)
        self._admit()
        decision = decide(self.spec, self.pod, now, gone=self.gone)
        self._carry_out(decision)
        return decision

    def _admit(self) -> None:
        """Ask the node for what the pod wants now."""
        allocations = self._context.allocations
        if self.pod.over or self.gone:
            allocations.release(self.uid)
            return
        wants = wants_resize(self.spec, self.pod)
        refusal = allocations.refusal(self.uid, self.spec, self._news.set) if wants else None
        self.pod, told = admitted(self.spec, self.pod, refusal)
        for each in told:
            self._record(each)
        if self.pod.allocated is not self._held:
            self._held = self.pod.allocated
            allocations.hold(self.uid, allocated_pod(self.spec, self.pod))

    def _carry_out(self, decision: PodDecision) -> None:
        self.pod = decision.pod
        if self.pod.over:
            self._context.gpus.release(self.uid)
            self._context.allocations.release(self.uid)
        for action in decision.actions:
            self._act(action)
        self._status_writer.wake()

    async def _wait(self, decision: PodDecision) -> None:
        if self.pod.removed:
            return
        seconds = None if decision.wake is None else (decision.wake - self._context.clock()).total_seconds()
        with suppress(TimeoutError):
            async with asyncio.timeout(None if seconds is None else max(seconds, 0.0)):
                await self._news.wait()
        self._news.clear()

    def _act(self, action: PodAction) -> None:
        match action:
            case Prepare():
                self._spawn(self._prepare(), lambda why: Prepared(why))
            case Start(name, attempt):
                self._spawn(self._start(name, attempt), lambda why: CreateFailed(name, "RunContainerError", why, True))
            case Stop(name, seconds):
                if name in self._supervisors:
                    self._spawn(self._supervisors[name].stop(seconds))
            case Kill(name):
                if name in self._supervisors:
                    self._supervisors[name].process.kill()
            case ChangeLimits(name, resources):
                self._spawn(self._change_limits(name, resources), lambda why: LimitsChanged(name, resources, why))
            case RecordEvent():
                self._record(action)
            case Remove():
                return

    async def _prepare(self) -> None:
        problem = await mount_volumes(self._context, self.spec)
        if problem:
            self._record(RecordEvent("Warning", "FailedMount", problem))
        else:
            if any(is_content(volume) for volume in self.spec["spec"].get("volumes") or ()):
                self._spawn(self._refresh())
            if limits_storage(self.spec):
                self._spawn(self._watch_storage())
        self._post(Prepared(problem))

    async def _refresh(self) -> None:
        while True:
            await asyncio.sleep(_REFRESH_SECONDS)
            await refresh_volumes(self._context, self.spec)

    async def _watch_storage(self) -> None:
        while not self.pod.over:
            await asyncio.sleep(STORAGE_SECONDS)
            usage = await asyncio.to_thread(storage_usage, self._context.disk, self.spec)
            if message := exceeded_limit(self.spec, usage):
                self._record(RecordEvent("Warning", EVICTED, message))
                self._post(Evicted(message))
                return

    async def _change_limits(self, name: str, resources: Object) -> None:
        problem = ""
        if name in self._supervisors:
            problem = await self._supervisors[name].change_limits(resources)
        known = self.pod.resizing
        if problem and known is not None and known.error != problem:
            self._record(resize_error(allocated_pod(self.spec, self.pod), known.generation, problem))
        self._post(LimitsChanged(name, resources, problem))

    async def _start(self, name: str, attempt: int) -> None:
        spec = allocated_pod(self.spec, self.pod)
        container = container_named(spec, name)
        identity = new_id()
        try:
            process, notes = await self._launch(spec, container, attempt, identity)
        except CannotCreate as problem:
            self._record(RecordEvent("Warning", "Failed", f"Error: {problem}", name))
            self._post(problem.failed)
            return
        except StartFailed as problem:
            self._record(RecordEvent("Warning", "Failed", f"Error: {problem}", name))
            self._post(Ended(name, End(128, "StartError", str(problem), None, self._context.clock(), identity)))
            return
        for note in (RecordEvent("Normal", "Created", "Container created", name), *notes):
            self._record(note)
        self._record(RecordEvent("Normal", "Started", "Container started", name))
        supervisor = ContainerSupervisor(
            self._context,
            lambda: self.spec,
            container,
            process,
            post=self._post,
            record=self._record,
            probe_failed=lambda kind: self._probe_failed(name, kind),
        )
        self._supervisors[name] = supervisor
        settled = supervisor.settles_at_once
        ready = supervisor.ready_at_once and settled
        self._post(Started(name, identity, settled, ready, resources_of(container)))
        try:
            await supervisor.run()
        except Exception:
            # A container without a supervisor would never be reported as ended.
            process.kill()
            await process.wait()
            raise
        finally:
            if not self._stopping:
                self._supervisors.pop(name, None)

    async def _launch(
        self, spec: Object, container: Object, attempt: int, identity: str
    ) -> tuple[ContainerProcess, Sequence[RecordEvent]]:
        target = container.get("targetContainerName")
        if not target:
            return await start(self._context, spec, container, attempt, identity)
        joined = self.running(target)
        found = await start_targeted(self._context, spec, container, identity, joined and joined[1])
        return found, ()

    def _probe_failed(self, name: str, kind: str) -> None:
        now = self._context.clock()
        self._carry_out(unhealthy(self.spec, self.pod, container_named(self.spec, name), kind, now))
        self._news.set()

    async def _leave(self) -> None:
        """The last report, the removal, and an empty folder."""
        if not self.gone:
            await self._status_writer.flush()
        if not self.gone:
            await self._status_writer.remove()
        self._context.tokens.forget(self.uid)
        await asyncio.to_thread(self._context.disk.remove, self.uid)

    # Small things

    def _post(self, event: PodEvent) -> None:
        self._events.append(event)
        self._news.set()

    def _record(self, told: RecordEvent) -> None:
        self._context.record(self.spec, "Pod", told)

    def _tell_of_images(self) -> None:
        if not self._new or self.pod.over:
            return
        images = sorted({each.get("image", "") for each in main_containers(self.spec)} - {""})
        text = f"The process node runs commands of this machine; images are not used: {', '.join(images)}"
        self._record(RecordEvent("Normal", "ImageIgnored", text))

    def _tell_of_no_sandbox(self) -> None:
        if not self._new or self.pod.over or not self._context.problem:
            return
        text = (
            "The pod is not kept apart from this machine: its processes see all files of the user they run as, "
            f"among them the data folder of the cluster, because {self._context.problem}"
        )
        self._record(RecordEvent("Warning", "NoSandbox", text))

    def _spawn(self, work: Coroutine[Any, Any, None], otherwise: Callable[[str], PodEvent] | None = None) -> None:
        """Start a background task. `otherwise` makes the event of a task that raised: no decision may wait for ever."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(lambda task: self._done(task, otherwise))

    def _done(self, task: asyncio.Task[None], otherwise: Callable[[str], PodEvent] | None) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        meta, why = self.spec["metadata"], f"{type(error).__name__}: {error}"
        _log.error("pod %s/%s: %s", meta["namespace"], meta["name"], why, exc_info=error)
        if otherwise is not None:
            self._post(otherwise(why))

    async def _cancel(self) -> None:
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _version(spec: Object) -> int:
    text = spec["metadata"].get("resourceVersion") or "0"
    return int(text) if text.isdecimal() else 0
